// Intent: Table 4, HMM: two kernels on two streams store to memory from malloc, which the
// GPU may access where the driver says so. In the fixed twin an event orders the two.
// UNSEEN: metadata: memory from malloc has no shadow
// GPU-ONLY
#include "../streams/streams.h"

constexpr unsigned Threads = 128, Blocks = 4, N = Threads * Blocks, Rounds = 300;

__global__ void fill(unsigned *Cells, unsigned First, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = First + R + I; // RACE
    __syncthreads();
  }
}

int main() {
  int IsPageable;
  CHECK(cudaDeviceGetAttribute(&IsPageable, cudaDevAttrPageableMemoryAccess, 0));
  if (!IsPageable)
    return skip("the GPU cannot access memory from malloc");
  unsigned *Cells = static_cast<unsigned *>(std::calloc(N, sizeof(unsigned)));
  cudaStream_t One = makeStream(), Other = makeStream();
  // A first launch loads the kernel, which may wait for what is running.
  fill<<<Blocks, Threads, 0, One>>>(Cells, 0, 0);
  CHECK(cudaDeviceSynchronize());
  fill<<<Blocks, Threads, 0, One>>>(Cells, 0, Rounds);
#ifndef RACY
  order(One, Other);
#endif
  fill<<<Blocks, Threads, 0, Other>>>(Cells, 1000, Rounds);
  CHECK(cudaDeviceSynchronize());
  bool Right = true;
  for (unsigned I = 0; I < N; ++I)
    Right &= Cells[I] == 1000 + Rounds - 1 + I;
  return finish(Right);
}
