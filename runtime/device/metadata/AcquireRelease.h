//===- AcquireRelease.h - Acquires and releases ----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_ACQUIRERELEASE_H
#define CRSAN_DEVICE_METADATA_ACQUIRERELEASE_H

#include "metadata/VectorClocks.h"

namespace crsan::device {

/// The next barrier of the block has something to hand on. Last of all:
/// whichever lane of the warp takes the flag, hands on what the warp then
/// knows.
DEVICE void noteFresh(WarpState &W) {
  fenceBlock();
  setFlags(W.Place, HasFresh);
}

/// Everything that this thread may have learned without our noticing.
HELPER void acquireEverything(PlaceOf Place) {
  const Self Me(Place);
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

/// Adds what a cell says to what this warp knows. Returns whether this lane has
/// come to know anything, and so has to step and note when it did. `IsOwn`: it
/// comes from a barrier of the block, and so need not be handed on there.
DEVICE bool acquire(const Self &Me, const LaneRef &T, uint32_t Cell,
                    bool IsOwn = false) {
  WarpState &W = Me.warp();
  const SyncCell &From = SyncCells::at(Cell);
  const uint32_t Now = loadNear(W.Clock);
  const uint32_t OfOwn = loadRelaxed(From.Known[knownEntry(Me.number())]);
  const uint64_t Seen = loadRelaxed(From.Seen);
  const uint32_t Foreign = loadRelaxed(metadata().Foreign);
  const uint32_t Flags = loadRelaxed(W.Flags), LastAcquire = T.Acquire;
  // Somebody may have released by means that we do not know.
  if ((Flags & Opaque) || Foreign) {
    acquireEverything(Me.Place);
    return false;
  }
  if (!IsOwn && (Me.Place.Bits & TellsLanes))
    noteSource(Me, T, Cell, Flags);
  // The cache may still have the row of an earlier block, until this one has
  // raised it for the first time.
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
  // Another lane may have raised the row, and not said so yet.
  if (Any && !(Flags & HasKnown)) {
    asm volatile("red.relaxed.gpu.min.u32 [%0], %1;" ::"l"(&W.Heard), "r"(Now)
                 : "memory");
    setFlags(W.Flags, HasKnown);
  }
  if (IsNews && !IsOwn)
    noteFresh(W);
  // Of lanes of its own warp, it learns by the warp's own clock.
  return IsNews || OfOwn > LastAcquire || (Any && LastAcquire == 0);
}

/// As above, of all lanes of a warp at a time, from a barrier of their block:
/// each lane sees to one clock of the row. What others have released by means
/// that we do not know, whoever acquired it has given as everything.
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
  // No lane hands on anything before the others have seen to their clocks.
  __nvvm_bar_warp_sync(~0u);
  return IsNews || OfOwn > LastAcquire || (Any && LastAcquire == 0);
}

/// What `tell` has yet to tell: to the object's cell of the block, to its other
/// one, to one of the first ones.
enum ToTell : uint32_t { TellBlock = 1, TellWide = 2, TellAnybody = 4 };

/// LaneStates::ToldWide: two cells.
constexpr uint32_t ToldCellBits = 16;
static_assert(NumWideCells <= 1u << ToldCellBits);

/// `IsReleased`: what follows is itself a release.
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
  // To whom the release is not wide, it is one within the block.
  if (WhatToTell & TellWide)
    fenceDevice();
  else
    fenceBlock();
}

/// A release that is visible wherever what follows it is. `IsReleased`: see
/// tell; `IsMixed`: what its lane has told is what another block has told. Last
/// of all: it leaves no register as it is.
DEVICE void publish(const Self &Me, const LaneRef &T, SyncCells To,
                    bool IsReleased, bool IsMixed, uint32_t OwnClockWide,
                    uint32_t OwnClockBlock) {
  const uint32_t Now = loadNear(Me.warp().Clock);
  // Between two fences, all releases to an object say the same. And where
  // anything goes, all of them do.
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
  T.Release = Now;
  // What no fence is behind yet, later writes do not release.
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

//===----------------------------------------------------------------------===//
// Acquire patterns: a strong read, then a fence
//===----------------------------------------------------------------------===//

/// LaneStates::Pending: the block's cells that were read from, and how many
/// others.
constexpr uint32_t WidePendingAt = SubCells,
                   OfBlockPending = (1u << WidePendingAt) - 1;
constexpr uint32_t MaxWidePending =
    sizeof(LaneStates::PendingWide) / sizeof(LaneStates::PendingWide[0]);

/// Remembers that something may have been read that was released. More than a
/// few places are too many: then the next wide fence acquires what was released
/// anywhere.
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

/// Whether a fence has something to acquire.
DEVICE bool isPending(const LaneRef &T, bool IsWide) {
  return T.Pending & (IsWide ? ~0u : OfBlockPending);
}

/// Acquires it. Returns whether this lane has come to know anything.
DEVICE bool acquirePending(const Self &Me, const LaneRef &T, bool IsWide) {
  const uint32_t Pending = T.Pending;
  static_assert(MaxWidePending == 2);
  const uint32_t First = T.pendingWide(0), Second = T.pendingWide(1);
  // Bits of cells: the block's, two others, and the first ones.
  constexpr uint32_t OtherAt = SubCells, AnyAt = OtherAt + MaxWidePending;
  const uint32_t Num = Pending >> WidePendingAt;
  uint32_t Todo = Pending & OfBlockPending;
  if (IsWide)
    Todo |= Num <= MaxWidePending ? ((1u << Num) - 1) << OtherAt
                                  : ((1u << NumAnyWide) - 1) << AnyAt;
  // A wider fence may yet follow.
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

#endif // CRSAN_DEVICE_METADATA_ACQUIRERELEASE_H
