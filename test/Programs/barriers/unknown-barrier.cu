// Intent: a barrier of the block that some threads meet in assembly, under a condition
// there, is one to the others as well, and those after it are.
// FIXED: one -DTIMES=1
// FIXED: two -DTIMES=2
// RACY: none -DTIMES=0
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 16, N = Threads * Blocks;

__device__ void barrierIf(unsigned Condition) {
  asm volatile("{ .reg .pred P; setp.ne.u32 P, %0, 0; @P bar.sync 0; }" ::"r"(
                   Condition)
               : "memory");
}

__global__ void exchange(unsigned *Words, unsigned *Out, unsigned Yes) {
  unsigned I = blockIdx.x * Threads + threadIdx.x, Other = I ^ 64;
  // These threads' clocks are far ahead.
  for (unsigned T = 0; T < 8 && threadIdx.x < Threads / 2; ++T)
    __threadfence_block();
  Words[I] = I; // RACE
  for (unsigned T = 0; T < TIMES; ++T)
    if (threadIdx.x < Threads / 2)
      barrierIf(Yes);
    else
      __syncthreads();
  unsigned Sum = Words[Other]; // RACE
  __syncthreads();
  Words[I] = Sum;
  __syncthreads();
  Out[I] = Words[Other];
}

int main() {
  unsigned *Words = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  exchange<<<Blocks, Threads>>>(Words, Out, 1);
  return finish(matches(Out, N, [](size_t I) { return unsigned(I); }));
}
