// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of warps and their blocks.
#ifndef CRSAN_DEVICE_METADATA_PLACE_H
#define CRSAN_DEVICE_METADATA_PLACE_H

#include "metadata/Tables.h"

namespace crsan::device {

/// How many blocks of this grid have numbers of their own; the next block has
/// those of the first.
DEVICE uint32_t blocksWithNumbers() { return NumWarps / warpsOfBlock(); }

/// The first number of a grid, a multiple of 32. Each grid takes as many
/// numbers as it has warps, rounded up to a power of two, and grids of one size
/// that are launched one after the other take these parts of all numbers in
/// turn: the accesses of two concurrent grids stay known while further ones
/// begin. Each round begins with another part, so that grids which always come
/// at the same distance do not always have the same one.
DEVICE uint32_t firstWarpOfGrid(uint64_t Grid) {
  const uint64_t Warps = blocksOfGrid() * warpsOfBlock();
  if (Warps > NumWarps / 2)
    return mix(uint32_t(Grid)) & ~31u;
  const uint32_t Last = uint32_t(Warps - 1) | 31;
  const uint32_t SizeBits = 32 - __builtin_clz(Last);
  const uint32_t Round = uint32_t(Grid) >> (WarpBits - SizeBits);
  return (uint32_t(Grid) + mix(Round)) << SizeBits;
}

/// The number of a block's first warp. Grids that run at the same time get
/// different numbers where possible.
DEVICE uint32_t firstWarp(uint64_t Grid, uint64_t Block) {
  const uint32_t InBlock = warpsOfBlock();
  // Blocks with one number have it as a whole, so that the number of a warp
  // tells its place in its block. (Division is slow.)
  const bool Divides = (InBlock & (InBlock - 1)) == 0;
  const uint32_t Number =
      Divides ? uint32_t(Block) : uint32_t(Block) % blocksWithNumbers();
  return (Number * InBlock + firstWarpOfGrid(Grid)) & (NumWarps - 1);
}

/// A hash of a grid's %gridid.
DEVICE uint32_t hashOfGrid(uint64_t Grid) {
  return uint32_t(Grid * 0x9e3779b97f4a7c15ull >> 32);
}

/// The place of a warp, in the form of WarpState::Place: the number of the
/// block's first warp, the number of warps of the block, and the index of the
/// warp in the block. A warp that is not followed has a block of 0 warps.
struct PlaceOf {
  uint32_t Bits;

  DEVICE bool isFollowed() const { return warpsInBlock() != 0; }
  /// Whether accesses are checked: the grid is not stopped.
  DEVICE bool isChecked() const { return isFollowed() && !(Bits & Stopped); }
  DEVICE uint32_t firstWarp() const { return Bits & (NumWarps - 1); }
  DEVICE uint32_t warpsInBlock() const { return Bits >> 16 & 63; }
  DEVICE uint32_t warp() const {
    return (firstWarp() + (Bits >> 22 & 31)) & (NumWarps - 1);
  }
};
/// The place of the running thread's warp, followed or not.
DEVICE PlaceOf placeHere() {
  return {firstWarp(gridHere(), linearBlock()) | warpsOfBlock() << 16 |
          (linearThread() / 32) << 22};
}

/// Whether a scope is wider than a block.
DEVICE bool isWide(Scope S) { return S != Scope::Block; }

/// The entry of a warp in a row of clocks. Warps of one block have different
/// entries. So do blocks at a distance of a power of two, which often work
/// together.
DEVICE uint32_t knownEntry(uint32_t Warp) {
  static_assert(KnownEntries == 32 && WarpBits == 15);
  Warp &= NumWarps - 1;
  return (Warp ^ Warp >> 5 ^ Warp >> 10) & (KnownEntries - 1);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_PLACE_H
