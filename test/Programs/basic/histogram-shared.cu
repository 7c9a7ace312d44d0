// Intent: a block's histogram in shared memory counts with plain increments.
#include "../check.h"

constexpr unsigned Threads = 256, Blocks = 8, Bins = 64, PerThread = 16;

__global__ void count(const unsigned *In, unsigned *Histogram) {
  __shared__ unsigned Local[Bins];
  if (threadIdx.x < Bins)
    Local[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned K = 0; K < PerThread; ++K) {
    unsigned Bin = In[(K * Blocks + blockIdx.x) * Threads + threadIdx.x] % Bins;
#ifdef RACY
    Local[Bin] += 1; // RACE
#else
    atomicAdd(&Local[Bin], 1);
#endif
  }
  __syncthreads();
  if (threadIdx.x < Bins)
    atomicAdd(&Histogram[threadIdx.x], Local[threadIdx.x]);
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
