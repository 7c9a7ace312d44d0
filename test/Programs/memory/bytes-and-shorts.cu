// Intent: bytes and shorts read without a barrier after other warps store them.
// TOO-SLOW: hybrid (racy): a run takes the simulated GPU most of a minute
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8;
CONSTANT Scaled<50, 20> Rounds;

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned char Bytes[Threads];
  __shared__ unsigned short Shorts[Threads];
  unsigned T = threadIdx.x, Next = (T + 32) % Threads, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Bytes[T] = R;      // RACE
    Shorts[T] = R + T; // RACE
#ifndef RACY
    __syncthreads();
#endif
    Sum += Bytes[Next];  // RACE
    Sum += Shorts[Next]; // RACE
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    unsigned Neighbour = (I % Threads + 32) % Threads;
    return Rounds * (Rounds + 1) + Rounds * Neighbour;
  }));
}
