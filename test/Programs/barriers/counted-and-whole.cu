// Intent: some threads of a block come to a barrier by a count, the others without one:
// it is the same barrier, whatever its number, and those after it are as they were.
// SIM-ONLY
// (An H200 ends such a kernel with an illegal instruction, checked or not.)
// FIXED: arrive
// FIXED: sync -DSYNC
// FIXED: number -DNUMBER=Number
// FIXED: intrinsic -DINTRINSIC
// FIXED: block -DSYNC -DNUMBER=0
// RACY: arrive-racy
// RACY: sync-racy -DSYNC
#include "../check.h"

#ifdef SYNC
#define COUNTED "bar.sync"
#else
#define COUNTED "bar.arrive"
#endif
#ifndef NUMBER
#define NUMBER 1
#endif

constexpr unsigned Threads = 128, Blocks = 16, N = Threads * Blocks;

__device__ void counted(unsigned Number) {
  asm volatile(COUNTED " %0, %1;" ::"r"(NUMBER), "r"(Threads) : "memory");
}
__device__ void whole(unsigned Number) {
#ifdef INTRINSIC
  __nvvm_barrier_sync(NUMBER);
#else
  asm volatile("barrier.sync %0;" ::"r"(NUMBER) : "memory");
#endif
}

__global__ void exchange(unsigned *Out, unsigned Number) {
  __shared__ unsigned Words[Threads], Sums[Threads];
  unsigned I = threadIdx.x, Other = (I + Threads / 2) % Threads;
  bool IsFirst = I < Threads / 2;
  Words[I] = I; // RACE
#ifndef RACY
  if (IsFirst)
    counted(Number);
  else
    whole(Number);
#endif
  if (!IsFirst)
    Sums[I] = Words[Other] + 1; // RACE
  __syncthreads();
  if (IsFirst)
    Sums[I] = Sums[Other] + Words[Other];
  __syncthreads();
  Out[blockIdx.x * Threads + I] = Sums[Other];
}

int main() {
  unsigned *Out = zeroed<unsigned>(N);
  exchange<<<Blocks, Threads>>>(Out, 1);
  return finish(matches(Out, N, [](size_t I) {
    unsigned T = I % Threads, Half = Threads / 2;
    return T < Half ? T + 1 : (T - Half + 1) + T;
  }));
}
