// Intent: threads read cells that other warps store, with no barrier between
// the store and the load.
// ALSO: -O0
// ALSO: -O3 -g
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8, Rounds = 100;

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Tile[Threads];
  unsigned Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Tile[threadIdx.x] = R * Threads + threadIdx.x; // RACE
#ifndef RACY
    __syncthreads();
#endif
    Sum += Tile[(threadIdx.x + 32) % Threads]; // RACE
    __syncthreads();
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
