// Intent: a warp group writes the operands of a matrix product (wgmma), waits for the
// product, and writes the next ones in the same place. One of the racy twins does not wait
// for the last product, one waits when it has written already, and one lets a copy write
// (cp.async) for which it has not waited.
// FIXED: fixed
// FIXED: columns -DBY_COLUMNS=1
// FIXED: registers -DREGISTERS
// RACY: not-awaited -DPENDING=1
// RACY: not-awaited-columns -DPENDING=1 -DBY_COLUMNS=1
// RACY: not-awaited-registers -DPENDING=1 -DREGISTERS
// RACY: awaited-too-late -DLATE
// RACY: copy-in-flight -DCOPY
// GPU-ONLY
// BUILD: --no-offload-arch=sm_90 --offload-arch=sm_90a
// ARCH: sm_90a
#include "products.h"

#ifndef PENDING
#define PENDING 0
#endif
#ifndef BY_COLUMNS
#define BY_COLUMNS 0
#endif

constexpr unsigned Threads = 128, Blocks = 8, Steps = 32, Depth = 16;

__device__ uint64_t describeTile(const __half *Tile, unsigned Rows) {
  // Pieces of 8 x 8, first all of the first 8 columns.
  return describe(shared(Tile), 16 * Rows, 128, None);
}

__global__ void __launch_bounds__(Threads) multiply(const __half *More, float *Sums) {
  __shared__ alignas(128) __half A[64 * Depth], B[8 * Depth];
  const unsigned T = threadIdx.x;
  float D[4] = {};
  for (unsigned Step = 0; Step < Steps; ++Step) {
    const __half Element = __uint2half_rn(1 + Step % 3);
    for (unsigned I = 0; I < 8; ++I)
      A[8 * T + I] = Element; // RACE
#ifdef COPY
    if (T < Depth)
      COPY16(&B[8 * T], &More[8 * T]); // RACE
#else
    B[T] = Element; // RACE
#endif
    fenceForCopies();
#ifdef LATE
    awaitProducts(D);
#endif
    __syncthreads();
    beginProducts();
#ifdef REGISTERS
    const __half2 Pair = __half2half2(Element);
    const unsigned Bits = reinterpret_cast<const unsigned &>(Pair);
    const unsigned InRegisters[4] = {Bits, Bits, Bits, Bits};
    MULTIPLY_REGISTERS(D, InRegisters, describeTile(B, 8)); // RACE
#else
    MULTIPLY_AS(D, describeTile(A, 64), describeTile(B, 8), BY_COLUMNS, BY_COLUMNS); // RACE
#endif
    commitProducts();
#ifndef LATE
    awaitProducts<PENDING>(D);
#endif
    __syncthreads();
  }
  awaitProducts(D);
  for (unsigned J = 0; J < 4; ++J)
    Sums[(blockIdx.x * Threads + T) * 4 + J] = D[J];
}

int main() {
  constexpr unsigned N = Blocks * Threads * 4;
  float *Sums = zeroed<float>(N), Want = 0;
  for (unsigned Step = 0; Step < Steps; ++Step)
    Want += Depth * float((1 + Step % 3) * (1 + Step % 3));
  multiply<<<Blocks, Threads>>>(zeroed<__half>(8 * Depth), Sums);
  return finish(matches(Sums, N, [&](size_t) { return Want; }));
}
