// Intent: a hand-made barrier over a grid that just fits the GPU still makes
// progress, and what it orders is not racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Threads = 128, Rounds = 8;

__device__ void barrier(unsigned *Arrived, unsigned Target) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(Arrived, 1);
    while (atomicAdd(Arrived, 0) < Target)
      ;
    __threadfence();
  }
  __syncthreads();
}

__global__ void exchange(unsigned *Arrived, unsigned *Cells, unsigned *Out) {
  unsigned I = blockIdx.x * Threads + threadIdx.x, N = gridDim.x * Threads;
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    Cells[I] = R + I;
    barrier(Arrived, (2 * R + 1) * gridDim.x);
    Sum += Cells[(I + Threads) % N];
    barrier(Arrived, (2 * R + 2) * gridDim.x);
  }
  Out[I] = Sum;
}

int main() {
  int PerProcessor, Processors;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&PerProcessor, exchange,
                                                      Threads, 0));
  CHECK(cudaDeviceGetAttribute(&Processors, cudaDevAttrMultiProcessorCount, 0));
  unsigned Blocks = PerProcessor * Processors, N = Blocks * Threads;
  unsigned *Arrived = zeroed<unsigned>(1), *Cells = zeroed<unsigned>(N);
  unsigned *Out = zeroed<unsigned>(N);
  exchange<<<Blocks, Threads>>>(Arrived, Cells, Out);
  return finish(matches(Out, N, [&](size_t I) {
    return Rounds * (Rounds - 1) / 2 + Rounds * ((I + Threads) % N);
  }));
}
