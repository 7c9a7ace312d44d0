// Intent: one warp fills two buffers by turns and two warps empty them; pairs of named
// barriers, arrived at by one side and waited at by the other, say full and empty. The
// racy twin's consumers arrive at "empty" before they have read.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"

constexpr unsigned Threads = 96, Blocks = 2, Rounds = 6;

__device__ void arrive(unsigned Barrier) {
  asm volatile("barrier.arrive %0, 96;" ::"r"(Barrier) : "memory");
}

__device__ void wait(unsigned Barrier) {
  asm volatile("barrier.sync %0, 96;" ::"r"(Barrier) : "memory");
}

__global__ void pass(unsigned *Out) {
  __shared__ unsigned Buffers[2][64];
  unsigned T = threadIdx.x, Sum = 0;
  if (T >= 64) {
    for (unsigned R = 0; R < Rounds; ++R) {
      unsigned *Buffer = Buffers[R % 2];
      if (R >= 2)
        wait(3 + R % 2); // It is empty.
      Buffer[T - 64] = R * 64 + T - 64; // RACE
      Buffer[T - 32] = R * 64 + T - 32; // RACE
      arrive(1 + R % 2); // It is full.
    }
    return;
  }
  for (unsigned R = 0; R < Rounds; ++R) {
    wait(1 + R % 2);
#ifdef RACY
    if (R + 2 < Rounds)
      arrive(3 + R % 2);
#endif
    Sum += Buffers[R % 2][63 - T]; // RACE
#ifndef RACY
    if (R + 2 < Rounds)
      arrive(3 + R % 2);
#endif
  }
  Out[blockIdx.x * 64 + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * 64);
  pass<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Blocks * 64, [](size_t I) {
    return unsigned(32 * Rounds * (Rounds - 1) + Rounds * (63 - I % 64));
  }));
}
