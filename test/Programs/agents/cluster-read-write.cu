// Intent: Table 3, distributed SMEM RW: the blocks of a cluster read each other's shared
// memory. The racy twins synchronise their own block only.
// Others: Compute Sanitizer and SuperCollider find it, iGUARD does not.
// FIXED: assembly
// FIXED: library -DLIBRARY
// RACY: block-barrier -DSYNC=__syncthreads()
// RACY: block-barrier-library -DLIBRARY -DSYNC=cg::this_thread_block().sync()
// ARCH: sm_90
#include "asynchronous.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned Threads = 64, Cluster = 2, Blocks = 4;
CONSTANT Scaled<100, 12> Rounds;

#ifdef LIBRARY
#define WHOLE_SYNC cg::this_cluster().sync()
#define REMOTE(P, Rank) cg::this_cluster().map_shared_rank(P, Rank)
#else
#define WHOLE_SYNC clusterSync()
#define REMOTE(P, Rank) remote(P, Rank)
#endif
#ifndef SYNC
#define SYNC WHOLE_SYNC
#endif

__global__ void exchange(unsigned *Out) {
  __shared__ unsigned Cells[Threads];
  const unsigned T = threadIdx.x, Rank = clusterRank();
  const unsigned *Others = REMOTE(Cells, (Rank + 1) % Cluster);
  unsigned Sum = 0;
  Cells[T] = 0;
  WHOLE_SYNC; // Both blocks have begun.
  for (unsigned R = 1; R <= Rounds; ++R) {
    Cells[T] = R * Threads + T; // RACE
    SYNC;
    Sum += Others[Threads - 1 - T]; // RACE
    SYNC;
  }
  WHOLE_SYNC; // No block ends while the other reads.
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  launchClusters(exchange, Cluster, Blocks, Threads, Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    const unsigned From = Threads - 1 - I % Threads;
    return Rounds * (Rounds + 1) / 2 * Threads + Rounds * From;
  }));
}
