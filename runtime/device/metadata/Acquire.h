// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a thread learns at an acquire.
#ifndef CRSAN_DEVICE_METADATA_ACQUIRE_H
#define CRSAN_DEVICE_METADATA_ACQUIRE_H

#include "metadata/Clock.h"
#include "metadata/HeardLanes.h"
#include "metadata/Knowledge.h"
#include "metadata/ProxyFence.h"

namespace crsan::device {

/// Marks that this thread may know of everything, since it may have acquired by
/// means that the runtime does not see. Its warp's row of clocks becomes
/// Everything. Called by each lane for itself.
HELPER void acquireEverything(PlaceOf Place) {
  const Self Me(Place);
  noteProxyFence(Place);
  storeRelaxed(metadata().HasLearned, 1);
  uint32_t *Known = Me.known();
#pragma unroll 1
  for (uint32_t I = 0; I < KnownEntries; ++I)
    raise(Known[I], Everything);
  noteSeen(Me.warp().Seen, ~uint64_t(0));
  setFlags(Me.warp().Flags, HasKnown | AnySource << WarpSourcesShift);
  noteFresh(Me.warp());
  const LaneRef T = Me.thread();
  T.ToldInBlock |= AnySource;
  T.Acquire = tick(Me);
}

/// Acquires from a sync cell: raises the row of this warp to the clocks of the
/// cell. `Cell` is the index of the cell, `T` the state of this lane. Returns
/// whether this lane has learned anything, in which case the caller steps the
/// clock and notes the clock as T.Acquire. `IsOwn`: the cell is that of the
/// block's own barrier, so that what it says need not be handed on at the next
/// barrier. Implements the acquiring side of iGUARD's synchronization metadata,
/// which the paper lacks (docs/metadata-design.md, "What each instruction
/// does").
DEVICE bool acquire(const Self &Me, const LaneRef &T, uint32_t Cell,
                    bool IsOwn = false) {
  WarpState &W = Me.warp();
  if (Cell < NumWideCells && loadRelaxed(metadata().FencedGrid) >= W.Grid)
    heedProxyFences(Me.Place);
  const SyncCell &From = SyncCells::at(Cell);
  const uint32_t Now = loadNear(W.Clock);
  const uint32_t OfOwn = loadRelaxed(From.Known[knownEntry(Me.number())]);
  const uint64_t Seen = loadRelaxed(From.Seen);
  const uint32_t Foreign = foreign();
  const uint32_t Flags = loadRelaxed(W.Flags), LastAcquire = T.Acquire;
  // Some thread may have released by means that the runtime does not see.
  if ((Flags & Opaque) || Foreign) {
    acquireEverything(Me.Place);
    return false;
  }
  if (!IsOwn && (Me.Place.Bits & TellsLanes))
    noteSource(Me, T, Cell, Flags);
  // The L1 cache may still hold the row of an earlier block of this number,
  // until this block has raised its row for the first time; before that, the
  // row counts as zero.
  const uint32_t *Known = Flags & HasKnown ? Me.known() : NoClocks;
  uint32_t IsNews = 0, Any = 0;
#pragma unroll 1
  for (uint32_t At = 0; At < KnownEntries; At += HalfRow::Entries) {
    const HalfRow Theirs(From.Known + At);
    uint32_t IsMore = 0;
#pragma unroll
    for (uint32_t I = 0; I < HalfRow::Entries; I += 4) {
      const NearClocks Ours(Known + At + I);
#pragma unroll
      for (uint32_t J = 0; J < 4; ++J) {
        IsMore |= Theirs.Of[I + J] > Ours.Of[J];
        Any |= Theirs.Of[I + J];
      }
    }
    if (IsMore)
#pragma unroll
      for (uint32_t I = 0; I < HalfRow::Entries; I += 4)
        raiseTo(Me.known() + At + I, NearClocks(Known + At + I).Of,
                Theirs.Of + I);
    IsNews |= IsMore;
  }
  noteSeenNear(W.Seen, Seen);
  // What the block's barrier hands on was read before the barrier.
  if (Seen && !IsOwn)
    noteSeenWords(Me, ~0u);
  // HasKnown may be unset although another lane has already raised the row and
  // is about to set the flag.
  if (Any && !(Flags & HasKnown)) {
    asm volatile("red.relaxed.gpu.min.u32 [%0], %1;" ::"l"(&W.Heard), "r"(Now)
                 : "memory");
    setFlags(W.Flags, HasKnown);
  }
  if (IsNews && !IsOwn)
    noteFresh(W);
  // Synchronization between lanes of one warp shows in the entry of the warp's
  // own clock.
  return IsNews || OfOwn > LastAcquire || (Any && LastAcquire == 0);
}

/// As `acquire`, when all 32 lanes of a warp come together from a barrier of
/// their block: each lane handles one clock of the row. Metadata::Foreign need
/// not be read here: a thread that acquired from foreign code has already given
/// Everything.
DEVICE bool acquireTogether(const Self &Me, const LaneRef &T, uint32_t Cell) {
  static_assert(KnownEntries == 32);
  WarpState &W = Me.warp();
  const SyncCell &From = SyncCells::at(Cell);
  const uint32_t Theirs = loadRelaxed(From.Known[Me.Lane]);
  const uint64_t Seen = loadRelaxed(From.Seen);
  const uint32_t Flags = loadRelaxed(W.Flags), LastAcquire = T.Acquire;
  const uint32_t Now = loadNear(W.Clock), OfRow = loadNear(Me.known()[Me.Lane]);
  if (__nvvm_vote_any_sync(~0u, Flags & Opaque)) {
    acquireEverything(Me.Place);
    return false;
  }
  const bool IsMore = Theirs > (Flags & HasKnown ? OfRow : 0);
  if (IsMore)
    raise(Me.known()[Me.Lane], Theirs);
  const uint32_t OfOwn = __nvvm_shfl_sync_idx_i32(~0u, int32_t(Theirs),
                                                  knownEntry(Me.number()), 31);
  const bool IsNews = __nvvm_vote_any_sync(~0u, IsMore);
  const bool Any = __nvvm_vote_any_sync(~0u, Theirs != 0);
  const bool IsUnsaid = __nvvm_vote_any_sync(~0u, !(Flags & HasKnown));
  if (Me.Lane == 0) {
    noteSeenNear(W.Seen, Seen);
    if (Any && IsUnsaid) {
      asm volatile("red.relaxed.gpu.min.u32 [%0], %1;" ::"l"(&W.Heard), "r"(Now)
                   : "memory");
      setFlags(W.Flags, HasKnown);
    }
  }
  // No lane hands on anything before all lanes have raised their clocks.
  __nvvm_bar_warp_sync(~0u);
  return IsNews || OfOwn > LastAcquire || (Any && LastAcquire == 0);
}

//===----------------------------------------------------------------------===//
// The acquire pattern: a strong read, then a fence (PTX ISA, "Release and
// acquire patterns")
//===----------------------------------------------------------------------===//

/// LaneStates::Pending: a mask of the block's sync cells that this lane has
/// read from, and above the mask the number of wide cells.
constexpr uint32_t WidePendingAt = SubCells,
                   OfBlockPending = (1u << WidePendingAt) - 1;
/// Wide cells that a lane remembers.
constexpr uint32_t MaxWidePending =
    sizeof(LaneStates::PendingWide) / sizeof(LaneStates::PendingWide[0]);

/// Notes that this lane has read an object strongly and may have read a
/// released value; the lane's next fence acquires from the object's cells. Only
/// MaxWidePending wide cells are remembered. If there are more, the next wide
/// fence acquires everything that was released beyond a block.
DEVICE void awaitFence(const LaneRef &T, const SyncCells &From) {
  const uint32_t Before = T.Pending;
  uint32_t Now = Before | 1u << From.Sub;
  const uint32_t Num = Before >> WidePendingAt;
  bool IsThere = !From.Wide || Num > MaxWidePending;
#pragma unroll
  for (uint32_t I = 0; I < MaxWidePending; ++I)
    IsThere |= I < Num && T.pendingWide(I) == From.Wide;
  if (!IsThere) {
    if (Num < MaxWidePending)
      T.pendingWide(Num) = From.Wide;
    Now += 1u << WidePendingAt;
  }
  if (Now != Before)
    T.Pending = Now;
}

/// Whether a fence (`IsWide`: of more than block scope) has something to
/// acquire.
DEVICE bool isPending(const LaneRef &T, bool IsWide) {
  return T.Pending & (IsWide ? ~0u : OfBlockPending);
}

/// Acquires what is pending, at a fence. Returns whether this lane has learned
/// anything.
DEVICE bool acquirePending(const Self &Me, const LaneRef &T, bool IsWide) {
  const uint32_t Pending = T.Pending;
  static_assert(MaxWidePending == 2);
  const uint32_t First = T.pendingWide(0), Second = T.pendingWide(1);
  // Bits of Todo: the block's cells, then the two wide cells, then the
  // NumAnyWide common cells.
  constexpr uint32_t OtherAt = SubCells, AnyAt = OtherAt + MaxWidePending;
  const uint32_t Num = Pending >> WidePendingAt;
  uint32_t Todo = Pending & OfBlockPending;
  if (IsWide)
    Todo |= Num <= MaxWidePending ? ((1u << Num) - 1) << OtherAt
                                  : ((1u << NumAnyWide) - 1) << AnyAt;
  // After a fence of block scope, the wide cells stay pending for a wider
  // fence.
  T.Pending = IsWide ? 0 : Pending & ~OfBlockPending;
  const uint32_t OfBlock = loadNear(Me.warp().SyncCells);
  bool HasLearned = false;
#pragma unroll 1
  for (; Todo; Todo &= Todo - 1) {
    const uint32_t I = __builtin_ctz(Todo);
    const uint32_t Cell = I < OtherAt    ? OfBlock + I
                          : I == OtherAt ? First
                          : I < AnyAt    ? Second
                                         : I - AnyAt;
    HasLearned |= acquire(Me, T, Cell);
  }
  return HasLearned;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ACQUIRE_H
