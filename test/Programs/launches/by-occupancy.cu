// Intent: a grid of as many blocks as the occupancy functions say fit meets at a barrier
// of one counter; the same for the block size that they propose.
// CLEAN-ONLY
#include "persistent.h"

CONSTANT Scaled<20, 3> Rounds;

__device__ void meet(unsigned *Arrived, unsigned Target) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(Arrived, 1);
    waitFor(Arrived, Target);
  }
  __syncthreads();
}

__global__ void exchange(unsigned *Arrived, unsigned *Cells, unsigned *Out) {
  const unsigned N = gridDim.x * blockDim.x;
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = R * 3 + I;
    meet(Arrived, (2 * R + 1) * gridDim.x);
    Sum += Cells[(I + blockDim.x * (R + 1)) % N];
    meet(Arrived, (2 * R + 2) * gridDim.x);
  }
  Out[I] = Sum;
}

bool tryGrid(const char *Name, unsigned Blocks, unsigned Block) {
  const unsigned N = Blocks * Block;
  unsigned *Arrived = zeroed<unsigned>(1), *Cells = zeroed<unsigned>(N);
  unsigned *Out = zeroed<unsigned>(N);
  measure(Name, [&] {
    CHECK(cudaMemsetAsync(Arrived, 0, sizeof(unsigned)));
    exchange<<<Blocks, Block>>>(Arrived, Cells, Out);
  });
  return matches(Out, N, [&](size_t I) {
    unsigned Sum = 0;
    for (unsigned R = 0; R < Rounds; ++R)
      Sum += R * 3 + unsigned((I + Block * (R + 1)) % N);
    return Sum;
  });
}

int main() {
  bool Right = tryGrid("by-occupancy", blocksByLibrary(exchange), Threads);
  int Blocks, Block;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&Blocks, &Block, exchange));
  if (unsigned(Scaled<1, 0>()))
    Right &= tryGrid("by-potential", Blocks, Block);
  return finish(Right);
}
