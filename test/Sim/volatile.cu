// Intent: volatile=weak makes volatile accesses race like plain ones for the oracle; by default
// they are strong, as in PTX.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t 2>&1 | FileCheck %s --check-prefix=STRONG
// RUN: env CRSAN_OPTIONS=verbosity=1:volatile=strong %crsan run --detector=oracle %t 2>&1 | FileCheck %s --check-prefix=STRONG
// STRONG: SUMMARY: CRSan: no data races found
// RUN: env CRSAN_OPTIONS=volatile=weak %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --detector=oracle %t 2>&1 | FileCheck %s --check-prefix=WEAK
// WEAK: CRSan: data race: race between blocks, 4 bytes in global memory
// WEAK: replay: CRSAN_OPTIONS={{.*}}:volatile=weak:{{.*}}
// RUN: env CRSAN_OPTIONS=volatile=maybe %python %crsan_src/test/Sim/Inputs/status.py 1 %crsan run %t 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: option 'volatile' takes one of strong|weak, not 'maybe'

#include <cuda_runtime.h>

__global__ void poll(volatile int *Flag) {
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *Flag = 1;
  if (blockIdx.x == 1 && threadIdx.x == 0)
    while (!*Flag) {
    }
}

int main() {
  int *Flag;
  cudaMalloc(&Flag, 4);
  cudaMemset(Flag, 0, 4);
  poll<<<2, 32>>>(Flag);
  return cudaDeviceSynchronize();
}
