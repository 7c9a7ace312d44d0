// Intent: in a barrier of the grid, the fences of each block's leader order what
// its block has done, through the block's barrier; but there must be two.
// FIXED: leader
// FIXED: everybody -DEVERYBODY_FENCE=__threadfence
// RACY: no-acquire -DACQUIRE_FENCE=nothing
// RACY: no-release -DRELEASE_FENCE=nothing
// RACY: none -DACQUIRE_FENCE=nothing -DRELEASE_FENCE=nothing
// RACY: block -DRELEASE_FENCE=__threadfence_block
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "atomics.h"

#ifndef EVERYBODY_FENCE
#define EVERYBODY_FENCE nothing
#endif
#ifndef RELEASE_FENCE
#define RELEASE_FENCE __threadfence
#endif
#ifndef ACQUIRE_FENCE
#define ACQUIRE_FENCE __threadfence
#endif

constexpr unsigned Threads = 64;
CONSTANT Scaled<64, 4> Blocks;
CONSTANT Scaled<20, 4> Rounds;

__device__ void syncGrid(unsigned Target, volatile unsigned *Arrived) {
  EVERYBODY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    RELEASE_FENCE();
    atomicAdd((unsigned *)Arrived, 1);
    while (*Arrived < Target)
      ;
    ACQUIRE_FENCE();
  }
  __syncthreads();
}

__global__ void exchange(volatile unsigned *Arrived, unsigned *Cells,
                         unsigned *Out) {
  unsigned N = gridDim.x * Threads, Sum = 0;
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[R * N + I] = R + I; // RACE
    syncGrid((R + 1) * gridDim.x, Arrived);
    Sum += Cells[R * N + (I + Threads) % N]; // RACE
  }
  Out[I] = Sum;
}

int main() {
  unsigned N = Blocks * Threads;
  unsigned *Out = zeroed<unsigned>(N);
  exchange<<<Blocks, Threads>>>(zeroed<unsigned>(1),
                                zeroed<unsigned>(N * Rounds), Out);
  return finish(matches(Out, N, [&](size_t I) {
    return Rounds * (Rounds - 1) / 2 + Rounds * unsigned((I + Threads) % N);
  }));
}
