// Intent: a warp group fills stages of operands, and two others multiply them (wgmma). One
// thread of each that multiplies says for its warp group that a stage is free: where one
// of its warps has waited for a product, the product is done. In the racy twin that thread
// does not wait for the last product.
// FIXED: fixed
// RACY: freed-too-early -DPENDING=2
// GPU-ONLY
// BUILD: --no-offload-arch=sm_90 --offload-arch=sm_90a
// ARCH: sm_90a
#include "products.h"

#ifndef PENDING
#define PENDING 1
#endif

constexpr unsigned InGroup = 128, Groups = 2, Blocks = 8;
constexpr unsigned Stages = 2, Steps = 24, Depth = 16;

struct Stage {
  alignas(128) __half A[Groups][64 * Depth], B[8 * Depth];
};

struct Pipeline {
  Stage All[Stages];
  uint64_t Full[Stages], Empty[Stages];
};

__device__ void fill(Pipeline &P) {
  const unsigned T = threadIdx.x;
  for (unsigned Step = 0; Step < Steps; ++Step) {
    const unsigned S = Step % Stages, Turn = Step / Stages;
    if (Turn > 0)
      wait(&P.Empty[S], (Turn - 1) & 1);
    const __half Element = __uint2half_rn(1 + Step % 3);
    for (unsigned I = T; I < Groups * 64 * Depth; I += InGroup)
      P.All[S].A[0][I] = Element; // RACE
    P.All[S].B[T] = Element;      // RACE
    fenceForCopies();
    arrive(&P.Full[S]);
  }
}

__device__ void multiply(Pipeline &P, unsigned Group, float (&D)[4]) {
  // Any of them: here one of the third warp.
  const bool Tells = threadIdx.x % InGroup == 77;
  for (unsigned Step = 0; Step < Steps; ++Step) {
    const unsigned S = Step % Stages;
    wait(&P.Full[S], Step / Stages & 1);
    beginProducts();
    MULTIPLY(D, describe(shared(P.All[S].A[Group]), 128, 256, None), // RACE
             describe(shared(P.All[S].B), 128, 256, None));
    commitProducts();
    // The product before this one is done.
    awaitProducts<PENDING>(D);
    if (Step > 0 && Tells)
      arrive(&P.Empty[(Step - 1) % Stages]);
  }
  awaitProducts(D);
}

__global__ void __launch_bounds__((1 + Groups) * InGroup) work(float *Sums) {
  __shared__ Pipeline P;
  if (threadIdx.x < Stages) {
    initBarrier(&P.Full[threadIdx.x], InGroup);
    initBarrier(&P.Empty[threadIdx.x], Groups);
  }
  __syncthreads();
  if (threadIdx.x < InGroup)
    return fill(P);
  float D[4] = {};
  multiply(P, threadIdx.x / InGroup - 1, D);
  for (unsigned J = 0; J < 4; ++J)
    Sums[(blockIdx.x * Groups * InGroup + threadIdx.x - InGroup) * 4 + J] = D[J];
}

int main() {
  constexpr unsigned N = Blocks * Groups * InGroup * 4;
  float *Sums = zeroed<float>(N), Want = 0;
  for (unsigned Step = 0; Step < Steps; ++Step)
    Want += Depth * float((1 + Step % 3) * (1 + Step % 3));
  work<<<Blocks, (1 + Groups) * InGroup>>>(Sums);
  return finish(matches(Sums, N, [&](size_t) { return Want; }));
}
