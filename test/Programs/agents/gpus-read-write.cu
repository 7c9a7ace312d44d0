// Intent: Table 3, inter-GPU UVM RW: a GPU reads managed memory that another GPU still
// writes. In the fixed twin an event orders the two kernels.
// Others: SuperCollider finds it, iGUARD and Compute Sanitizer do not.
// UNSEEN: metadata: memory of another device is not followed
// OPTIONS: sim_devices=2
#include "gpus.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<1000, 40> Rounds;

__global__ void produce(unsigned *Cells, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = R + I; // RACE
    __syncthreads();
  }
}

__global__ void consume(const unsigned *Cells, unsigned *Out, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Out[I] += Cells[N - 1 - I]; // RACE
    __syncthreads();
  }
}

int main() {
  if (const char *Why = lacksTwoGpus())
    return skip(Why);
  unsigned *Cells;
  CHECK(cudaMallocManaged(&Cells, N * sizeof(unsigned)));
  CHECK(cudaSetDevice(1));
  unsigned *Out = zeroed<unsigned>(N);
  cudaStream_t Consumer = makeStream();
  consume<<<Blocks, Threads, 0, Consumer>>>(Cells, Out, 0); // Loads the kernel.
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(0));
  cudaStream_t Producer = makeStream();
  produce<<<Blocks, Threads, 0, Producer>>>(Cells, 0);
  CHECK(cudaDeviceSynchronize());
  produce<<<Blocks, Threads, 0, Producer>>>(Cells, Rounds);
#ifndef RACY
  order(Producer, Consumer);
#endif
  CHECK(cudaSetDevice(1));
  consume<<<Blocks, Threads, 0, Consumer>>>(Cells, Out, Rounds);
  waitForBoth(Producer, Consumer);
  return finish(matches(
      Out, N, [](size_t I) { return unsigned(Rounds * (Rounds - 1 + N - 1 - I)); }));
}
