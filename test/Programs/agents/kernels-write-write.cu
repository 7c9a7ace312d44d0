// Intent: Table 3, inter-kernel GMEM WW: kernels on two streams store to the same cells.
// In the fixed twin an event orders the two.
// Others: SuperCollider finds it, iGUARD and Compute Sanitizer do not.
#include "../streams/streams.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<300, 20> Rounds;

__global__ void fill(unsigned *Cells, unsigned First, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = First + R + I; // RACE
    __syncthreads();
  }
}

__global__ void fillBackwards(unsigned *Cells, unsigned First, unsigned Rounds) {
  const unsigned I = N - 1 - (blockIdx.x * Threads + threadIdx.x);
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = First + R + I; // RACE
    __syncthreads();
  }
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N);
  cudaStream_t One = makeStream(), Other = makeStream();
  // A first launch loads the kernel, which may wait for what is running.
  fill<<<Blocks, Threads, 0, One>>>(Cells, 0, 0);
  fillBackwards<<<Blocks, Threads, 0, One>>>(Cells, 0, 0);
  CHECK(cudaDeviceSynchronize());
  fill<<<Blocks, Threads, 0, One>>>(Cells, 0, Rounds);
#ifndef RACY
  order(One, Other);
#endif
  fillBackwards<<<Blocks, Threads, 0, Other>>>(Cells, 1000, Rounds);
  return finish(
      matches(Cells, N, [](size_t I) { return unsigned(1000 + Rounds - 1 + I); }));
}
