// Intent: a grid of far more blocks than there are warps with a state of their own.
#include "../check.h"

constexpr unsigned Threads = 32;
CONSTANT Scaled<5500000, 5000> Blocks;

__global__ void write(unsigned *Words, unsigned *Sum) {
  unsigned I = blockIdx.x;
#ifdef RACY
  I /= 2;
#endif
  if (threadIdx.x == 0)
    Words[I] = blockIdx.x; // RACE
  else if (threadIdx.x == 1)
    atomicAdd(Sum, 1);
}

int main() {
  unsigned *Words = zeroed<unsigned>(Blocks), *Sum = zeroed<unsigned>(1);
  write<<<Blocks, Threads>>>(Words, Sum);
  bool Right = matches(Sum, 1, [](size_t) { return unsigned(Blocks); });
  return finish(Right &&
                matches(Words, Blocks, [](size_t I) { return unsigned(I); }));
}
