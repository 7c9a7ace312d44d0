// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two threads that meet in memory.
//
// The two are lane 0 of two warps: in two blocks, or in one if BLOCKS is 1.
#ifndef CRSAN_TEST_PROGRAMS_TWO_THREADS_H
#define CRSAN_TEST_PROGRAMS_TWO_THREADS_H

#include "../check.h"
#include "atomics.h"

#ifndef BLOCKS
#define BLOCKS 2
#endif

constexpr unsigned Sides = 2, ThreadsPerBlock = 32 * Sides / BLOCKS;

/// Which of the two a thread is; no less than Sides if it is neither.
__device__ inline unsigned side() {
  if (threadIdx.x % 32 != 0)
    return Sides;
  return (blockIdx.x * blockDim.x + threadIdx.x) / 32;
}

/// What the two have of their own, so that they run at the same time.
struct Meeting {
  unsigned Arrived;
  unsigned Own[Sides * 32];

  /// Waits for the other side. Without a fence this orders nothing: the two call
  /// it before anything else.
  __device__ void wait() {
    atomicAdd(&Arrived, 1);
    while (atomicAdd(&Arrived, 0) < Sides)
      ;
  }

  /// Lets the other side go first, by reading memory of one's own.
  __device__ void pause(unsigned Side) {
    volatile unsigned *Place = &Own[Side * 32];
    for (unsigned I = 0; I < 4; ++I)
      *Place = *Place + 1;
  }
};

#endif // CRSAN_TEST_PROGRAMS_TWO_THREADS_H
