// Intent: the barrier at the end of a loop is missing, so that the next
// iteration overwrites what slower warps still read.
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8, Rounds = 100;

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Tile[Threads];
  unsigned Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Tile[threadIdx.x] = R * Threads + threadIdx.x; // RACE
    __syncthreads();
    Sum += Tile[(threadIdx.x + 32) % Threads]; // RACE
#ifndef RACY
    __syncthreads();
#endif
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    unsigned Neighbour = (I % Threads + 32) % Threads;
    return Threads * (Rounds * (Rounds + 1) / 2) + Rounds * Neighbour;
  }));
}
