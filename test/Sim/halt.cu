// Intent: with halt_on_error=1 the program does not go on after the synchronisation by which a
// race was seen, whichever detector sees it; a program without races does.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 -DFIXED --offload-arch=sm_90 %s -o %t.fixed
// RUN: env CRSAN_OPTIONS=halt_on_error=1:poll_ms=60000 %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run %t 2>&1 | FileCheck %s --implicit-check-not="went on"
// RUN: env CRSAN_OPTIONS=halt_on_error=1:poll_ms=60000 %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --detector=oracle %t 2>&1 | FileCheck %s --implicit-check-not="went on"
// RUN: env CRSAN_OPTIONS=halt_on_error=1:poll_ms=60000 %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run %t query 2>&1 | FileCheck %s --implicit-check-not="went on"
// CHECK: CRSan: data race
// CHECK: SUMMARY: CRSan: {{[1-9]}} data race
// RUN: env CRSAN_OPTIONS=halt_on_error=1:verbosity=1 %crsan run %t.fixed 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: env CRSAN_OPTIONS=halt_on_error=1:verbosity=1 %crsan run --detector=oracle %t.fixed 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: went on
// FIXED: SUMMARY: CRSan: no data races found

#include <cstdio>
#include <cuda_runtime.h>

__global__ void count(unsigned *Counter) {
#ifdef FIXED
  atomicAdd(Counter, 1u);
#else
  *Counter += 1;
#endif
}

int main(int Argc, char **) {
  setbuf(stdout, nullptr);
  unsigned *Counter;
  cudaMalloc(&Counter, 4);
  cudaMemset(Counter, 0, 4);
  count<<<8, 128>>>(Counter);
  if (Argc == 1)
    cudaDeviceSynchronize();
  while (cudaStreamQuery(0) == cudaErrorNotReady) {
  }
  puts("went on");
}
