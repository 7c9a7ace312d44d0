// Intent: the size of a cluster that only the source names (__cluster_dims__), which clang checks and drops, holds: in
// templates, without all dimensions, at every level of optimisation; its races are found.

// REQUIRES: plugin, host-runtime, sim
// DEFINE: %{flags} = -fsanitize=cuda-race -gline-tables-only --offload-arch=sm_90 -Werror
// RUN: %crsan_clangxx %{flags} -O2 --cuda-device-only -S %s -o - | FileCheck %s --check-prefix=PTX
// RUN: %crsan_clangxx %{flags} -O0 -fsanitize-cuda-race-mode=metadata --cuda-device-only -S %s -o - | FileCheck %s --check-prefix=PTX
// RUN: %sim_clangxx %{flags} -fsanitize-cuda-race-mode=metadata -O2 %s -o %t.right
// RUN: %crsan run --device=sim %t.right 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim --detector=oracle %t.right 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: right
// RIGHT: SUMMARY: CRSan: no data races found
// RUN: %sim_clangxx %{flags} -fsanitize-cuda-race-mode=metadata -O2 -DRACY %s -o %t.racy
// RUN: not %crsan run --device=sim %t.racy 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: not %crsan run --device=sim --detector=oracle %t.racy 2>&1 | FileCheck %s --check-prefix=RACY
// RUN: not %crsan_clangxx -fsanitize=cuda-race -DWRONG --offload-arch=sm_90 -fsyntax-only %s 2>&1 | FileCheck %s --check-prefix=WRONG

#include <cooperative_groups.h>
#include <cstdio>

// PTX-DAG: .reqnctapercluster 4, 1, 1
template <int Blocks>
__global__ void __cluster_dims__(Blocks, 1, 1) histogram(const int *In, int *Out) {
  __shared__ int Bins[16];
  auto Cluster = cooperative_groups::this_cluster();
  if (threadIdx.x < 16)
    Bins[threadIdx.x] = 0;
#ifdef RACY
  // RACY: CRSan: data race: {{.*}} in shared memory
  __syncthreads();
#else
  Cluster.sync();
#endif
  const int V = In[blockIdx.x * blockDim.x + threadIdx.x] % (16 * Blocks);
  atomicAdd(Cluster.map_shared_rank(Bins, V / 16) + V % 16, 1);
  Cluster.sync();
  if (threadIdx.x < 16)
    Out[blockIdx.x * 16 + threadIdx.x] = Bins[threadIdx.x];
}

// PTX-DAG: .reqnctapercluster 2, 1, 1
__global__ void __cluster_dims__(2) ranks(unsigned *Out) {
  if (threadIdx.x == 0)
    Out[blockIdx.x] = cooperative_groups::this_cluster().block_rank();
}

#ifdef WRONG
// WRONG: error: {{.*}}cluster_dims
__global__ void __cluster_dims__(2, 1, 1, 1) wrong() {}
#endif

int main() {
  constexpr int N = 8 * 64;
  int *In, *Out, Host[128];
  unsigned *Ranks, Seen[4];
  cudaMalloc(&In, N * sizeof(int));
  cudaMalloc(&Out, sizeof(Host));
  cudaMalloc(&Ranks, sizeof(Seen));
  cudaMemset(In, 0x11, N * sizeof(int));
  histogram<4><<<8, 64>>>(In, Out);
  ranks<<<4, 32>>>(Ranks);
  if (cudaMemcpy(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost) != cudaSuccess ||
      cudaMemcpy(Seen, Ranks, sizeof(Seen), cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  int Sum = 0;
  for (int Count : Host)
    Sum += Count;
  const bool IsRight = Sum == N && Seen[0] == 0 && Seen[1] == 1 && Seen[2] == 0 && Seen[3] == 1;
  std::puts(IsRight ? "right" : "wrong");
  return 0;
}
