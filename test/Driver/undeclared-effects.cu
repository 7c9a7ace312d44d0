// Intent: the functions of clang's and CUDA's headers whose assembly declares no effects and has some: none is deleted
// where its result is unused, nor merged with another across a barrier. (All of clang 22 and CUDA 13.0, but for
// textures, surfaces and clang's own __ldcg and __ldcs: compat-hints.cu.)

// REQUIRES: plugin, host-runtime, sim
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 --cuda-device-only -S %s -o - | FileCheck %s
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: %crsan run --detector=oracle %t 2>&1 | FileCheck %s --check-prefix=SUMS

#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

// __clang_cuda_intrinsics.h
__global__ void atomics(float2 *P, float4 *Q) {
  // CHECK-LABEL: .entry _Z7atomics
  // CHECK: atom.add.v2.f32
  atomicAdd(P, make_float2(1, 2));
  // CHECK: atom.cta.add.v2.f32
  atomicAdd_block(P + 1 + blockIdx.x, make_float2(1, 2));
  // CHECK: atom.sys.add.v2.f32
  atomicAdd_system(P, make_float2(1, 2));
  // CHECK: atom.add.v4.f32
  atomicAdd(Q, make_float4(1, 2, 3, 4));
  // CHECK: atom.cta.add.v4.f32
  atomicAdd_block(Q + 1 + blockIdx.x, make_float4(1, 2, 3, 4));
  // CHECK: atom.sys.add.v4.f32
  atomicAdd_system(Q, make_float4(1, 2, 3, 4));
}

// cuda_fp16.hpp, cuda_bf16.hpp
template <class T> __device__ T twice(const T *P) {
  T A = __ldcg(P), B = __ldca(P), C = __ldcs(P);
  __syncthreads();
  return A + B + C + __ldcg(P) + __ldca(P) + __ldcs(P);
}
__global__ void loads(__half *P, __half2 *P2, __nv_bfloat16 *Q,
                      __nv_bfloat162 *Q2) {
  // CHECK-LABEL: .entry _Z5loads
  // CHECK: ld.global.cg.b16
  // CHECK: ld.global.ca.b16
  // CHECK: ld.global.cs.b16
  // CHECK: bar
  // CHECK: ld.global.cg.b16
  // CHECK: ld.global.ca.b16
  // CHECK: ld.global.cs.b16
  P[1] = twice(P);
  // CHECK: ld.global.cg.b32
  // CHECK: bar
  // CHECK: ld.global.cg.b32
  P2[1] = twice(P2);
  // CHECK: ld.global.cg.b16
  // CHECK: bar
  // CHECK: ld.global.cg.b16
  Q[1] = twice(Q);
  // CHECK: ld.global.cg.b32
  // CHECK: bar
  // CHECK: ld.global.cg.b32
  Q2[1] = twice(Q2);
}

// cooperative_groups/details/invoke.h
__global__ void elects(int *P) {
  // CHECK-LABEL: .entry _Z6elects
  // CHECK: elect.sync
  // CHECK: elect.sync
  auto Tile = cg::tiled_partition<32>(cg::this_thread_block());
  cg::invoke_one(Tile, [=] { atomicAdd(P, 1); });
  cg::invoke_one(Tile, [=] { atomicAdd(P, 1); });
}

int main() {
  float2 *P, A[2];
  float4 *Q, B[2];
  cudaMalloc(&P, 3 * sizeof(*P));
  cudaMalloc(&Q, 3 * sizeof(*Q));
  cudaMemset(P, 0, 3 * sizeof(*P));
  cudaMemset(Q, 0, 3 * sizeof(*Q));
  atomics<<<2, 64>>>(P, Q);
  cudaMemcpy(A, P, sizeof(A), cudaMemcpyDefault);
  cudaMemcpy(B, Q, sizeof(B), cudaMemcpyDefault);
  std::printf("%g %g %g %g, %g %g %g %g %g %g %g %g\n", A[0].x, A[0].y, A[1].x,
              A[1].y, B[0].x, B[0].y, B[0].z, B[0].w, B[1].x, B[1].y, B[1].z,
              B[1].w);
  // SUMS: 256 512 64 128, 256 512 768 1024 64 128 192 256
}
