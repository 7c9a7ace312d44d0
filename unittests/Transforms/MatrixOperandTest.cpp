// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the operands of matrix products lie.

#include "crsan/abi/MatrixOperand.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

using namespace crsan::abi;

namespace {

/// As the PTX ISA says: `Mode` is 0 without swizzling, 1 for 128 bytes, 2 for
/// 64, 3 for 32.
uint64_t describe(uint32_t Start, uint32_t Leading, uint32_t Stride,
                  uint64_t Mode) {
  auto Encode = [](uint64_t X) { return (X & 0x3ffff) >> 4; };
  return Encode(Start) | Encode(Leading) << 16 | Encode(Stride) << 32 |
         Mode << 62;
}

std::set<uint32_t> piecesOf(const MatrixOperand &O) {
  std::set<uint32_t> All;
  for (uint32_t I = 0; I < O.numPieces(); ++I)
    All.insert(O.piece(I));
  EXPECT_EQ(All.size(), O.numPieces());
  return All;
}

/// One mode of a layout: extents and strides, in elements.
struct Mode {
  uint32_t Extent, Stride;
};

/// The pieces of 16 bytes of Swizzle<Bits, 4, 3> o Layout, for elements of
/// `Bytes` bytes, from `Start` on.
std::set<uint32_t> layout(uint32_t Start, uint32_t Bits, uint32_t Bytes,
                          const std::vector<Mode> &Modes) {
  uint32_t Number = 1;
  for (const Mode &M : Modes)
    Number *= M.Extent;
  std::set<uint32_t> All;
  for (uint32_t I = 0; I < Number; ++I) {
    uint32_t Rest = I, Element = 0;
    for (const Mode &M : Modes) {
      Element += Rest % M.Extent * M.Stride;
      Rest /= M.Extent;
    }
    const uint32_t At = Start + Element * Bytes;
    const uint32_t Mask = ((1u << Bits) - 1) << 7;
    All.insert((At ^ (At & Mask) >> 3) & ~15u);
  }
  return All;
}

// Intent: the exact layouts that the PTX ISA gives as examples, with their
// offsets. The matrices there are as deep as two products, of which this is the
// first.
TEST(MatrixOperand, ExamplesOfTheManual) {
  // K-major, tf32: ((8,2),(4,4)):((4,32),(1,64)).
  const MatrixOperand Plain{describe(0x400, 256, 128, 0), 16};
  ASSERT_TRUE(Plain.isKnown());
  EXPECT_EQ(piecesOf(Plain),
            layout(0x400, 0, 4, {{8, 4}, {2, 32}, {4, 1}, {2, 64}}));
  // K-major, 32 bytes, tf32: ((8,2),(4,4)):((8,64),(1,4)).
  const MatrixOperand Narrow{describe(0x400, 16, 256, 3), 16};
  ASSERT_TRUE(Narrow.isKnown());
  EXPECT_EQ(piecesOf(Narrow),
            layout(0x400, 1, 4, {{8, 8}, {2, 64}, {4, 1}, {2, 4}}));
  // MN-major, bf16: ((8,1,2),(8,2)):((1,8,64),(8,128)).
  const MatrixOperand Columns{describe(0x400, 256, 128, 0), 16 | ByColumns};
  ASSERT_TRUE(Columns.isKnown());
  EXPECT_EQ(piecesOf(Columns),
            layout(0x400, 0, 2, {{8, 1}, {2, 64}, {8, 8}, {2, 128}}));
  // MN-major, 32 bytes, bf16: ((8,2,2),(8,2)):((1,8,128),(16,256)).
  const MatrixOperand Columns32{describe(0x400, 256, 512, 3), 32 | ByColumns};
  ASSERT_TRUE(Columns32.isKnown());
  EXPECT_EQ(piecesOf(Columns32),
            layout(0x400, 1, 2, {{8, 1}, {2, 8}, {2, 128}, {8, 16}, {2, 256}}));
  // MN-major, 64 bytes, bf16: ((8,4,2),(8,2)):((1,8,256),(32,512)).
  const MatrixOperand Columns64{describe(0x400, 512, 1024, 2), 64 | ByColumns};
  ASSERT_TRUE(Columns64.isKnown());
  EXPECT_EQ(piecesOf(Columns64),
            layout(0x400, 2, 2, {{8, 1}, {4, 8}, {2, 256}, {8, 32}, {2, 512}}));
}

// Intent: programs go along the K dimension by adding 32 bytes to the start.
// The products along a line of the pattern read disjoint pieces, and all of the
// tile together.
TEST(MatrixOperand, StepsWithinThePattern) {
  struct {
    uint64_t Mode;
    uint32_t LineBytes, Bits;
  } const Cases[] = {{1, 128, 3}, {2, 64, 2}, {3, 32, 1}};
  for (const auto &[Mode, LineBytes, Bits] : Cases) {
    constexpr uint32_t Start = 0x2000, Rows = 64;
    std::set<uint32_t> All;
    for (uint32_t Step = 0; Step < LineBytes / 32; ++Step) {
      const MatrixOperand O{
          describe(Start + 32 * Step, 16, 8 * LineBytes, Mode), Rows};
      ASSERT_TRUE(O.isKnown());
      const std::set<uint32_t> Pieces = piecesOf(O);
      EXPECT_EQ(Pieces,
                layout(Start + 32 * Step, Bits, 2,
                       {{8, LineBytes / 2}, {8, 4 * LineBytes}, {16, 1}}));
      All.insert(Pieces.begin(), Pieces.end());
    }
    EXPECT_EQ(All.size(), Rows * LineBytes / 16);
    EXPECT_EQ(*All.begin(), Start);
    EXPECT_EQ(*All.rbegin(), Start + Rows * LineBytes - 16);
  }
}

// Intent: one line of 128 bytes, piece by piece: rows exchange their pieces by
// their numbers.
TEST(MatrixOperand, RowsExchangePieces) {
  const MatrixOperand O{describe(0x800 + 32, 16, 1024, 1), 8};
  for (uint32_t Row = 0; Row < 8; ++Row)
    for (uint32_t K = 0; K < 2; ++K)
      EXPECT_EQ(O.piece(2 * Row + K), 0x800 + 128 * Row + 16 * ((2 + K) ^ Row));
}

// Intent: nothing is said of what the manual leaves open.
TEST(MatrixOperand, WhatIsNotKnown) {
  // The pattern begins somewhere else.
  EXPECT_FALSE((MatrixOperand{describe(0x480, 16, 1024, 1), 64}.isKnown()));
  EXPECT_FALSE((MatrixOperand{describe(0x440, 16, 512, 2), 64}.isKnown()));
  EXPECT_FALSE(
      (MatrixOperand{describe(0x480, 16, 1024, 1) | uint64_t(1) << 49, 64}
           .isKnown()));
  EXPECT_FALSE((MatrixOperand{describe(0x400, 16, 896, 1), 64}.isKnown()));
  // Half a step.
  EXPECT_FALSE((MatrixOperand{describe(0x410, 16, 1024, 1), 64}.isKnown()));
  // Columns that fill a part of the pattern.
  EXPECT_FALSE((
      MatrixOperand{describe(0x400, 1024, 2048, 1), 32 | ByColumns}.isKnown()));
  // What is not used need not be right.
  EXPECT_TRUE((MatrixOperand{describe(0x400, 16, 16, 1), 8}.isKnown()));
  EXPECT_TRUE(
      (MatrixOperand{describe(0x400, 16, 1024, 1), 64 | ByColumns}.isKnown()));
}

} // namespace
