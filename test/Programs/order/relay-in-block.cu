// Intent: what one thread of a block has heard of, another one tells on right behind
// a barrier of the block, of whichever form.
// OPTIONS: schedule=pct
// OPTIONS: schedule=random
// FIXED: block -DFORM=0
// FIXED: not-aligned -DFORM=1
// FIXED: counted -DFORM=2
// FIXED: vote -DFORM=3
// FIXED: hand-over -DFORM=4
// FIXED: lanes -DFORM=5
// FIXED: reduction -DFORM=6
// RACY: unfenced -DFORM=0 -DUNFENCED
// RACY: unfenced-reduction -DFORM=6 -DUNFENCED
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include <cooperative_groups.h>

constexpr unsigned Threads = 64, Chains = 16, Rounds = 3, Stride = 32;

__device__ void meet(unsigned I) {
#if FORM == 0
  __syncthreads();
#elif FORM == 1
  if (I % 2)
    cooperative_groups::this_thread_block().sync();
  else {
    asm volatile("// Not merged with the other.");
    cooperative_groups::this_thread_block().sync();
  }
#elif FORM == 2
  asm volatile("bar.sync 3, %0;" ::"r"(Threads) : "memory");
#elif FORM == 3
  if (__syncthreads_or(I == Threads))
    __trap();
#elif FORM == 4
  if (I < 32) {
    asm volatile("bar.arrive 2, %0;" ::"r"(Threads) : "memory");
    asm volatile("bar.sync 4, %0;" ::"r"(Threads) : "memory");
  } else {
    asm volatile("bar.sync 2, %0;" ::"r"(Threads) : "memory");
    asm volatile("bar.arrive 4, %0;" ::"r"(Threads) : "memory");
  }
#elif FORM == 5
  for (unsigned J = 0; J < I % 4; ++J)
    __nanosleep(10);
  asm volatile("barrier.sync 0;" ::: "memory");
#else
  asm volatile("{ .reg .pred p; .reg .u32 n; setp.eq.u32 p, %0, 77; "
               "barrier.red.popc.u32 n, 0, p; }" ::"r"(I)
               : "memory");
#endif
}

__device__ void tell(unsigned *Flag) {
#ifndef UNFENCED
  __threadfence();
#endif
  atomicExch(Flag, 1);
}
__device__ void hear(unsigned *Flag) {
  while (atomicAdd(Flag, 0) == 0)
    ;
  __threadfence();
}

/// Of each chain, the first block tells the second one, that the third, and that the
/// first again; always, another thread of it has heard.
__global__ void chain(unsigned *Cells, unsigned *Flags, unsigned *Out) {
  const unsigned I = threadIdx.x, Link = blockIdx.x / Chains;
  const unsigned First = blockIdx.x % Chains * Threads;
  unsigned *Heard = Flags + blockIdx.x % Chains * 3 * Rounds * Stride;
  constexpr unsigned Last = Threads - 1, Middle = Threads * 2 / 3;
  for (unsigned R = 0; R < Rounds; ++R, Heard += 3 * Stride) {
    if (Link == 0) {
      if (R && I == 0)
        hear(Heard - Stride);
      meet(I);
      Cells[First + I] = I + R; // RACE
      meet(I);
      if (I == Middle)
        tell(Heard);
    } else if (Link == 1) {
      if (I == 5)
        hear(Heard);
      meet(I);
      if (I == Last)
        tell(Heard + Stride);
    } else {
      if (I == Middle)
        hear(Heard + Stride);
      meet(I);
      Out[First + I] = Cells[First + (I + 32) % Threads]; // RACE
      meet(I);
      if (I == Last)
        tell(Heard + 2 * Stride);
    }
  }
}

int main() {
  unsigned *Cells = zeroed<unsigned>(Chains * Threads);
  unsigned *Out = zeroed<unsigned>(Chains * Threads);
  bool Right = true;
  for (unsigned Launch = 0; Launch < 2; ++Launch) {
    unsigned *Flags = zeroed<unsigned>(Chains * 3 * Rounds * Stride);
    chain<<<3 * Chains, Threads>>>(Cells, Flags, Out);
    Right &= matches(Out, Chains * Threads, [](size_t I) {
      return unsigned((I + 32) % Threads + Rounds - 1);
    });
  }
  return finish(Right);
}
