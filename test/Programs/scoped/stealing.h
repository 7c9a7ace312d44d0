// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work that blocks take from each other.
#ifndef CRSAN_TEST_PROGRAMS_STEALING_H
#define CRSAN_TEST_PROGRAMS_STEALING_H

#include <cstdint>

#include "../check.h"
#include "atomics.h"

#ifndef OWN_ADD
#define OWN_ADD atomicAdd
#endif
#ifndef STEAL_ADD
#define STEAL_ADD atomicAdd
#endif
#ifdef PLAIN_LOOK
typedef const unsigned Looked;
#else
typedef const volatile unsigned Looked;
#endif

/// Items from 0 to N, a partition for each block. The last block has half of them,
/// which others will steal.
class Partitions {
  unsigned *Next, *End;

public:
  static constexpr unsigned None = ~0u;

  Partitions(unsigned Blocks)
      : Next(zeroed<unsigned>(Blocks)), End(zeroed<unsigned>(Blocks)) {}

  /// For the next kernel. Must not be called while one runs.
  void divide(unsigned N, unsigned Blocks) {
    std::vector<unsigned> Bounds;
    for (unsigned B = 0; B < Blocks; ++B)
      Bounds.push_back(uint64_t(N / 2) * B / (Blocks - 1));
    Bounds.push_back(N);
    size_t Bytes = Blocks * sizeof(unsigned);
    CHECK(cudaMemcpy(Next, &Bounds[0], Bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(End, &Bounds[1], Bytes, cudaMemcpyHostToDevice));
  }

  /// Takes an item for each thread of the block, perhaps fewer; false if all are
  /// taken. All threads call it. \p Item may be None.
  __device__ bool take(unsigned &Item) {
    __shared__ unsigned Head, Limit;
    if (threadIdx.x == 0)
      Head = takeChunk(Limit);
    __syncthreads();
    bool Any = Head != None;
    Item = Any && Head + threadIdx.x < Limit ? Head + threadIdx.x : None;
    __syncthreads();
    return Any;
  }

private:
  /// Where the chunk begins, and in \p PartitionEnd how far it may go.
  __device__ unsigned takeChunk(unsigned &PartitionEnd) {
    unsigned Block = blockIdx.x;
    PartitionEnd = End[Block];
    unsigned Head = OWN_ADD(&Next[Block], blockDim.x); // RACE: *-head look
    if (Head < PartitionEnd)
      return Head;
    for (unsigned I = 1; I < gridDim.x; ++I) {
      unsigned Victim = (Block + I) % gridDim.x;
      PartitionEnd = End[Victim];
      if (*(Looked *)&Next[Victim] >= PartitionEnd) // RACE: *-head look
        continue;
      Head = STEAL_ADD(&Next[Victim], blockDim.x); // RACE: *-head look
      if (Head < PartitionEnd)
        return Head;
    }
    return None;
  }
};

#endif // CRSAN_TEST_PROGRAMS_STEALING_H
