// Intent: the lanes of a warp, apart from each other, make the clock that they share
// rise, and none of them may see it fall.
// OPTIONS: schedule=pct
#include "../check.h"

constexpr unsigned Threads = 64, Blocks = 4, N = Threads * Blocks;
CONSTANT Scaled<2000, 40> Rounds;

__device__ void fence(unsigned Times) {
  for (unsigned I = 0; I < Times; ++I)
    __threadfence_block();
}

__global__ void turn(unsigned *Words) {
  unsigned First = blockIdx.x * Threads, I = threadIdx.x, Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    fence((I * 5 + R) % 7);
    Words[First + I] = Sum + 1; // RACE
    fence((I * 3 + R) % 5);
#ifdef RACY
    if (R % 8 != 2)
#endif
      __syncthreads();
    Sum = Words[First + (I + 1) % Threads]; // RACE
    __syncthreads();
  }
}

int main() {
  unsigned *Words = zeroed<unsigned>(N);
  turn<<<Blocks, Threads>>>(Words);
  return finish(matches(Words, N, [](size_t) { return unsigned(Rounds); }));
}
