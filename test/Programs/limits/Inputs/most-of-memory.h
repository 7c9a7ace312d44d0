// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program with one large allocation.
#ifndef CRSAN_TEST_PROGRAMS_MOSTOFMEMORY_H
#define CRSAN_TEST_PROGRAMS_MOSTOFMEMORY_H

#include "../../check.h"

constexpr unsigned Threads = 256, Blocks = 1024, Touched = Threads * Blocks;

/// Word I of those that are touched: they lie all over the allocation.
__device__ size_t place(size_t Words, unsigned I) {
  return Words / Touched * I;
}

__global__ void fill(unsigned *Memory, size_t Words) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Memory[place(Words, I)] = I;
}

__global__ void rotate(const unsigned *Memory, size_t Words, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  Out[I] = Memory[place(Words, (I + Threads) % Touched)];
}

/// A block writes what it reads; or else what another one reads.
__global__ void shift(unsigned *Memory) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
#ifdef RACY
  unsigned From = (I + Threads) % Touched;
#else
  unsigned From = I;
#endif
  Memory[I] = Memory[From] + 1; // RACE
}

int main() {
  size_t Free, Total;
  CHECK(cudaMemGetInfo(&Free, &Total));
  size_t Words = Total / 10 * 6 / sizeof(unsigned);
  unsigned *Memory, *Out = zeroed<unsigned>(Touched);
  CHECK(cudaMalloc(&Memory, Words * sizeof(unsigned)));
  fill<<<Blocks, Threads>>>(Memory, Words);
  rotate<<<Blocks, Threads>>>(Memory, Words, Out);
  bool Right = matches(
      Out, Touched, [](size_t I) { return (I + Threads) % Touched; });
  CHECK(cudaMemset(Memory, 0, Touched * sizeof(unsigned)));
  shift<<<Blocks, Threads>>>(Memory);
  Right &= matches(Memory, Touched, [](size_t) { return 1u; });
  CHECK(cudaFree(Memory));
  return finish(Right);
}

#endif // CRSAN_TEST_PROGRAMS_MOSTOFMEMORY_H
