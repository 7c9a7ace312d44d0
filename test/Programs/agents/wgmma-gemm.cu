// Intent: a warp group multiplies tiles in shared memory (wgmma) while it brings the next
// ones to another stage by cp.async. It refills a stage when the product that reads it is
// done (wgmma.wait_group). All elements of a tile are equal, so that the order of elements
// does not matter. The racy twins refill a stage before that, or do not wait for its copy.
// FIXED: fixed
// RACY: refilled-too-early -DPENDING=2
// RACY: copy-not-awaited -DKEEP=2
// GPU-ONLY
// BUILD: --no-offload-arch=sm_90 --offload-arch=sm_90a
// ARCH: sm_90a
#include "asynchronous.h"

#include <cuda_fp16.h>

#ifndef PENDING
#define PENDING 1
#endif
#ifndef KEEP
#define KEEP 1
#endif

constexpr unsigned Threads = 128, Stages = 3, Steps = 64, Blocks = 4;
constexpr unsigned Rows = 64, Columns = 8, Depth = 16;

/// Pieces of 8 x 8 halves.
struct Stage {
  alignas(128) __half A[Rows * Depth];
  alignas(128) __half B[Columns * Depth];
};

/// A matrix descriptor without swizzling.
__device__ uint64_t describe(const void *Tile, unsigned BytesOfARow) {
  return uint64_t(shared(Tile) & 0x3ffff) >> 4 | uint64_t(128 >> 4) << 16 |
         uint64_t(BytesOfARow >> 4) << 32;
}

#define MULTIPLY(D, A, B)                                                      \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, 0, 1;\n\t"                      \
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "            \
               "{%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0; }"                       \
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])                \
               : "l"(describe(A, 256)), "l"(describe(B, 256))                  \
               : "memory")

__device__ __forceinline__ void bring(Stage &To, const __half *A, const __half *B) {
  const unsigned T = threadIdx.x;
  COPY16(&To.A[8 * T], &A[8 * T]); // RACE
  if (T < Columns * Depth / 8)
    COPY16(&To.B[8 * T], &B[8 * T]); // RACE
}

__global__ void multiply(const __half *A, const __half *B, float *C) {
  __shared__ Stage All[Stages];
  float D[4] = {};
  auto Refill = [&](unsigned Step) {
    if (Step < Steps)
      bring(All[Step % Stages], A + Step * Rows * Depth, B + Step * Columns * Depth);
    commitCopies(); // An empty group at the end, so that the count holds.
  };
  Refill(0);
  Refill(1);
  for (unsigned Step = 0; Step < Steps; ++Step) {
    const Stage &S = All[Step % Stages];
    awaitCopies<KEEP>();
    fenceForCopies();
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    MULTIPLY(D, S.A, S.B); // RACE
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    // The product before this one is done, in all warps, and its stage is free.
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
    __syncthreads();
    Refill(Step + 2);
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;"
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])::"memory");
  for (unsigned J = 0; J < 4; ++J)
    C[(blockIdx.x * Threads + threadIdx.x) * 4 + J] = D[J];
}

int main() {
  std::vector<__half> A, B;
  float Want = 0;
  for (unsigned S = 0; S < Steps; ++S) {
    const float OfA = float(1 + S % 7), OfB = float(1 + S % 5);
    A.insert(A.end(), Rows * Depth, __float2half(OfA));
    B.insert(B.end(), Columns * Depth, __float2half(OfB));
    Want += Depth * OfA * OfB;
  }
  constexpr unsigned N = Blocks * Threads * 4;
  float *C = zeroed<float>(N);
  multiply<<<Blocks, Threads>>>(upload(A), upload(B), C);
  return finish(matches(C, N, [&](size_t) { return Want; }));
}
