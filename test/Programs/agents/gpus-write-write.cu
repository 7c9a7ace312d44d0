// Intent: Table 3, inter-GPU UVM WW: two GPUs store to the same managed memory. In the
// fixed twin an event orders the two kernels.
// Others: SuperCollider finds it, iGUARD and Compute Sanitizer do not.
// UNSEEN: metadata: memory of another device is not followed
// OPTIONS: sim_devices=2
#include "gpus.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<1000, 40> Rounds;

__global__ void fill(unsigned *Cells, unsigned First, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = First + R + I; // RACE
    __syncthreads();
  }
}

int main() {
  if (const char *Why = lacksTwoGpus())
    return skip(Why);
  unsigned *Cells;
  CHECK(cudaMallocManaged(&Cells, N * sizeof(unsigned)));
  cudaStream_t Streams[2];
  for (int Device = 0; Device < 2; ++Device) {
    CHECK(cudaSetDevice(Device));
    Streams[Device] = makeStream();
    fill<<<Blocks, Threads, 0, Streams[Device]>>>(Cells, 0, 0); // Loads the kernel.
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaSetDevice(0));
  fill<<<Blocks, Threads, 0, Streams[0]>>>(Cells, 0, Rounds);
#ifndef RACY
  order(Streams[0], Streams[1]);
#endif
  CHECK(cudaSetDevice(1));
  fill<<<Blocks, Threads, 0, Streams[1]>>>(Cells, 10000, Rounds);
  waitForBoth(Streams[0], Streams[1]);
  bool Right = true;
  for (unsigned I = 0; I < N; ++I)
    Right &= Cells[I] == 10000 + Rounds - 1 + I;
  return finish(Right);
}
