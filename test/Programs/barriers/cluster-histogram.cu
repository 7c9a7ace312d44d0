// Intent: the blocks of a cluster hold a part of a histogram each, in shared memory, and
// add to each other's. The racy twin's blocks read their part before all have added.
// ARCH: sm_90
// UNSEEN-GPU: collider: an addition is seldom under way while a check looks at a counter
// UNSEEN: metadata: what this block's additions have read before its barrier may be the other block's addition
#include "../check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned Threads = 32, Cluster = 2, Blocks = 4, Bins = 32, Each = 4;

__global__ void count(unsigned *Out) {
  __shared__ unsigned Part[Bins];
  cg::cluster_group Group = cg::this_cluster();
  unsigned T = threadIdx.x, Rank = Group.block_rank();
  Part[T] = 0;
  Group.sync();
  for (unsigned I = 0; I < Each; ++I) {
    unsigned Bin = (T * 5 + I * 3 + Rank) % (Bins * Cluster);
    atomicAdd(Group.map_shared_rank(&Part[Bin % Bins], Bin / Bins), 1); // RACE
  }
#ifdef RACY
  __syncthreads();
#else
  Group.sync();
#endif
  Out[blockIdx.x * Bins + T] = Part[T]; // RACE
#ifdef RACY
  Group.sync();
#endif
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * Bins);
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim = {Cluster, 1, 1};
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Blocks;
  Config.blockDim = Threads;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&Config, count, Out));
  std::vector<unsigned> Want(Bins * Cluster);
  for (unsigned Rank = 0; Rank < Cluster; ++Rank)
    for (unsigned T = 0; T < Threads; ++T)
      for (unsigned I = 0; I < Each; ++I)
        ++Want[(T * 5 + I * 3 + Rank) % (Bins * Cluster)];
  return finish(matches(Out, Blocks * Bins,
                        [&](size_t I) { return Want[I % (Bins * Cluster)]; }));
}
