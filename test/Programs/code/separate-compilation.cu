// Intent: the race is in a function of another translation unit.
// BUILD: -fgpu-rdc Inputs/separate-compilation-callee.cu
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 32, Rounds = 16, Counters = 8;

__device__ void bump(unsigned *Counter);

__global__ void count(unsigned *Counts) {
  if (threadIdx.x % 32 != 0)
    return;
  for (unsigned R = 0; R < Rounds; ++R)
    bump(&Counts[(R + threadIdx.x / 32) % Counters]);
}

int main() {
  unsigned *Counts = zeroed<unsigned>(Counters);
  count<<<Blocks, Threads>>>(Counts);
  return finish(matches(Counts, Counters, [](size_t) {
    return Blocks * (Threads / 32) * Rounds / Counters;
  }));
}
