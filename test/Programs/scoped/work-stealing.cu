// Intent: blocks take chunks of work from their own partition and then from those
// of others, so the atomics on a partition's head need device scope.
// FIXED: device
// FIXED: block-without-stealing -DOWN_ADD=atomicAdd_block -DSTEAL=0
// RACY: block -DOWN_ADD=atomicAdd_block
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "atomics.h"

#ifndef OWN_ADD
#define OWN_ADD atomicAdd
#endif
#ifndef STEAL
#define STEAL 1
#endif

constexpr unsigned Chunk = 64, ChunksABlock = 8, Nothing = ~0u;
CONSTANT Scaled<128, 4> Blocks;

struct Queues {
  unsigned *CurrentHead, *NextHead, *End;
};

/// Where the block's next chunk begins.
__device__ unsigned getWork(Queues Q) {
  unsigned Block = blockIdx.x;
  Q.CurrentHead[Block] = OWN_ADD(&Q.NextHead[Block], Chunk); // RACE
  if (Q.CurrentHead[Block] < Q.End[Block])
    return Q.CurrentHead[Block];
  for (unsigned I = 1; STEAL && I < gridDim.x; ++I) {
    unsigned Victim = (Block + I) % gridDim.x;
    Q.CurrentHead[Block] = atomicAdd(&Q.NextHead[Victim], Chunk); // RACE
    if (Q.CurrentHead[Block] < Q.End[Victim])
      return Q.CurrentHead[Block];
  }
  return Nothing;
}

__global__ void work(Queues Q, unsigned *Done) {
  __shared__ unsigned Head;
  for (;;) {
    if (threadIdx.x == 0)
      Head = getWork(Q);
    __syncthreads();
    if (Head == Nothing)
      return;
    Done[Head + threadIdx.x] += 1;
    __syncthreads();
  }
}

int main() {
  // Unequal partitions: the last block has most of the work.
  std::vector<unsigned> Heads, Ends;
  unsigned N = 0;
  for (unsigned B = 0; B < Blocks; ++B) {
    Heads.push_back(N);
    N += Chunk * (B + 1 < Blocks ? 1 + B % 2 : ChunksABlock * Blocks);
    Ends.push_back(N);
  }
  unsigned *Done = zeroed<unsigned>(N);
  work<<<Blocks, Chunk>>>(
      {zeroed<unsigned>(Blocks), upload(Heads), upload(Ends)}, Done);
  return finish(matches(Done, N, [](size_t) { return 1u; }));
}
