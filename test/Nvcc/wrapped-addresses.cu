// Intent: addresses of shared memory wrap at 32 bits, and nvcc relies on that: the loop's store is to [%r1+64], where
// %r1 is 64 less than an address at the begin of the memory. That is no fault on the simulated GPU, and no detector takes
// it for another address.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %crsan_nvcc -O3 -arch=sm_90 -cudart shared %s -o fixed && %crsan_nvcc -O3 -arch=sm_90 -cudart shared -DRACY %s -o racy
// DEFINE: %{fixed} = env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim --seeds 1-3
// DEFINE: %{racy} = %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --device=sim --seeds 1-3
// RUN: %{fixed} --detector=oracle ./fixed 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: %{fixed} --detector=collider ./fixed 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: %{fixed} --detector=metadata ./fixed 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: %{racy} --detector=oracle ./racy 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %{racy} --detector=collider ./racy 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %{racy} --detector=metadata ./racy 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: %crsan_nvcc -fsanitize=cuda-race -O3 -arch=sm_90 %s -o checked && %{fixed} ./checked 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED-NOT: data race:
// FIXED-NOT: fault
// FIXED: SUMMARY: CRSan: no data races found
// RACY: data race: {{.*}} in shared memory
// RACY: SUMMARY: CRSan: {{[12]}} data race

#include <cstdio>

__global__ void reverse(const unsigned *In, unsigned *Out) {
  __shared__ unsigned char Values[64];
  for (unsigned I = threadIdx.x; I < 64; I += 64)
    Values[I] = In[I * 45 % 64];
#ifndef RACY
  __syncthreads();
#endif
  Out[threadIdx.x + 64 * blockIdx.x] = Values[63 - threadIdx.x];
}

int main() {
  unsigned *In, *Out;
  cudaMalloc(&In, 64 * sizeof(unsigned));
  cudaMalloc(&Out, 128 * sizeof(unsigned));
  cudaMemset(In, 1, 64 * sizeof(unsigned));
  reverse<<<2, 64>>>(In, Out);
  std::puts(cudaDeviceSynchronize() == cudaSuccess ? "done" : "failed");
}
