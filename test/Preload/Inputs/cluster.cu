// Clusters, by a launch attribute and by __cluster_dims__: blocks read each other's shared memory.
#include "common.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
constexpr unsigned Blocks = 8, Turns = 50;
__device__ void exchange(unsigned *Out) {
  __shared__ unsigned Tile[Threads];
  auto Cluster = cg::this_cluster();
  unsigned *Other = Cluster.map_shared_rank(Tile, Cluster.block_rank() ^ 1), Sum = 0;
  for (unsigned R = 1; R <= Turns; ++R) {
    Tile[threadIdx.x] = R + blockIdx.x; // RACE
#ifndef RACY
    Cluster.sync();
#endif
    Sum += Other[threadIdx.x]; // RACE
    Cluster.sync();
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}
__global__ void byAttribute(unsigned *Out) { exchange(Out); }
__global__ void __cluster_dims__(2, 1, 1) bySource(unsigned *Out) { exchange(Out); }
static void compare(unsigned *Out) {
  std::vector<unsigned> Host(Blocks * Threads);
  CHECK(cudaMemcpy(Host.data(), Out, 4 * Host.size(), cudaMemcpyDeviceToHost));
  for (unsigned I = 0; I < Host.size(); ++I)
    expect(Host[I], Turns * (Turns + 1) / 2 + Turns * (I / Threads ^ 1), "out");
}
int main() {
  unsigned *Out;
  CHECK(cudaMalloc(&Out, 4 * Blocks * Threads));
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Blocks;
  Config.blockDim = Threads;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&Config, byAttribute, Out));
  compare(Out);
  bySource<<<Blocks, Threads>>>(Out);
  compare(Out);
  return finish();
}
