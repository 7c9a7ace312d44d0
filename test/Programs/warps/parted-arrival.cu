// Intent: lanes of a warp come to a barrier of their block one by one, and one of them
// has acquired something that all threads of the block use behind it.
// FIXED: statement
// FIXED: function -DFUNCTION
// RACY: unfenced -DUNFENCED
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include <cooperative_groups.h>

constexpr unsigned Threads = 64, Pairs = 64, Stride = 32;

#ifdef FUNCTION
__device__ __noinline__ void meet() { cooperative_groups::this_thread_block().sync(); }
#else
__device__ void meet() { asm volatile("barrier.sync 0;" ::: "memory"); }
#endif

__global__ void relay(unsigned *Cells, unsigned *Told, unsigned *Out) {
  const unsigned I = threadIdx.x, Pair = blockIdx.x % Pairs;
  const unsigned At = Pair * Threads + I;
  unsigned *Flag = Told + Pair * Stride;
  if (blockIdx.x < Pairs) {
    Cells[At] = I + 1; // RACE
    meet();
    if (I == 0) {
      __threadfence();
      atomicExch(Flag, 1);
    }
    return;
  }
  meet();
  if (I < 32) {
    // All lanes wait, and one of them acquires.
    while (atomicAdd(Flag, 0) == 0)
      ;
#ifndef UNFENCED
    if (I == 0)
      __threadfence();
#endif
  }
  meet();
  Out[At] = Cells[At]; // RACE
}

int main() {
  unsigned *Cells = zeroed<unsigned>(Pairs * Threads);
  unsigned *Told = zeroed<unsigned>(Pairs * Stride);
  unsigned *Out = zeroed<unsigned>(Pairs * Threads);
  relay<<<2 * Pairs, Threads>>>(Cells, Told, Out);
  return finish(matches(Out, Pairs * Threads, [](size_t I) {
    return unsigned(I % Threads + 1);
  }));
}
