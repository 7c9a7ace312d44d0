// Intent: local arrays handed on by generic pointers: all lanes use one address
// and none shares it.
// CLEAN-ONLY
// ALSO: -O0
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, Size = 16;

__device__ __noinline__ void fill(unsigned *Values, unsigned Seed) {
  for (unsigned I = 0; I < Size; ++I)
    Values[(I * 7) % Size] = Seed * I;
}

__device__ __noinline__ unsigned sum(const unsigned *Values) {
  unsigned Sum = 0;
  for (unsigned I = 0; I < Size; ++I)
    Sum += Values[I];
  return Sum;
}

__global__ void run(unsigned *Scratch, unsigned *Out, unsigned GlobalFrom) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  unsigned Local[Size];
  unsigned *Values = I < GlobalFrom ? Local : Scratch + I * Size;
  fill(Values, I);
  Out[I] = sum(Values);
}

int main() {
  constexpr unsigned N = Threads * Blocks;
  unsigned *Scratch = zeroed<unsigned>(N * Size), *Out = zeroed<unsigned>(N);
  // The border lies within a warp: some lanes local, some global.
  run<<<Blocks, Threads>>>(Scratch, Out, N / 2 + 16);
  return finish(
      matches(Out, N, [](size_t I) { return I * (Size * (Size - 1) / 2); }));
}
