// Intent: the race is in a function inlined twice over; the report names the
// line of the callee.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 32, Rounds = 16, Counters = 8;

__device__ __forceinline__ void bump(unsigned *Counter) {
#ifdef RACY
  *Counter += 1; // RACE
#else
  atomicAdd(Counter, 1);
#endif
}

__device__ __forceinline__ void bumpOf(unsigned *Counts, unsigned Index) {
  bump(Counts + Index % Counters);
}

__global__ void count(unsigned *Counts) {
  if (threadIdx.x % 32 != 0)
    return;
  for (unsigned R = 0; R < Rounds; ++R)
    bumpOf(Counts, R + threadIdx.x / 32);
}

int main() {
  unsigned *Counts = zeroed<unsigned>(Counters);
  count<<<Blocks, Threads>>>(Counts);
  return finish(matches(Counts, Counters, [](size_t) {
    return Blocks * (Threads / 32) * Rounds / Counters;
  }));
}
