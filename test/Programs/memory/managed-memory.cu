// Intent: plain increments of counters in managed memory.
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 32, Rounds = 16, Counters = 8;

__global__ void count(unsigned *Counts) {
  if (threadIdx.x % 32 != 0)
    return;
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned *Counter = &Counts[(R + threadIdx.x / 32) % Counters];
#ifdef RACY
    *Counter += 1; // RACE
#else
    atomicAdd(Counter, 1);
#endif
  }
}

int main() {
  unsigned *Counts;
  CHECK(cudaMallocManaged(&Counts, Counters * sizeof(unsigned)));
  for (unsigned I = 0; I < Counters; ++I)
    Counts[I] = 100;
  count<<<Blocks, Threads>>>(Counts);
  CHECK(cudaDeviceSynchronize());
  bool Right = true;
  for (unsigned I = 0; I < Counters; ++I)
    Right &= Counts[I] == 100 + Blocks * (Threads / 32) * Rounds / Counters;
  return finish(Right);
}
