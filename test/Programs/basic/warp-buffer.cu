// Intent: buffers meant to be private to a warp overlap by half.
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8, Rounds = 100;
#ifdef RACY
constexpr unsigned Pitch = 16;
#else
constexpr unsigned Pitch = 32;
#endif

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Buffers[Threads];
  unsigned Warp = threadIdx.x / 32, Lane = threadIdx.x % 32, Sum = 0;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Buffers[Warp * Pitch + Lane] = R * Threads + threadIdx.x; // RACE
    __syncwarp();
    Sum += Buffers[Warp * Pitch + (Lane ^ 1)]; // RACE
    __syncwarp();
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  exchange<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    return Threads * (Rounds * (Rounds + 1) / 2) + Rounds * (I % Threads ^ 1);
  }));
}
