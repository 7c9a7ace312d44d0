// Intent: lanes of one warp exchange values through shared memory without
// __syncwarp between the store and the load.
// SEEDS: 20
// TOO-SLOW: hybrid (racy): a run takes the simulated GPU most of a minute
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8, Rounds = 100;

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Tile[Threads];
  unsigned Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Tile[threadIdx.x] = R * Threads + threadIdx.x; // RACE
#ifndef RACY
    __syncwarp();
#endif
    Sum += Tile[threadIdx.x ^ 1]; // RACE
    __syncwarp();
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    unsigned Neighbour = I % Threads ^ 1;
    return Threads * (Rounds * (Rounds + 1) / 2) + Rounds * Neighbour;
  }));
}
