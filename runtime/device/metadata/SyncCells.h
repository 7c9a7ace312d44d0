//===- SyncCells.h - What synchronisation objects hand on ------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_SYNCCELLS_H
#define CRSAN_DEVICE_METADATA_SYNCCELLS_H

#include "metadata/Clocks.h"

namespace crsan::device {

/// The first cells: every release to other blocks goes into one of them, by its
/// warp, whatever its own. An access that is in none is known to nobody outside
/// its block: neither to another grid nor to the host.
constexpr uint32_t NumAnyWide = 4;

/// What is known of those of whom everything may be known: no clock is larger.
constexpr uint32_t Everything = ~0u;

/// Objects below are barriers, by number.
constexpr uint64_t FirstAddress = 4096;

DEVICE uint32_t hashOf(uint64_t Object) {
  const uint64_t Product = Object * 0x9e3779b97f4a7c15ull;
  // What has only upper bits would leave the lower ones as regular as it is.
  return uint32_t(Product >> 32) ^ uint32_t(Product >> 45);
}
DEVICE uint32_t wideCellOf(uint64_t Key) {
  const uint32_t Cell = hashOf(Key) % NumWideCells;
  return Cell < NumAnyWide ? Cell + NumAnyWide : Cell;
}

/// Whether only threads of this block can see what happens at `A`: it is in
/// shared memory, and there is no cluster.
DEVICE bool isOfBlock(Address A) {
  return spaceOf(A) == Space::Shared && __crsan_cluster_extent(0) *
                                                __crsan_cluster_extent(1) *
                                                __crsan_cluster_extent(2) ==
                                            1;
}

/// What all objects are to those who synchronise through them beyond a block,
/// but memory that is tracked. Blocks of a cluster see each other's shared
/// memory, and one object of it at several addresses: all of theirs are one.
DEVICE uint64_t keyOfCluster() {
  auto Of = [](uint32_t Block, uint32_t D) {
    return Block / __crsan_cluster_extent(D);
  };
  return gridHere() * 0x9e3779b97f4a7c15ull +
         (uint64_t(Of(__nvvm_read_ptx_sreg_ctaid_z(), 2)) << 42 |
          uint64_t(Of(__nvvm_read_ptx_sreg_ctaid_y(), 1)) << 21 |
          Of(__nvvm_read_ptx_sreg_ctaid_x(), 0));
}

/// The first of a block's SubCells. Blocks at the distance of a power of two
/// often work on the same data.
DEVICE uint32_t syncCellsOf(uint64_t Grid, uint64_t Block) {
  return NumWideCells + hashOf(Block << 32 ^ Grid) * SubCells % NumWideCells;
}

/// The two cells of an object: what was released to anybody, and what was
/// released to threads of one block.
struct SyncCells {
  uint32_t Wide; ///< 0: it is for its block alone.
  uint32_t Sub;  ///< Among those of the block.

  DEVICE SyncCells(uint64_t Object, bool IsWide)
      : Wide(0), Sub(subCellOf(granule(Object))) {
    if (!IsWide)
      return;
    const bool IsMemory = Object >= FirstAddress;
    const bool IsTracked = IsMemory && spaceOf(Object) == Space::Global &&
                           PageRef(Object).isTracked();
    Wide = wideCellOf(IsTracked ? granule(Object) : keyOfCluster());
  }
  /// Of memory, accesses of 16 bytes may synchronise with smaller ones in them.
  DEVICE static uint64_t granule(uint64_t Object) {
    return Object < FirstAddress ? Object : Object & ~uint64_t(15);
  }
  DEVICE static uint32_t subCellOf(uint64_t Object) {
    // Named barriers that are used together most often have cells of their own.
    return uint32_t(Object < FirstAddress ? Object : hashOf(Object)) % SubCells;
  }
  DEVICE uint32_t ofBlock(const Self &Me) const {
    return loadNear(Me.warp().SyncCells) + Sub;
  }
  DEVICE static SyncCell &at(uint32_t Cell) {
    return table<SyncCell>(SyncCellsAt)[Cell];
  }
  /// The cell of the barrier of this thread's block.
  DEVICE static uint32_t ofBarrier(const Self &Me) {
    return NumObjectCells + Me.firstWarp();
  }
};
static_assert(NumWideCells % SubCells == 0);

//===----------------------------------------------------------------------===//
// Which lanes have told: a warp's clock in a cell stands for all its lanes. So
// each of the block's cells has a mask besides, of the lanes, by their number
// in whichever warp, of which whoever acquires from it may have heard since the
// block's last barrier; and each lane keeps from which cells it has acquired.
//===----------------------------------------------------------------------===//

/// In LaneStates::ToldInBlock: from which of the block's cells this lane has
/// acquired. AnySource: from elsewhere, or anything.
constexpr uint32_t SourcesAt = 8, AnySource = 1u << (SourcesAt + SubCells),
                   AllSources = ((2u << SubCells) - 1) << SourcesAt;
static_assert(SubCells <= SourcesAt);
/// In WarpState::Flags: what its lanes have there, all together.
constexpr uint32_t WarpSourcesShift = 8;

/// Between which of its barriers the block is, as its cells have it in their
/// upper halves; later ones are larger. Blocks that share cells differ in it.
DEVICE uint32_t intervalOf(const Self &Me) {
  const WarpState &W = Me.warp();
  const uint32_t Barrier = loadRelaxed(W.Barrier);
  const uint32_t Passed = Barrier > loadRelaxed(W.Start) ? Barrier : 0;
  return Passed < (1u << (32 - WarpBits)) - 1
             ? Passed << WarpBits | Me.firstWarp()
             : ~0u;
}

/// This lane has acquired from a cell. `Flags`: its warp's.
DEVICE void noteSource(const Self &Me, const LaneRef &T, uint32_t Cell,
                       uint32_t Flags) {
  const uint32_t Source =
      Cell < NumWideCells
          ? AnySource
          : 1u << (SourcesAt + Cell - loadNear(Me.warp().SyncCells));
  const uint32_t Has = T.ToldInBlock;
  if (!(Has & Source))
    T.ToldInBlock = Has | Source;
  if (!(Flags >> WarpSourcesShift & Source))
    setFlags(Me.warp().Flags, Source << WarpSourcesShift);
}

/// The lanes of the block of which this one may have heard, by a chain that
/// begins behind the block's last barrier.
DEVICE uint32_t lanesHeardOf(const Self &Me, const LaneRef &T) {
  const WarpState &W = Me.warp();
  const uint32_t Interval = intervalOf(Me);
  uint32_t Sources = T.ToldInBlock & AllSources;
  // What one of its lanes knew, all of those that have met do.
  const uint32_t Met = loadRelaxed(W.Met);
  if (Met > loadRelaxed(W.Barrier) && Met > loadRelaxed(W.Start))
    Sources |= loadRelaxed(W.Flags) >> WarpSourcesShift & AllSources;
  uint32_t Lanes = 1u << Me.Lane | T.MetLanes;
  if (Sources & AnySource)
    return ~0u;
#pragma unroll 1
  for (Sources >>= SourcesAt; Sources; Sources &= Sources - 1) {
    const uint64_t There = loadRelaxed(
        SyncCells::at(loadNear(W.SyncCells) + __builtin_ctz(Sources)).Lanes);
    const uint32_t When = uint32_t(There >> 32);
    if (When >= Interval)
      Lanes |= When == Interval ? uint32_t(There) : ~0u;
  }
  return Lanes;
}

/// This lane is about to release to one of its block's cells.
DEVICE void tellLanes(const Self &Me, const LaneRef &T, uint32_t Cell) {
  uint64_t &To = SyncCells::at(Cell).Lanes;
  const uint64_t Interval = uint64_t(intervalOf(Me)) << 32;
  const uint32_t Lanes = lanesHeardOf(Me, T);
  const uint64_t Has = loadRelaxed(To);
  if (Has < Interval)
    asm volatile("red.relaxed.gpu.max.u64 [%0], %1;" ::"l"(&To), "l"(Interval)
                 : "memory");
  if (Has < Interval || (Lanes & ~uint32_t(Has)))
    asm volatile("red.relaxed.gpu.or.b64 [%0], %1;" ::"l"(&To),
                 "l"(uint64_t(Lanes))
                 : "memory");
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_SYNCCELLS_H
