// Intent: a warp has heard of another block, and is at the barrier, before the first
// warp of its block has begun.
// OPTIONS: schedule=pct
// FIXED: told
// RACY: not-told -DFENCE=nothing
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"

#ifndef FENCE
#define FENCE __threadfence
#endif

constexpr unsigned Threads = 128, Pairs = 200;

/// A fence that is missing.
__device__ inline void nothing() {}

/// The first half of the blocks tells, the others are told by their last warp.
__global__ void relay(unsigned *Cells, unsigned *Told, unsigned *Out) {
  unsigned Pair = blockIdx.x % Pairs, I = Pair * Threads + threadIdx.x;
  if (blockIdx.x < Pairs) {
    Cells[I] = I + 1; // RACE
    __syncthreads();
    if (threadIdx.x == 0) {
      FENCE();
      atomicExch(&Told[Pair], 1);
    }
    return;
  }
  if (threadIdx.x == Threads - 1) {
    while (atomicAdd(&Told[Pair], 0) == 0)
      ;
    FENCE();
  }
  __syncthreads();
  Out[I] = Cells[I]; // RACE
}

int main() {
  unsigned *Cells = zeroed<unsigned>(Pairs * Threads);
  unsigned *Out = zeroed<unsigned>(Pairs * Threads);
  for (unsigned R = 0; R < 2; ++R)
    relay<<<2 * Pairs, Threads>>>(Cells, zeroed<unsigned>(Pairs), Out);
  return finish(matches(Out, Pairs * Threads,
                        [](size_t I) { return unsigned(I + 1); }));
}
