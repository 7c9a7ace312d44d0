// Intent: a signal handler that leaves the code which it interrupts leaves no check of that code behind: what the host was
// about to access, it may never access.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-host -O2 -gline-tables-only --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim --seed=1 %t 2>&1 | FileCheck %s
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim --seed=2 %t 2>&1 | FileCheck %s
// CHECK: right
// CHECK: SUMMARY: CRSan: no data races found

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/time.h>

static sigjmp_buf Outside;
static void leave(int) { siglongjmp(Outside, 1); }

__global__ void await(volatile int *Flag) {
  while (*Flag == 0)
    ;
}
__global__ void number(int *Cells) { Cells[threadIdx.x] = threadIdx.x; }

int main() {
  int *Flag, *Cells;
  cudaMallocManaged(&Flag, sizeof(int));
  cudaMallocManaged(&Cells, 32 * sizeof(int));
  memset(Cells, 0, 32 * sizeof(int));
  *Flag = 0;
  signal(SIGALRM, leave);
  await<<<1, 1>>>(Flag);
  if (!sigsetjmp(Outside, 1)) {
    const itimerval Soon = {{0, 0}, {0, 3000}};
    setitimer(ITIMER_REAL, &Soon, nullptr);
    for (int I = 0;; ++I) {
      Cells[I % 32] = I;
      asm volatile("" ::: "memory");
    }
  }
  __atomic_store_n(Flag, 1, __ATOMIC_RELEASE);
  number<<<1, 32>>>(Cells); // The host is done with the cells.
  const cudaError_t Error = cudaDeviceSynchronize();
  puts(Error == cudaSuccess && Cells[5] == 5 ? "right" : "wrong");
}
