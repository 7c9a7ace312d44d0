// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Releases to sync cells.
#ifndef CRSAN_DEVICE_METADATA_RELEASE_H
#define CRSAN_DEVICE_METADATA_RELEASE_H

#include "metadata/Acquire.h"

namespace crsan::device {

/// The sync cells that `tell` writes: the object's cell of the block, the
/// object's wide cell, and one of the NumAnyWide common cells.
enum ToTell : uint32_t { TellBlock = 1, TellWide = 2, TellAnybody = 4 };

/// LaneStates::ToldWide holds two wide cells of this many bits each.
constexpr uint32_t ToldCellBits = 16;
static_assert(NumWideCells <= 1u << ToldCellBits);

/// Writes what this thread knows to the cells in the mask `WhatToTell` (ToTell)
/// of the object `To`. `OwnClockWide` and `OwnClockBlock` are the clocks of its
/// warp for the wide cells and for the block's cell. `IsReleased`: the strong
/// access that follows is itself a release, so no fence is needed here.
HELPER void tell(PlaceOf Place, uint32_t WhatToTell, SyncCells To,
                 bool IsReleased, uint32_t OwnClockWide,
                 uint32_t OwnClockBlock) {
  const Self Me(Place);
  const uint32_t Block = To.ofBlock(Me);
  bool IsAgain = false;
#pragma unroll 1
  do {
    const Knowledge Known(Me);
#pragma unroll 1
    for (uint32_t Todo = WhatToTell; Todo; Todo &= Todo - 1) {
      const uint32_t This = Todo & (0u - Todo);
      const uint32_t Cell = This == TellBlock  ? Block
                            : This == TellWide ? To.Wide
                                               : Me.number() % NumAnyWide;
      Known.giveTo(Me, SyncCells::at(Cell),
                   This == TellBlock ? OwnClockBlock : OwnClockWide);
      if (This == TellBlock && (Place.Bits & TellsLanes))
        tellLanes(Me, Me.thread(), Cell);
    }
    fenceBlock();
    IsAgain = !IsAgain && isMixed(Me.warp());
    if (IsAgain)
      acquireEverything(Place);
  } while (IsAgain);
  if (IsReleased)
    return;
  // For a release that is not wide, order within the block is enough.
  if (WhatToTell & TellWide)
    fenceDevice();
  else
    fenceBlock();
}

/// Releases to the object `To`, before the strong write that makes the release
/// visible. `IsReleased` is as in `tell`. `IsMixed`: another block may have
/// overwritten the notes of what this lane has told, so everything is told.
/// Should be the last call of an entry point: the call of `tell` saves no
/// registers.
DEVICE void publish(const Self &Me, const LaneRef &T, SyncCells To,
                    bool IsReleased, bool IsMixed, uint32_t OwnClockWide,
                    uint32_t OwnClockBlock) {
  // Between two fences, all releases to an object hand on the same clocks.
  // Where everything is known, all releases do.
  const uint32_t Told = T.ToldInBlock, Sources = Told & AllSources;
  const uint32_t InBlock =
      T.ToldInBlockClock >= OwnClockBlock ? Told & ~Sources : 0;
  const uint32_t Wide = T.ToldWideClock >= OwnClockWide ? T.ToldWide : 0;
  uint32_t Todo = InBlock >> To.Sub & 1 ? 0 : TellBlock;
  if (To.Wide && Wide % (1u << ToldCellBits) != To.Wide &&
      Wide >> ToldCellBits != To.Wide)
    Todo |= TellWide | (Wide ? 0 : TellAnybody);
  if (IsMixed)
    Todo = TellBlock | (To.Wide ? TellWide | TellAnybody : 0);
  if (!Todo)
    return;
  T.Release = loadNear(Me.warp().Clock);
  // If the access itself is the release, no fence follows the stores of `tell`,
  // so later relaxed writes must tell again.
  if (!IsReleased) {
    if (Todo & TellBlock) {
      T.ToldInBlock = Sources | InBlock | 1u << To.Sub;
      T.ToldInBlockClock = OwnClockBlock;
    }
    if (Todo & TellWide) {
      T.ToldWide = Wide << ToldCellBits | To.Wide;
      T.ToldWideClock = OwnClockWide;
    }
  }
  tell(Me.Place, Todo, To, IsReleased, OwnClockWide, OwnClockBlock);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_RELEASE_H
