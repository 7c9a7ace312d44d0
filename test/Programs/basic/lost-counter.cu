// Intent: one lane of each warp increments one counter plainly.
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 64, Launches = 5;

__global__ void count(unsigned *Counter) {
  if (threadIdx.x % 32 == 0) {
#ifdef RACY
    *Counter += 1; // RACE
#else
    atomicAdd(Counter, 1);
#endif
  }
}

int main() {
  unsigned *Counter = zeroed<unsigned>(1);
  for (unsigned L = 0; L < Launches; ++L)
    count<<<Blocks, Threads>>>(Counter);
  return finish(matches(
      Counter, 1, [](size_t) { return Launches * Blocks * Threads / 32; }));
}
