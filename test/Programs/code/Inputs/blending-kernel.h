// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that calls another unit.
#ifndef CRSAN_TEST_PROGRAMS_BLENDINGKERNEL_H
#define CRSAN_TEST_PROGRAMS_BLENDINGKERNEL_H

#include "../../check.h"
#include "blend.h"

constexpr unsigned Threads = 128, Blocks = 4, N = Threads * Blocks;

/// Only blend's barriers order what is written here.
__global__ void blendTwice(unsigned *Cells, unsigned *Out) {
  unsigned First = blockIdx.x * Threads, I = threadIdx.x;
  Cells[First + I] = 2 * I;
  blend(Cells + First, I, Threads, Out + First);
  Cells[First + (I + 1) % Threads] += 2;
  blend(Cells + First, I, Threads, Out + First);
}

int main() {
  unsigned *Out = zeroed<unsigned>(N);
  blendTwice<<<Blocks, Threads>>>(zeroed<unsigned>(N), Out);
  return finish(matches(Out, N, [](size_t I) {
    I %= Threads;
    return (2 * I + 2 * ((I + 1) % Threads)) / 2 + 2;
  }));
}

#endif // CRSAN_TEST_PROGRAMS_BLENDINGKERNEL_H
