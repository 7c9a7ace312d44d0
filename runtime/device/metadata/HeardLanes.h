// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps which lanes a lane may have heard of: from which lane numbers of its
// block a chain of releases and acquires may lead to it.
//
// A warp's clock in a sync cell stands for all lanes of the warp. To tell lanes
// apart, each sync cell of a block also has a mask of lane numbers (of any warp
// of the block) that a thread acquiring from the cell may hear of since the
// block's last barrier; and each lane keeps from which cells it has acquired.
#ifndef CRSAN_DEVICE_METADATA_HEARDLANES_H
#define CRSAN_DEVICE_METADATA_HEARDLANES_H

#include "metadata/SyncCell.h"

namespace crsan::device {

/// Bits of LaneStates::ToldInBlock: from which of the block's cells this lane
/// has acquired. AnySource: from another cell, or from an unknown source.
constexpr uint32_t SourcesAt = 8, AnySource = 1u << (SourcesAt + SubCells),
                   AllSources = ((2u << SubCells) - 1) << SourcesAt;
static_assert(SubCells <= SourcesAt);
/// Position in WarpState::Flags of the sources of all lanes of the warp.
constexpr uint32_t WarpSourcesShift = 8;

/// The number of the current interval between two barriers of the block, as the
/// upper half of SyncCell::Lanes holds it. Later intervals have larger numbers,
/// and blocks that share cells have different numbers.
DEVICE uint32_t intervalOf(const Self &Me) {
  const WarpState &W = Me.warp();
  const uint32_t Barrier = loadRelaxed(W.Barrier);
  const uint32_t Passed = Barrier > loadRelaxed(W.Start) ? Barrier : 0;
  return Passed < (1u << (32 - WarpBits)) - 1
             ? Passed << WarpBits | Me.firstWarp()
             : ~0u;
}

/// Notes that this lane has acquired from `Cell`. `Flags` are the flags of its
/// warp.
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

/// The lanes of the block that this lane may have heard of, by a chain of
/// releases and acquires that begins after the block's last barrier.
DEVICE uint32_t lanesHeardOf(const Self &Me, const LaneRef &T) {
  const WarpState &W = Me.warp();
  const uint32_t Interval = intervalOf(Me);
  uint32_t Sources = T.ToldInBlock & AllSources;
  // Lanes that have met at a barrier of the whole warp share their sources.
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

/// Adds the lanes that this lane may have heard of to the mask of `Cell`, one
/// of the block's cells, before a release to it.
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

#endif // CRSAN_DEVICE_METADATA_HEARDLANES_H
