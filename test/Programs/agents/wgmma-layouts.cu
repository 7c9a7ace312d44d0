// Intent: for each layout of an operand of wgmma, the pieces of 16 bytes that the hardware
// reads in shared memory are those that CRSan checks. A product is made of zeros but for
// one piece, and the result says whether that piece belongs to the operand.
// CLEAN-ONLY
// GPU-ONLY
// BUILD: --no-offload-arch=sm_90 --offload-arch=sm_90a
// ARCH: sm_90a
#include "products.h"
#include <crsan/abi/MatrixOperand.h>

constexpr unsigned Threads = 128, Bytes = 32 * 1024;
/// Of the other operand, which is all ones and lies behind what is tried.
constexpr unsigned OnesBytes = 2048;

struct Layout {
  unsigned Start, Leading, Stride;
  Swizzle Mode;
};

/// Hit[I]: whether piece I belongs to the operand, which is the first or the second one,
/// and by columns or by rows.
template <bool ByColumns, bool IsFirst>
__global__ void __launch_bounds__(Threads) tryAll(Layout L, unsigned *Hit) {
  extern __shared__ unsigned char Dynamic[];
  unsigned char *Memory = Dynamic + (1024 - shared(Dynamic) % 1024) % 1024;
  auto *Words = reinterpret_cast<uint4 *>(Memory);
  const unsigned T = threadIdx.x;
  constexpr unsigned Ones = 0x3c003c00; // Two halves.
  for (unsigned I = T; I < Bytes / 16; I += Threads)
    Words[I] = make_uint4(0, 0, 0, 0);
  for (unsigned I = T; I < OnesBytes / 16; I += Threads)
    Words[Bytes / 16 + I] = make_uint4(Ones, Ones, Ones, Ones);
  __syncthreads();
  const uint64_t Tried = describe(shared(Memory) + L.Start, L.Leading, L.Stride, L.Mode);
  const uint64_t Other = describe(shared(Memory) + Bytes, 128, 256, None);
  for (unsigned I = 0; I < Bytes / 16; ++I) {
    if (T == 0)
      Words[I] = make_uint4(Ones, Ones, Ones, Ones);
    fenceForCopies();
    __syncthreads();
    float D[4] = {};
    beginProducts();
    if constexpr (IsFirst)
      MULTIPLY_AS(D, Tried, Other, int(ByColumns), 0);
    else
      MULTIPLY_AS(D, Other, Tried, 0, int(ByColumns));
    commitProducts();
    awaitProducts(D);
    const bool Found = D[0] != 0 || D[1] != 0 || D[2] != 0 || D[3] != 0;
    if (__syncthreads_or(Found) && T == 0)
      Hit[I] = 1;
    if (T == 0)
      Words[I] = make_uint4(0, 0, 0, 0);
  }
}

/// What CRSan takes the operand to be, in memory that begins at 0.
std::vector<unsigned> expected(Layout L, unsigned Shape) {
  std::vector<unsigned> Pieces(Bytes / 16);
  const crsan::abi::MatrixOperand O{describe(L.Start, L.Leading, L.Stride, L.Mode),
                                    Shape};
  if (!O.isKnown()) {
    std::printf("a layout is not known\n");
    std::exit(1);
  }
  for (unsigned I = 0; I < O.numPieces(); ++I)
    Pieces[O.piece(I) / 16] = 1;
  return Pieces;
}

template <bool ByColumns, bool IsFirst> bool areAsExpected(std::vector<Layout> Layouts) {
  const unsigned Shape = (IsFirst ? 64 : 8) | (ByColumns ? crsan::abi::ByColumns : 0);
  constexpr unsigned Shared = Bytes + OnesBytes + 1024;
  CHECK(cudaFuncSetAttribute(tryAll<ByColumns, IsFirst>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, Shared));
  bool Right = true;
  for (const Layout &L : Layouts) {
    auto *Hit = zeroed<unsigned>(Bytes / 16);
    tryAll<ByColumns, IsFirst><<<1, Threads, Shared>>>(L, Hit);
    const auto Want = expected(L, Shape);
    if (matches(Hit, Bytes / 16, [&](size_t I) { return Want[I]; }))
      continue;
    Right = false;
    std::printf("%s operand, %s, mode %d, start %u, offsets %u and %u: differs\n",
                IsFirst ? "first" : "second", ByColumns ? "by columns" : "by rows",
                int(L.Mode), L.Start, L.Leading, L.Stride);
  }
  return Right;
}

int main() {
  bool Right = areAsExpected<false, true>({{0, 128, 256, None},
                                           {512, 2048, 128, None},
                                           {0, 16, 1024, Lines128},
                                           {32, 16, 1024, Lines128},
                                           {96, 16, 2048, Lines128},
                                           {1024, 16, 512, Lines64},
                                           {32, 16, 1024, Lines64},
                                           {256, 16, 256, Lines32},
                                           {0, 16, 768, Lines32}});
  Right &= areAsExpected<false, false>({{0, 128, 256, None},
                                        {16, 1024, 0, None},
                                        {1024 + 64, 16, 1024, Lines128},
                                        {32, 16, 512, Lines64},
                                        {256, 16, 256, Lines32}});
  Right &= areAsExpected<true, true>({{0, 128, 256, None},
                                      {0, 2048, 128, None},
                                      {1024, 16, 1024, Lines128},
                                      {0, 1024, 4096, Lines128},
                                      {0, 1024, 512, Lines64},
                                      {512, 2048, 1024, Lines64},
                                      {0, 512, 256, Lines32},
                                      {256, 256, 2048, Lines32}});
  Right &= areAsExpected<true, false>({{0, 128, 256, None}, {32, 1024, 0, None}});
  return finish(Right);
}
