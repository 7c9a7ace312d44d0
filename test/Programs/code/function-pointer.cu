// Intent: the race is in a function called through a pointer.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 32, Rounds = 16, Counters = 8;

__device__ void addOne(unsigned *Counter) {
#ifdef RACY
  *Counter += 1; // RACE
#else
  atomicAdd(Counter, 1);
#endif
}

__device__ void addTwo(unsigned *Counter) {
#ifdef RACY
  *Counter += 2; // RACE
#else
  atomicAdd(Counter, 2);
#endif
}

using Operation = void (*)(unsigned *);
__device__ Operation Operations[2] = {addOne, addTwo};

__global__ void count(unsigned *Counts, unsigned Which) {
  if (threadIdx.x % 32 != 0)
    return;
  for (unsigned R = 0; R < Rounds; ++R)
    Operations[Which](&Counts[(R + threadIdx.x / 32) % Counters]);
}

int main() {
  unsigned *Counts = zeroed<unsigned>(Counters);
  count<<<Blocks, Threads>>>(Counts, 0);
  count<<<Blocks, Threads>>>(Counts, 1);
  return finish(matches(Counts, Counters, [](size_t) {
    return 3 * Blocks * (Threads / 32) * Rounds / Counters;
  }));
}
