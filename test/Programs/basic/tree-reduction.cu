// Intent: a block's tree reduction lacks the barrier between its levels.
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8;
CONSTANT Scaled<50, 3> Rounds;

__global__ void reduce(unsigned *Out) {
  __shared__ unsigned Values[Threads];
  unsigned T = threadIdx.x, Total = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Values[T] = R + T;
    __syncthreads();
    for (unsigned Offset = Threads / 2; Offset > 0; Offset /= 2) {
      if (T < Offset)
        Values[T] += Values[T + Offset]; // RACE
#ifndef RACY
      __syncthreads();
#endif
    }
    if (T == 0)
      Total += Values[0];
    __syncthreads();
  }
  if (T == 0)
    Out[blockIdx.x] = Total;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks);
  reduce<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Blocks, [](size_t) {
    return Threads * (Rounds * (Rounds + 1) / 2) +
           Rounds * (Threads * (Threads - 1) / 2);
  }));
}
