// Intent: within a block, threads wait for those whose sums they add, with fences
// of block scope; the last block adds up what all have left, which takes a fence
// and an atomic of device scope.
// FIXED: device
// RACY: block-fence -DFENCE=__threadfence_block
// RACY: block-ticket -DADD=atomicAdd_block
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "atomics.h"

#ifndef FENCE
#define FENCE __threadfence
#endif
#ifndef ADD
#define ADD atomicAdd
#endif

constexpr unsigned Threads = 256;
CONSTANT Scaled<1024, 4> Blocks;
CONSTANT Scaled<25600000, 5000> Elements;
CONSTANT Scaled<100, 1> Passes;

__global__ void fill(unsigned *In) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  if (I < Elements)
    In[I] = I % 1000;
}

/// What one pass works with: all zero at first.
struct Pass {
  unsigned *Data, *Partial, *Ticket, *Out;
  volatile unsigned *Ready;
};

__global__ void reduce(const unsigned *In, Pass P) {
  unsigned Thread = threadIdx.x, First = blockIdx.x * Threads, Sum = 0;
  for (unsigned I = First + Thread; I < Elements; I += gridDim.x * Threads)
    Sum += In[I];

  // The upper half of the threads leave their sums for the lower one, and so on
  // until a warp is left.
  for (unsigned Half = Threads / 2; Half >= 32; Half /= 2) {
    if (Thread >= Half) {
      P.Data[First + Thread] = Sum;
      __threadfence_block();
      P.Ready[First + Thread] = 1;
      return;
    }
    while (P.Ready[First + Thread + Half] == 0)
      ;
    __threadfence_block();
    Sum += P.Data[First + Thread + Half];
  }
  for (unsigned Half = 16; Half > 0; Half /= 2)
    Sum += __shfl_down_sync(~0u, Sum, Half);
  if (Thread != 0)
    return;

  P.Partial[blockIdx.x] = Sum; // RACE
  FENCE();
  if (ADD(P.Ticket, 1) != gridDim.x - 1) // RACE: block-ticket
    return;
  __threadfence();
  unsigned Total = 0;
  for (unsigned B = 0; B < gridDim.x; ++B)
    Total += P.Partial[B]; // RACE
  *P.Out = Total;
}

int main() {
  unsigned *In = zeroed<unsigned>(Elements);
  unsigned *Out = zeroed<unsigned>(Passes);
  fill<<<(Elements + Threads - 1) / Threads, Threads>>>(In);
  Pass P = {zeroed<unsigned>(Blocks * Threads), zeroed<unsigned>(Blocks),
            zeroed<unsigned>(1), Out, zeroed<unsigned>(Blocks * Threads)};
  for (unsigned I = 0; I < Passes; ++I, ++P.Out) {
    reduce<<<Blocks, Threads>>>(In, P);
    CHECK(cudaMemsetAsync(P.Ticket, 0, sizeof(unsigned)));
    CHECK(cudaMemsetAsync((unsigned *)P.Ready, 0,
                          Blocks * Threads * sizeof(unsigned)));
  }
  unsigned Want = 0;
  for (unsigned I = 0; I < Elements; ++I)
    Want += I % 1000;
  return finish(matches(Out, Passes, [=](size_t) { return Want; }));
}
