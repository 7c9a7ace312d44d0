// Intent: each thread adds its element's share to the sums around it; those that
// another block adds to as well take atomics of device scope.
// FIXED: device
// RACY: block -DBORDER=0
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "atomics.h"

#ifndef BORDER
#define BORDER 1
#endif

constexpr unsigned Threads = 256, Taps = 9, Reach = Taps / 2;
CONSTANT Scaled<65536, 4> Blocks;
CONSTANT Scaled<10, 1> Passes;

__host__ __device__ unsigned tap(unsigned K) { return K * K + 3; }

__global__ void convolve(const unsigned *In, unsigned *Out) {
  unsigned First = blockIdx.x * Threads, I = First + threadIdx.x;
  for (unsigned K = 0; K < Taps; ++K) {
    unsigned To = I + K - Reach, Share = In[I] * tap(K);
    if (To >= gridDim.x * Threads)
      continue;
    if (BORDER && (To < First + Reach || To + Reach >= First + Threads))
      atomicAdd(&Out[To], Share);
    else
      atomicAdd_block(&Out[To], Share); // RACE
  }
}

int main() {
  unsigned N = Blocks * Threads;
  std::vector<unsigned> In(N);
  for (unsigned I = 0; I < N; ++I)
    In[I] = I * 2654435761u >> 16;
  unsigned *Out = zeroed<unsigned>(N);
  const unsigned *DeviceIn = upload(In);
  for (unsigned P = 0; P < Passes; ++P)
    convolve<<<Blocks, Threads>>>(DeviceIn, Out);
  return finish(matches(Out, N, [&](size_t To) {
    unsigned Sum = 0;
    for (unsigned K = 0; K < Taps; ++K)
      if (size_t I = To + Reach - K; I < N)
        Sum += In[I] * tap(K);
    return Sum * Passes;
  }));
}
