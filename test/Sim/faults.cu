// Intent: what no program wants is reported with kernel, block, thread and line, is the error
// that CUDA gives, and sticks until a reset.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t address 2>&1 | FileCheck %s --check-prefix=ADDRESS
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t misaligned 2>&1 | FileCheck %s --check-prefix=MISALIGNED
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t freed 2>&1 | FileCheck %s --check-prefix=FREED
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t trap 2>&1 | FileCheck %s --check-prefix=TRAP
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t assert 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: %sim_clangxx -fsanitize=cuda-race -O0 --offload-arch=sm_90 %s -o %t-unoptimised
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t-unoptimised assert 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t barrier 2>&1 | FileCheck %s --check-prefix=BARRIER
// RUN: env CRSAN_OPTIONS=check_uninitialised_shared=1 %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t shared 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: env CRSAN_OPTIONS=sim_max_steps=1 %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run %t hangs 2>&1 | FileCheck %s --check-prefix=HANGS

#include <cassert>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void store(int *P) {
  if (blockIdx.x == 1 && threadIdx.x == 3)
    *(volatile int *)P = 1; // FAULT
}
// ADDRESS: CRSan: kernel fault: invalid address
// ADDRESS-NEXT: #0 store{{.*}} at {{.*}}faults.cu:[[#@LINE-3]]:
// ADDRESS: kernel: store(int*)
// ADDRESS-NEXT: launched as: <<<(2,1,1), (32,1,1)>>>
// ADDRESS-NEXT: launched at: {{.*}}faults.cu:{{[0-9]+}} in main
// ADDRESS-NEXT: first seen: block (1,0,0) thread (3,0,0) address 0x10
// ADDRESS-NEXT: occurrences: 1
// ADDRESS-NEXT: {{^}}  Write to 4 bytes at 0x10: a null pointer.
// ADDRESS-NOT: suppress with
// ADDRESS: replay: CRSAN_OPTIONS=seed=0:schedule=random crsan run --device=sim {{.*}} address
// ADDRESS: cudaErrorIllegalAddress cudaErrorIllegalAddress
// ADDRESS: cudaSuccess cudaSuccess after the reset
// ADDRESS: shown above: kernel fault: invalid address at {{.*}}, occurrences: 1
// ADDRESS: SUMMARY: CRSan: 1 kernel fault
// MISALIGNED: cudaErrorMisalignedAddress cudaErrorMisalignedAddress
// FREED: cudaErrorIllegalAddress cudaErrorIllegalAddress

__global__ void trap() { __trap(); }
// TRAP: CRSan: kernel fault: trap
// TRAP-NEXT: #0 trap() at
// TRAP: cudaErrorLaunchFailure cudaErrorLaunchFailure
__global__ void asserts(int N) { assert(N == 7 && "seven"); }
// ASSERT: CRSan: kernel fault: assertion failure
// ASSERT-NEXT: #0 {{.*}}asserts(int) at {{.*}}faults.cu:[[#@LINE-2]]
// ASSERT-NOT: #1
// ASSERT: kernel: asserts(int)
// ASSERT: {{^}}  Assertion `N == 7 && "seven"` failed.
// ASSERT: cudaErrorAssert cudaErrorAssert

__global__ void barrier() {
  if (threadIdx.x < 32)
    asm volatile("barrier.sync 1, 64;"); // The others never come.
}
// BARRIER: CRSan: kernel fault: barrier divergence{{$}}
// BARRIER-NEXT: #0 barrier() at {{.*}}faults.cu:[[#@LINE-3]]:
// BARRIER: cudaErrorLaunchFailure cudaErrorLaunchFailure

__global__ void readsShared(int *P) {
  __shared__ volatile int Never[32];
  P[threadIdx.x] = Never[threadIdx.x];
}
// SHARED: CRSan: kernel fault: uninitialised shared memory
// SHARED-NEXT: #0 readsShared(int*) at {{.*}}faults.cu:[[#@LINE-3]]:

__global__ void hangs(volatile int *P) {
  while (*P == 0) {
  }
}
// HANGS: CRSan: kernel fault: step limit
// HANGS: cudaErrorLaunchTimeout cudaErrorLaunchTimeout

int main(int Argc, char **Argv) {
  int *P;
  cudaMalloc(&P, 64);
  if (!strcmp(Argv[1], "address"))
    store<<<2, 32>>>((int *)16);
  if (!strcmp(Argv[1], "misaligned"))
    store<<<2, 32>>>((int *)((char *)P + 2));
  if (!strcmp(Argv[1], "freed")) {
    store<<<2, 32>>>(P);
    cudaFree(P);
    store<<<2, 32>>>(P);
  }
  cudaMemset(P, 0, 64);
  if (!strcmp(Argv[1], "barrier"))
    barrier<<<1, 64>>>();
  if (!strcmp(Argv[1], "shared"))
    readsShared<<<1, 16>>>(P);
  if (!strcmp(Argv[1], "hangs"))
    hangs<<<1, 32>>>(P);
  if (!strcmp(Argv[1], "trap"))
    trap<<<1, 1>>>();
  if (!strcmp(Argv[1], "assert"))
    asserts<<<1, 1>>>(Argc);
  cudaError_t First = cudaDeviceSynchronize();
  cudaError_t Second = cudaMalloc(&P, 64);
  printf("%s %s\n", cudaGetErrorName(First), cudaGetErrorName(Second));
  cudaDeviceReset();
  First = cudaMalloc(&P, 64);
  store<<<2, 32>>>(P);
  Second = cudaDeviceSynchronize();
  printf("%s %s after the reset\n", cudaGetErrorName(First),
         cudaGetErrorName(Second));
}
