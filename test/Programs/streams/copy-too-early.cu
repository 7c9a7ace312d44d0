// Intent: a stream copies to the host what a kernel on another stream writes. The racy
// twins' copies do not wait for the kernel.
// FIXED: waits
// FIXED: host-waits -DHOST_WAITS
// RACY: to-host
// RACY: to-device -DTO_DEVICE
#include "streams.h"

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks, Copies = 8;
CONSTANT Scaled<300, 50> Rounds;

__global__ void produce(unsigned *Cells, unsigned Rounds) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Cells[I] = I + R; // RACE
    __syncthreads();
  }
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Host;
  CHECK(cudaMallocHost((void **)&Host, N * sizeof(unsigned)));
  unsigned *To = Host;
#ifdef TO_DEVICE
  To = zeroed<unsigned>(N);
#endif
  cudaStream_t Producer = makeStream(), Copier = makeStream();
  // A first launch loads the kernel, which may wait for what is running.
  produce<<<Blocks, Threads, 0, Producer>>>(Cells, 0);
  CHECK(cudaDeviceSynchronize());
  produce<<<Blocks, Threads, 0, Producer>>>(Cells, Rounds);
#ifndef RACY
#ifdef HOST_WAITS
  CHECK(cudaStreamSynchronize(Producer));
#else
  order(Producer, Copier);
#endif
#endif
  for (unsigned C = 0; C < Copies; ++C)
    CHECK(cudaMemcpyAsync(To, Cells, N * sizeof(unsigned), cudaMemcpyDefault, // RACE
                          Copier));
  CHECK(cudaDeviceSynchronize());
  bool Right = true;
  for (unsigned I = 0; I < N && To == Host; ++I)
    Right &= Host[I] == I + Rounds;
  return finish(Right);
}
