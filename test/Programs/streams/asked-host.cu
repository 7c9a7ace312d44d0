// Intent: a kernel looks at memory that the host writes, and hands on through a counter
// what it may have learned. A kernel after a synchronisation uses the counter, too, and
// has not heard of its own accesses by that.
// FIXED: told
// RACY: not-told -DFENCE=nothing
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"

#ifndef FENCE
#define FENCE __threadfence
#endif

constexpr unsigned Threads = 64, Pairs = 8, N = Threads * Pairs;

/// A fence that is missing.
__device__ inline void nothing() {}

__global__ void ask(const volatile unsigned *Go, unsigned *Counters) {
  if (threadIdx.x != 0)
    return;
  while (*Go == 0)
    ;
  __threadfence();
  atomicAdd(&Counters[blockIdx.x], 1);
}

__global__ void relay(unsigned *Cells, unsigned *Counters, unsigned *Out) {
  unsigned Pair = blockIdx.x % Pairs, I = Pair * Threads + threadIdx.x;
  unsigned *Counter = &Counters[Pair];
  if (blockIdx.x < Pairs) {
    Cells[I] = I + 1; // RACE
    __syncthreads();
    if (threadIdx.x == 0) {
      FENCE();
      atomicAdd(Counter, 1);
    }
    return;
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(Counter, 0) < 2)
      ;
    __threadfence();
  }
  __syncthreads();
  Out[I] = Cells[I]; // RACE
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  unsigned *Counters = zeroed<unsigned>(Pairs);
  volatile unsigned *Host;
  CHECK(cudaMallocHost((void **)&Host, sizeof(unsigned)));
  *Host = 0;
  ask<<<Pairs, Threads>>>(Host, Counters);
  *Host = 1;
  CHECK(cudaDeviceSynchronize());
  relay<<<2 * Pairs, Threads>>>(Cells, Counters, Out);
  return finish(matches(Out, N, [](size_t I) { return unsigned(I + 1); }));
}
