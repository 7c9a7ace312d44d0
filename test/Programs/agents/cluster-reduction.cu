// Intent: the blocks of a cluster reduce their parts in shared memory; the first block adds
// up what the others have, by distributed shared memory, and hands the sum back. The racy
// twins meet without an order, before or after the sum is there.
// FIXED: assembly
// FIXED: library -DLIBRARY
// RACY: parts-too-early -DPARTS_SYNC=clusterMeet()
// RACY: sum-too-early -DSUM_SYNC=clusterMeet()
// UNSEEN: collider: all have met, so that no value changes while a check looks at it
// ARCH: sm_90
#include "asynchronous.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#ifdef LIBRARY
#define WHOLE_SYNC cg::this_cluster().sync()
#define REMOTE(P, Rank) cg::this_cluster().map_shared_rank(P, Rank)
#else
#define WHOLE_SYNC clusterSync()
#define REMOTE(P, Rank) remote(P, Rank)
#endif
#ifndef PARTS_SYNC
#define PARTS_SYNC WHOLE_SYNC
#endif
#ifndef SUM_SYNC
#define SUM_SYNC WHOLE_SYNC
#endif

constexpr unsigned Threads = 64, Cluster = 4, Blocks = 8;
CONSTANT Scaled<64, 3> Rounds;

/// The block's sum, in Parts[0].
__device__ void reduce(unsigned *Parts, unsigned Value) {
  const unsigned T = threadIdx.x;
  Parts[T] = Value; // RACE: parts-too-early
  for (unsigned Width = Threads / 2; Width > 0; Width /= 2) {
    __syncthreads();
    if (T < Width)
      Parts[T] += Parts[T + Width]; // RACE: parts-too-early
  }
}

__global__ void sums(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Parts[Threads], Sum;
  const unsigned T = threadIdx.x, Rank = clusterRank(), B = blockIdx.x;
  unsigned Total = 0;
  WHOLE_SYNC; // All blocks have begun.
  for (unsigned R = 0; R < Rounds; ++R) {
    reduce(Parts, In[(R * Blocks + B) * Threads + T]);
    PARTS_SYNC;
    if (Rank == 0 && T < Cluster) {
      // A lane for each block; thread 0 adds up.
      const unsigned Part = *REMOTE(&Parts[0], T); // RACE: parts-too-early
      const unsigned All = __reduce_add_sync((1u << Cluster) - 1, Part);
      *REMOTE(&Sum, T) = All; // RACE: sum-too-early
    }
    SUM_SYNC;
    Total += Sum * (T + 1); // RACE: sum-too-early
    WHOLE_SYNC; // Nobody's sum is overwritten before it is read.
  }
  Out[B * Threads + T] = Total;
}

int main() {
  std::vector<unsigned> In, Want(Blocks / Cluster);
  for (unsigned I = 0; I < Rounds * Blocks * Threads; ++I) {
    In.push_back(I * 13 % 101);
    Want[I / Threads % Blocks / Cluster] += In.back();
  }
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  launchClusters(sums, Cluster, Blocks, Threads, upload(In), Out);
  return finish(matches(Out, Blocks * Threads, [&](size_t I) {
    return unsigned(Want[I / Threads / Cluster] * (I % Threads + 1));
  }));
}
