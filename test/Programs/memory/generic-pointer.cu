// Intent: cells reached through a pointer that is global in some blocks and
// shared in others, read without a barrier.
// ALSO: -O0
// TOO-SLOW: hybrid (racy): a run takes the simulated GPU most of a minute
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8, Rounds = 50;

__global__ void exchange(unsigned *Scratch, unsigned *Out) {
  __shared__ unsigned Tile[Threads];
  unsigned T = threadIdx.x, Sum = 0;
  unsigned *Cells = blockIdx.x % 2 ? Tile : Scratch + blockIdx.x * Threads;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Cells[T] = R * Threads + T; // RACE
#ifndef RACY
    __syncthreads();
#endif
    Sum += Cells[(T + 32) % Threads]; // RACE
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Scratch = zeroed<unsigned>(Threads * Blocks);
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(Scratch, Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    unsigned Neighbour = (I % Threads + 32) % Threads;
    return Threads * (Rounds * (Rounds + 1) / 2) + Rounds * Neighbour;
  }));
}
