// Intent: cooperative groups use the shared memory that the system reserves, by its special
// registers, which unoptimised code reads for every tile; running over the end of a block's own
// shared memory is still seen.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O0 --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t 2>&1 | FileCheck %s
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t.optimised
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --detector=oracle %t.optimised 2>&1 | FileCheck %s
// CHECK: right
// CHECK: SUMMARY: CRSan: no data races found
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 68 %crsan run --detector=oracle %t.optimised over 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: beyond the block's {{[0-9]+}} bytes of shared memory

#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__global__ void ranks(int *Out, int Over) {
  __shared__ int Own[64];
  auto Tile = cg::tiled_partition<16>(cg::this_thread_block());
  Own[threadIdx.x + Over] = Tile.thread_rank();
  Tile.sync();
  Out[threadIdx.x] = Own[threadIdx.x ^ 1];
}
__global__ void registers(unsigned *Out) {
  asm("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(Out[0]));
  asm("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(Out[1]));
  asm("mov.u32 %0, %%reserved_smem_offset_cap;" : "=r"(Out[2]));
  asm("mov.u32 %0, %%reserved_smem_offset_0;" : "=r"(Out[3]));
  asm("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(Out[4]));
}

int main(int Argc, char **) {
  int *Out, Host[64];
  cudaMalloc(&Out, sizeof(Host));
  ranks<<<1, 64>>>(Out, Argc == 1 ? 0 : 1000);
  cudaMemcpy(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost);
  bool Right = Host[17] == 0 && Host[16] == 1;
  registers<<<1, 1>>>((unsigned *)Out);
  cudaMemcpy(Host, Out, 20, cudaMemcpyDeviceToHost);
  Right &= Host[0] <= Host[3] && Host[3] < Host[4] && Host[4] < Host[1] &&
           Host[1] - Host[0] == Host[2];
  puts(Right ? "right" : "wrong");
}
