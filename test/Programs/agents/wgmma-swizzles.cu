// Intent: a tile of swizzled lines is multiplied in steps of 32 bytes along its lines
// (wgmma), each step a group of its own. When half of the steps are done, their parts of
// the tile are written again, while the others are still being read. The racy twins write
// the part of a step that is not done.
// FIXED: lines-of-128 -DMODE=1
// FIXED: lines-of-64 -DMODE=2
// FIXED: columns-of-128 -DMODE=1 -DBY_COLUMNS=1
// FIXED: columns-of-32 -DMODE=3 -DBY_COLUMNS=1
// RACY: early-in-128 -DMODE=1 -DEARLY
// RACY: early-in-64 -DMODE=2 -DEARLY
// RACY: early-in-columns-of-128 -DMODE=1 -DBY_COLUMNS=1 -DEARLY
// RACY: early-in-columns-of-32 -DMODE=3 -DBY_COLUMNS=1 -DEARLY
// UNSEEN: collider: it watches few products, and 8 bytes of each
// GPU-ONLY
// BUILD: --no-offload-arch=sm_90 --offload-arch=sm_90a
// ARCH: sm_90a
#include "products.h"

#ifndef BY_COLUMNS
#define BY_COLUMNS 0
#endif

constexpr unsigned Threads = 128, Blocks = 8, Rounds = 8, Rows = 64;
constexpr unsigned LineBytes = 256 >> MODE, Width = LineBytes / 16;
/// By rows, a line has several steps; by columns, a step has 16 lines.
constexpr unsigned Steps = BY_COLUMNS ? 2 : LineBytes / 32, Done = Steps / 2;
constexpr unsigned Pattern = 8 * LineBytes, Bytes = Steps * Rows * 32;

/// Where a piece of 16 bytes is that would lie at \p At without swizzling.
__device__ unsigned swizzled(unsigned At) { return At ^ (At >> 7 & (Width - 1)) << 4; }

/// Piece \p I of 128 of a step, in a tile at 0.
__device__ unsigned pieceOf(unsigned Step, unsigned I) {
  if (!BY_COLUMNS)
    return swizzled(I / 16 * Pattern + I / 2 % 8 * LineBytes + Step * 32 + I % 2 * 16);
  const unsigned Column = I / 16, K = Step * 16 + I % 16;
  return swizzled((Column / Width * 2 * Steps + K / 8) * Pattern + K % 8 * LineBytes +
                  Column % Width * 16);
}

__device__ uint64_t describeStep(const void *Tile, unsigned Step) {
  return BY_COLUMNS ? describe(shared(Tile) + Step * 2 * Pattern, 2 * Steps * Pattern,
                               Pattern, Swizzle(MODE))
                    : describe(shared(Tile) + Step * 32, 16, Pattern, Swizzle(MODE));
}

__global__ void __launch_bounds__(Threads) multiply(float *Sums) {
  __shared__ alignas(1024) unsigned char Tile[Bytes];
  __shared__ alignas(128) __half B[8 * 16];
  const unsigned T = threadIdx.x;
  auto Fill = [&](unsigned Step, unsigned Value) {
    const __half2 Pair = __half2half2(__uint2half_rn(Value));
    const unsigned Two = reinterpret_cast<const unsigned &>(Pair);
    *reinterpret_cast<uint4 *>(&Tile[pieceOf(Step, T)]) = // RACE
        make_uint4(Two, Two, Two, Two);
  };
  float D[4] = {};
  B[T] = __uint2half_rn(1);
  for (unsigned Step = 0; Step < Steps; ++Step)
    Fill(Step, 1);
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    fenceForCopies();
    __syncthreads();
    beginProducts();
#pragma unroll
    for (unsigned Step = 0; Step < Steps; ++Step) {
      MULTIPLY_AS(D, describeStep(Tile, Step), // RACE
                  describe(shared(B), 128, 256, None), BY_COLUMNS, 0);
      commitProducts();
    }
    awaitProducts<Steps - Done>(D);
    __syncthreads();
    for (unsigned Step = 0; Step < Done; ++Step)
      Fill(Step, 2 + Round);
#ifdef EARLY
    Fill(Steps - 1, 2 + Round);
#endif
    awaitProducts(D);
    __syncthreads();
    for (unsigned Step = Done; Step < Steps; ++Step)
      Fill(Step, 2 + Round);
  }
  for (unsigned J = 0; J < 4; ++J)
    Sums[(blockIdx.x * Threads + T) * 4 + J] = D[J];
}

int main() {
  constexpr unsigned N = Blocks * Threads * 4;
  float *Sums = zeroed<float>(N), Want = 0;
  for (unsigned Round = 0; Round < Rounds; ++Round)
    Want += Steps * 16 * float(1 + Round);
  multiply<<<Blocks, Threads>>>(Sums);
  return finish(matches(Sums, N, [&](size_t) { return Want; }));
}
