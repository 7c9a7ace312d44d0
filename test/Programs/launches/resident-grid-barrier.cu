// Intent: a grid sized by hand to fill the GPU meets at a barrier made of volatile flags:
// the first block gathers all and lets them go.
// CLEAN-ONLY
#include "persistent.h"

CONSTANT Scaled<20, 3> Rounds;

__device__ void meet(volatile unsigned *Arrived, volatile unsigned *Gone,
                     unsigned Turn) {
  __syncthreads();
  if (blockIdx.x == 0) {
    for (unsigned B = 1 + threadIdx.x; B < gridDim.x; B += blockDim.x)
      waitFor(&Arrived[B], Turn);
    __syncthreads();
    if (threadIdx.x == 0)
      tell(Gone, Turn);
  } else if (threadIdx.x == 0) {
    tell(&Arrived[blockIdx.x], Turn);
    waitFor(Gone, Turn);
  }
  __syncthreads();
}

__global__ void exchange(unsigned *Arrived, unsigned *Gone, unsigned *Cells,
                         unsigned *Out) {
  const unsigned N = gridDim.x * blockDim.x;
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = R * 3 + I;
    meet(Arrived, Gone, 2 * R + 1);
    Sum += Cells[(I + blockDim.x * (R + 1)) % N];
    meet(Arrived, Gone, 2 * R + 2);
  }
  Out[I] = Sum;
}

int main() {
  const unsigned Blocks = blocksByHand(), N = Blocks * Threads;
  unsigned *Arrived = zeroed<unsigned>(Blocks + 1),
           *Cells = zeroed<unsigned>(N);
  unsigned *Out = zeroed<unsigned>(N);
  measure("grid-barrier", [&] {
    CHECK(cudaMemsetAsync(Arrived, 0, (Blocks + 1) * sizeof(unsigned)));
    exchange<<<Blocks, Threads>>>(Arrived, Arrived + Blocks, Cells, Out);
  });
  return finish(matches(Out, N, [&](size_t I) {
    unsigned Sum = 0;
    for (unsigned R = 0; R < Rounds; ++R)
      Sum += R * 3 + unsigned((I + Threads * (R + 1)) % N);
    return Sum;
  }));
}
