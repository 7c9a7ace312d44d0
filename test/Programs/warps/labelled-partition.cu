// Intent: the lanes of a warp that have one label form a group, in which they exchange
// words through shared memory; only the group's own barrier is needed.
// UNSEEN-GPU: collider: lanes of a warp that part do not overlap in time
#include "../check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;

__host__ __device__ unsigned labelOf(unsigned Lane) { return Lane * Lane % 5; }

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Words[2][32];
  unsigned Lane = threadIdx.x % 32, *Word = Words[threadIdx.x / 32];
  auto Warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto Group = cg::labeled_partition(Warp, labelOf(Lane));
  Word[Lane] = 10 * Lane; // RACE
#ifndef RACY
  Group.sync();
#endif
  // The next lane of the group.
  unsigned Next = Lane;
  do
    Next = (Next + 1) % 32;
  while (labelOf(Next) != labelOf(Lane));
  Out[blockIdx.x * Threads + threadIdx.x] = Word[Next] + Group.size(); // RACE
}

int main() {
  unsigned *Out = zeroed<unsigned>(N);
  exchange<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, N, [](size_t I) {
    unsigned Lane = I % 32, Next = Lane, Size = 0;
    do {
      Next = (Next + 1) % 32;
      ++Size;
    } while (labelOf(Next) != labelOf(Lane));
    for (unsigned L = Size = 0; L < 32; ++L)
      Size += labelOf(L) == labelOf(Lane);
    return 10 * Next + Size;
  }));
}
