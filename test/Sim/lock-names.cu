// Intent: a race is called an improper lock only where there is a lock: not where a
// compare-and-swap takes the place of a value for good, as in a queue without locks.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 -DLOCKS=2 %s -o %t.locks
// RUN: not %crsan run --device=sim %t.locks 2>&1 | FileCheck %s --check-prefix=LOCKS
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 -DLOCKS=1 %s -o %t.lock
// RUN: %crsan run --device=sim %t.lock 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 -DQUEUE -DORDER=__ATOMIC_RELAXED %s -o %t.relaxed
// RUN: not %crsan run --device=sim %t.relaxed 2>&1 | FileCheck %s --check-prefix=QUEUE --implicit-check-not=improper
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -gline-tables-only --offload-arch=sm_90 -DQUEUE -DORDER=__ATOMIC_RELEASE %s -o %t.release
// RUN: %crsan run --device=sim %t.release 2>&1 | FileCheck %s --check-prefix=CLEAN
// CLEAN: SUMMARY: CRSan: no data races found

#include <cuda_runtime.h>

constexpr int N = 32;
struct State {
  int Data[N], Head, Tail, Locks[2];
};

#ifdef QUEUE
__device__ void put(State *S) {
  for (int I = 0; I < N; ++I) {
    S->Data[I] = I;
    __scoped_atomic_store_n(&S->Tail, I + 1, ORDER, __MEMORY_SCOPE_DEVICE);
  }
}

__device__ int take(State *S) {
  int Sum = 0, At = 0;
  while (At < N) {
    At = __scoped_atomic_load_n(&S->Head, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE);
    if (At < __scoped_atomic_load_n(&S->Tail, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE) &&
        __scoped_atomic_compare_exchange_n(&S->Head, &At, At + 1, false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE))
      // QUEUE: CRSan: data race: race between blocks
      Sum += S->Data[At];
  }
  return Sum;
}

__global__ void run(State *S, int *Out) {
  if (blockIdx.x == 0)
    put(S);
  else
    Out[blockIdx.x] = take(S);
}
#else
__global__ void run(State *S, int *Out) {
  int *Lock = &S->Locks[blockIdx.x % LOCKS];
  for (int I = 0; I < N; ++I) {
    while (atomicCAS(Lock, 0, 1) != 0)
      ;
    __threadfence();
    // LOCKS: CRSan: data race: improper lock
    S->Data[0] += 1;
    __threadfence();
    atomicExch(Lock, 0);
  }
}
#endif

int main() {
  State *S;
  int *Out;
  cudaMalloc(&S, sizeof(State));
  cudaMemset(S, 0, sizeof(State));
  cudaMalloc(&Out, 4 * sizeof(int));
  run<<<4, 1>>>(S, Out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
