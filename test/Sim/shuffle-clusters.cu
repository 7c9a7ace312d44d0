// Intent: blocks of one cluster keep neighbouring indices in permuted grids, also behind grids of the same extent without clusters.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: %crsan run --device=sim --show-output --seeds 1-4 %t 2>&1 | FileCheck %s
// CHECK-COUNT-4: 0 blocks apart from their clusters
// CHECK: blocks shuffled
// CHECK: SUMMARY: CRSan: no data races found
#include <cooperative_groups.h>
#include <cstdio>

__global__ void single(int *Data) { Data[blockIdx.x] = 1; }

__global__ void __cluster_dims__(2, 1, 1) pairs(int *Data, int *Apart) {
  const auto Cluster = cooperative_groups::this_cluster();
  int *Mine = Data + blockIdx.x / 2 * 64 + threadIdx.x;
  if (threadIdx.x == 0 && blockIdx.x % 2 != Cluster.block_rank())
    atomicAdd(Apart, 1);
  if (Cluster.block_rank() == 0)
    Mine[0] = 1;
  Cluster.sync();
  if (Cluster.block_rank() == 1)
    Mine[32] = Mine[0];
}

int main() {
  int *Data, *Apart, Number;
  cudaMalloc(&Data, 1024);
  cudaMalloc(&Apart, 4);
  cudaMemset(Apart, 0, 4);
  for (int Launch = 0; Launch < 30; ++Launch) {
    single<<<8, 1>>>(Data);
    pairs<<<8, 32>>>(Data, Apart);
  }
  cudaMemcpy(&Number, Apart, 4, cudaMemcpyDeviceToHost);
  printf("%d blocks apart from their clusters\n", Number);
}
