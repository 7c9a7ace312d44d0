// Intent: words written through one member of a union are read through another
// without a barrier.
// TOO-SLOW: hybrid (racy): a run takes the simulated GPU most of a minute
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8, Rounds = 100;

union Word {
  unsigned Whole;
  unsigned char Bytes[4];
};

__global__ void exchange(unsigned *Out) {
  __shared__ Word Tile[Threads];
  unsigned Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Tile[threadIdx.x].Whole = R * 0x01010101u; // RACE
#ifndef RACY
    __syncthreads();
#endif
    Sum += Tile[(threadIdx.x + 32) % Threads].Bytes[threadIdx.x % 4]; // RACE
    __syncthreads();
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks,
                        [](size_t) { return Rounds * (Rounds + 1) / 2; }));
}
