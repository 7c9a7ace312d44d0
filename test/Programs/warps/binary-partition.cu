// Intent: a warp is divided in two by a condition, and each part, in a branch of its
// own, fills and reads its part of a table. The racy twin's second part does not wait.
// A compiler may make one access of the two parts' accesses, so all are marked.
// UNSEEN-GPU: collider: lanes of a warp that part do not overlap in time
#include "../check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;

__host__ __device__ bool isFirst(unsigned Lane) { return Lane % 3 == 0; }

__global__ void reverse(unsigned *Out) {
  __shared__ unsigned Words[2][2][32];
  unsigned Lane = threadIdx.x % 32, I = blockIdx.x * Threads + threadIdx.x;
  auto Warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto Part = cg::binary_partition(Warp, isFirst(Lane));
  unsigned *Word = Words[threadIdx.x / 32][isFirst(Lane)];
  unsigned Rank = Part.thread_rank(), Other = Part.size() - 1 - Rank;
  if (isFirst(Lane)) {
    Word[Rank] = Lane; // RACE
    Part.sync();
    Out[I] = Word[Other]; // RACE
  } else {
    Word[Rank] = 100 + Lane; // RACE
#ifndef RACY
    Part.sync();
#endif
    Out[I] = Word[Other]; // RACE
  }
}

int main() {
  unsigned *Out = zeroed<unsigned>(N);
  reverse<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, N, [](size_t I) {
    std::vector<unsigned> Mine;
    unsigned Rank = 0;
    for (unsigned L = 0; L < 32; ++L)
      if (isFirst(L) == isFirst(I % 32)) {
        Rank += L < I % 32;
        Mine.push_back(L + (isFirst(L) ? 0 : 100));
      }
    return Mine[Mine.size() - 1 - Rank];
  }));
}
