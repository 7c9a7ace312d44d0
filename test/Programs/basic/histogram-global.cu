// Intent: a histogram in global memory counts with plain increments.
// ALSO: -O0
#include "../check.h"

constexpr unsigned Threads = 128, Blocks = 32, Bins = 64, PerThread = 16;

__global__ void count(const unsigned *In, unsigned *Histogram) {
  for (unsigned K = 0; K < PerThread; ++K) {
    unsigned Bin = In[(K * Blocks + blockIdx.x) * Threads + threadIdx.x] % Bins;
#ifdef RACY
    ++Histogram[Bin]; // RACE
#else
    atomicAdd(&Histogram[Bin], 1);
#endif
  }
}

int main() {
  std::vector<unsigned> Values(Threads * Blocks * PerThread), Want(Bins);
  for (unsigned I = 0; I < Values.size(); ++I) {
    Values[I] = I * 2654435761u >> 7;
    ++Want[Values[I] % Bins];
  }
  unsigned *In = upload(Values), *Histogram = zeroed<unsigned>(Bins);
  count<<<Blocks, Threads>>>(In, Histogram);
  return finish(matches(Histogram, Bins, [&](size_t I) { return Want[I]; }));
}
