// Intent: Table 3, distributed SMEM WW: both blocks of a cluster store to the same cells of
// the first block's shared memory. The fixed twin has cells for each block.
// Others: Compute Sanitizer and SuperCollider find it, iGUARD does not.
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Threads = 64, Cluster = 2, Blocks = 4;
CONSTANT Scaled<100, 12> Rounds;

__global__ void fill(unsigned *Out) {
  __shared__ unsigned Cells[Cluster][Threads];
  const unsigned T = threadIdx.x, Rank = clusterRank();
#ifdef RACY
  unsigned *First = remote(Cells[0], 0);
#else
  unsigned *First = remote(Cells[Rank], 0);
#endif
  unsigned Sum = 0;
  Cells[0][T] = Cells[1][T] = 0;
  clusterSync();
  for (unsigned R = 1; R <= Rounds; ++R) {
    First[T] = R * Cluster + Rank; // RACE
    clusterSync();
    Sum += First[Threads - 1 - T];
    clusterSync();
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Threads * Blocks);
  launchClusters(fill, Cluster, Blocks, Threads, Out);
  return finish(matches(Out, Threads * Blocks, [](size_t I) {
    const unsigned Rank = I / Threads % Cluster;
    return Rounds * (Rounds + 1) / 2 * Cluster + Rounds * Rank;
  }));
}
