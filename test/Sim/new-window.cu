// Intent: in a large grid whose new windows not all warps may ask for, a window that one block executes is checked all
// the same: whether there are 15 blocks or 256, two warps that store to one place are found in nearly all runs.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t && %sim_clangxx -fsanitize=cuda-race -O2 -DFIXED %s -o %t.fixed
// DEFINE: %{run} = env CRSAN_OPTIONS=budget=4:verbosity=1 %crsan run --device=sim --seeds 1-20
// RUN: not %{run} %t 15 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: not %{run} %t 256 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %{run} %t.fixed 256 2>&1 | FileCheck %s --check-prefix=FIXED
// RACY: CRSan: 20 runs, {{1[6-9]|20}} of them with findings
// FIXED: SUMMARY: CRSan: no data races found
#include <cstdlib>

__global__ void work(unsigned *Data, unsigned *Own) {
  Own[blockIdx.x * blockDim.x + threadIdx.x] = 2;
  __syncthreads();
#ifdef FIXED
  if (blockIdx.x == 0)
    Data[threadIdx.x] = 1;
#else
  if (blockIdx.x == 0)
    Data[threadIdx.x % 32] = 1;
#endif
}

int main(int, char **Arguments) {
  unsigned *Data, *Own;
  cudaMalloc(&Data, 64 * sizeof(unsigned));
  cudaMalloc(&Own, 256 * 64 * sizeof(unsigned));
  work<<<std::atoi(Arguments[1]), 64>>>(Data, Own);
  cudaDeviceSynchronize();
}
