// Intent: a warp reads a histogram that all warps of the block have added to; that each of
// them has read bins itself, when it added to them, orders nothing.
// FIXED: shared
// FIXED: used -DUSED
// FIXED: behind-fence -DFENCE=__threadfence
// FIXED: few-adders -DADDERS=4
// FIXED: of-global-memory -DGLOBAL
// RACY: no-barrier -DMEET=nothing
// RACY: barrier-of-warp -DMEET=__syncwarp -DADDERS=4
// RACY: used-no-barrier -DMEET=nothing -DUSED
// RACY: of-global-memory-no-barrier -DMEET=nothing -DGLOBAL
// RACY: behind-fence-no-barrier -DMEET=nothing -DFENCE=__threadfence
// RACY: behind-fence-barrier-of-warp -DMEET=__syncwarp -DADDERS=4 -DFENCE=__threadfence
// RACY: behind-fence-used-no-barrier -DMEET=nothing -DFENCE=__threadfence -DUSED
// RACY: behind-fence-of-global-memory-no-barrier -DMEET=nothing -DFENCE=__threadfence -DGLOBAL
// UNSEEN: collider: a bin need not change while a check looks at it
#include "../check.h"

#ifndef MEET
#define MEET __syncthreads
#endif
#ifndef ADDERS
#define ADDERS 32 // Lanes of each warp.
#endif
#ifndef FENCE
#define FENCE nothing
#endif

constexpr unsigned Threads = 128, Bins = 64, PerThread = 2, Rounds = 3, Blocks = 2;

__device__ inline void nothing() {}

__host__ __device__ inline unsigned binOf(unsigned Thread, unsigned K) {
  return (Thread * 2654435761u + K * 40503u) >> 7 & (Bins - 1);
}

__global__ void count(unsigned *Out, unsigned *InGlobal, unsigned *Used) {
#ifdef GLOBAL
  unsigned *Histogram = InGlobal + blockIdx.x * Bins;
#else
  __shared__ unsigned Histogram[Bins];
#endif
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    FENCE(); // Atomics may release and acquire from then on.
    if (threadIdx.x < Bins)
      Histogram[threadIdx.x] = 0;
    __syncthreads();
    unsigned Before = 0;
    for (unsigned K = 0; K < PerThread && threadIdx.x % 32 < ADDERS; ++K)
      Before += atomicAdd(&Histogram[binOf(threadIdx.x, K)], 1); // RACE
    MEET();
    if (threadIdx.x >= Threads - 32)
      for (unsigned Bin = threadIdx.x % 32; Bin < Bins; Bin += 32)
        Out[blockIdx.x * Bins + Bin] = Histogram[Bin]; // RACE
#ifdef USED
    Used[blockIdx.x * Threads + threadIdx.x] = Before;
#endif
    __syncthreads();
  }
}

int main() {
  std::vector<unsigned> Want(Bins);
  for (unsigned I = 0; I < Threads * PerThread; ++I)
    if (I / PerThread % 32 < ADDERS)
      ++Want[binOf(I / PerThread, I % PerThread)];
  unsigned *Out = zeroed<unsigned>(Blocks * Bins), *Histograms = zeroed<unsigned>(Blocks * Bins),
           *Used = zeroed<unsigned>(Blocks * Threads);
  // Metadata mode forgets less in a kernel's first grid.
  for (unsigned Launch = 0; Launch < 2; ++Launch)
    count<<<Blocks, Threads>>>(Out, Histograms, Used);
  return finish(matches(Out, Blocks * Bins, [&](size_t I) { return Want[I % Bins]; }));
}
