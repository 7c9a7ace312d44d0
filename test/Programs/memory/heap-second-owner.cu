// Intent: what one thread frees on the device's heap another gets from malloc or new,
// with no past; and memory that is in use has one. A GPU's heap has no shadow: there
// the race is found in where the pointers are.
// OPTIONS: shadow=exact
// OPTIONS: shadow=cached
// FIXED: malloc
// FIXED: new -DNEW
// FIXED: large -DLARGE
// RACY: malloc-early -DEARLY
// RACY: new-early -DNEW -DEARLY
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 4, Rounds = 4, N = Threads * Blocks;
#ifdef LARGE
constexpr unsigned Length = 100;
#else
constexpr unsigned Length = 4;
#endif

__device__ unsigned *take() {
#ifdef NEW
  return new unsigned[Length];
#else
  return static_cast<unsigned *>(malloc(Length * sizeof(unsigned)));
#endif
}

__device__ void giveBack(unsigned *Words) {
#ifdef NEW
  delete[] Words;
#else
  free(Words);
#endif
}

__device__ __noinline__ void fill(unsigned *Words, unsigned Value) {
  for (unsigned I = 0; I < Length; ++I)
    Words[I] = Value + I; // RACE
}

__device__ __noinline__ unsigned use(unsigned *Words) {
  return Words[Length - 1] - Words[0]; // RACE
}

__global__ void churn(unsigned *Out) {
  __shared__ unsigned *All[Threads];
  unsigned Sum = 0;
  All[threadIdx.x] = nullptr;
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned *Mine = take();
    if (!Mine)
      __trap();
    All[threadIdx.x] = Mine; // RACE
    fill(Mine, R + threadIdx.x);
    Sum += use(Mine);
#ifndef EARLY
    __syncthreads();
#endif
    if (unsigned *Theirs = All[Threads - 1 - threadIdx.x]) // RACE
      Sum += use(Theirs);
    __syncthreads();
    All[threadIdx.x] = nullptr;
    giveBack(Mine);
#ifdef EARLY
    __syncthreads();
#endif
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(N);
  churn<<<Blocks, Threads>>>(Out);
  return finish(
      matches(Out, N, [](size_t) { return 2 * Rounds * (Length - 1); }));
}
