// Intent: 64-bit values of which only the upper half changes, read without a
// barrier.
// TOO-SLOW: hybrid (racy): a run takes the simulated GPU most of a minute
#include "../check.h"

using Wide = unsigned long long;
constexpr unsigned Threads = 256, Blocks = 8, Rounds = 100;

__global__ void exchange(Wide *Out) {
  __shared__ Wide Tile[Threads];
  Wide Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Tile[threadIdx.x] = Wide(R) << 32 | threadIdx.x; // RACE
#ifndef RACY
    __syncthreads();
#endif
    Sum += Tile[(threadIdx.x + 32) % Threads]; // RACE
    __syncthreads();
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}

int main() {
  Wide *Out = zeroed<Wide>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    Wide Neighbour = (I % Threads + 32) % Threads;
    return (Wide(Rounds * (Rounds + 1) / 2) << 32) + Rounds * Neighbour;
  }));
}
