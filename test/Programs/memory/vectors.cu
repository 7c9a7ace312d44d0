// Intent: float4 and int2 values read without a barrier after other warps store
// them.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 8;
CONSTANT Scaled<50, 3> Rounds;

__global__ void exchange(int *Out) {
  __shared__ float4 Quads[Threads];
  __shared__ int2 Pairs[Threads];
  unsigned T = threadIdx.x, Next = (T + 32) % Threads;
  int Sum = 0;
  for (int R = 1; R <= int(Rounds); ++R) {
    Quads[T] = make_float4(1, 2, 3, R); // RACE
    Pairs[T] = make_int2(R, T);         // RACE
#ifndef RACY
    __syncthreads();
#endif
    float4 Quad = Quads[Next]; // RACE
    int2 Pair = Pairs[Next];   // RACE
    Sum += int(Quad.x + Quad.y + Quad.z + Quad.w) + Pair.x + Pair.y;
    __syncthreads();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  int *Out = zeroed<int>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    int Neighbour = (I % Threads + 32) % Threads;
    return int(Rounds * 6 + Rounds * (Rounds + 1)) + int(Rounds) * Neighbour;
  }));
}
