// Intent: a warp leaves its kernel right behind a barrier, while others have yet to
// depart from it: all of them go on from one clock, and learn the same.
// OPTIONS: schedule=pct
// OPTIONS: schedule=random
#include "../check.h"

constexpr unsigned Threads = 256, Pairs = 8, Rounds = 3;

/// Block P of the first half tells block P of the second one.
__global__ void relay(unsigned *Cells, unsigned *Told, unsigned *Out) {
  const unsigned Pair = blockIdx.x % Pairs, I = threadIdx.x;
  unsigned *Mine = Cells + Pair * Threads;
  if (blockIdx.x < Pairs) {
    Mine[I] = I; // RACE
    __syncthreads();
    if (I == 0) {
      __threadfence();
      atomicExch(&Told[Pair], 1);
    }
    return;
  }
  // A barrier that has to agree on a clock.
  if (I < 32)
    __threadfence_block();
  __syncthreads();
  if (I >= Threads - 32)
    return;
  if (I == 0) {
    while (atomicAdd(&Told[Pair], 0) == 0)
      ;
    __threadfence();
  }
#ifndef RACY
  __syncthreads();
#endif
  Out[Pair * Threads + I] = Mine[I]; // RACE
}

/// Within a block.
__global__ void shift(unsigned *Cells, unsigned *Out) {
  unsigned *Mine = Cells + blockIdx.x * Threads;
  const unsigned I = threadIdx.x;
  if (I < 32)
    __threadfence_block();
  __syncthreads();
  if (I >= Threads - 32)
    return;
  Mine[I] = I; // RACE
#ifndef RACY
  __syncthreads();
#endif
  Out[blockIdx.x * Threads + I] = Mine[(I + 32) % (Threads - 32)]; // RACE
}

int main() {
  unsigned *Cells = zeroed<unsigned>(Pairs * Threads);
  unsigned *Out = zeroed<unsigned>(Pairs * Threads);
  bool Right = true;
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned *Told = zeroed<unsigned>(Pairs);
    relay<<<2 * Pairs, Threads>>>(Cells, Told, Out);
    Right &= matches(Out, Threads - 32, [](size_t I) { return unsigned(I); });
    shift<<<Pairs, Threads>>>(Cells, Out);
    Right &= matches(Out, Threads - 32, [](size_t I) {
      return unsigned((I + 32) % (Threads - 32));
    });
  }
  return finish(Right);
}
