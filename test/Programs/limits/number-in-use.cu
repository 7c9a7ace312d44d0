// Intent: a block that lives until one with the same number of warps (metadata mode
// numbers them up to 32,768) has begun tells on what it has heard before.
#include "../check.h"

constexpr unsigned Numbers = 32768, Blocks = Numbers + 2;

__device__ void tell(unsigned *Flag) {
  __syncwarp();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(Flag, 1);
  }
}

__global__ void relay(unsigned *Cells, unsigned *Written, unsigned *Begun,
                      unsigned *Relayed, unsigned *Out) {
  const unsigned I = threadIdx.x;
  switch (blockIdx.x) {
  case 5:
    Cells[I] = I + 1; // RACE
    tell(Written);
    break;
  case 0:
    if (I == 0) {
      while (atomicAdd(Written, 0) == 0)
        ;
      __threadfence();
      while (atomicAdd(Begun, 0) == 0)
        ;
      __threadfence();
      atomicExch(Relayed, 1);
    }
    break;
  case Numbers:
    if (I == 0)
      atomicExch(Begun, 1);
    break;
  case Numbers + 1:
#ifndef RACY
    if (I == 0) {
      while (atomicAdd(Relayed, 0) == 0)
        ;
      __threadfence();
    }
    __syncwarp();
#endif
    Out[I] = Cells[I]; // RACE
  }
}

int main() {
  unsigned *Cells = zeroed<unsigned>(32), *Out = zeroed<unsigned>(32);
  unsigned *Flags = zeroed<unsigned>(96);
  relay<<<Blocks, 32>>>(Cells, Flags, Flags + 32, Flags + 64, Out);
  return finish(matches(Out, 32, [](size_t I) { return unsigned(I + 1); }));
}
