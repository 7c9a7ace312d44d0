// Intent: code that nvcc alone compiles is checked: shared objects with constructors,
// kernels with cluster dimensions, managed variables.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// DEFINE: %{build} = %crsan_nvcc -fsanitize=cuda-race -arch=sm_90 %s
// RUN: %{build} -o fixed && env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim ./fixed 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: done
// FIXED-NOT: data race:
// FIXED: SUMMARY: CRSan: no data races found
// RUN: %{build} -DRACY -o racy && %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --device=sim ./racy 2>&1 | FileCheck %s --check-prefix=RACY
// RACY-DAG: #0 neighbours(int*) at {{.*}}nvcc-only.cu:[[#@LINE+22]]:
// RACY-DAG: #0 pairs(int*) at {{.*}}nvcc-only.cu:[[#@LINE+33]]:

#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>

namespace cg = cooperative_groups;

__managed__ int Total;

#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void neighbours(int *Out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> Meeting;
  __shared__ int Tile[128];
  if (threadIdx.x == 0)
    init(&Meeting, blockDim.x);
  __syncthreads();
  Tile[threadIdx.x] = threadIdx.x;
#ifndef RACY
  Meeting.arrive_and_wait();
#endif
  Out[threadIdx.x] = Tile[(threadIdx.x + 32) % 128];
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *Out) {
  __shared__ int Mine[128];
  cg::cluster_group Cluster = cg::this_cluster();
  Mine[threadIdx.x] = threadIdx.x;
  Cluster.sync();
  int *Theirs = Cluster.map_shared_rank(Mine, Cluster.block_rank() ^ 1);
  Out[blockIdx.x * 128 + threadIdx.x] = Theirs[threadIdx.x];
  Cluster.sync();
#ifdef RACY
  Total += 1;
#else
  atomicAdd(&Total, 1);
#endif
}

int main() {
  int *Out;
  cudaMalloc(&Out, 256 * sizeof(int));
  neighbours<<<1, 128>>>(Out);
  pairs<<<2, 128>>>(Out);
  puts(cudaDeviceSynchronize() == cudaSuccess ? "done" : "failed");
}
