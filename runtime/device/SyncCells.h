//===- SyncCells.h - What threads tell each other ---------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_SYNCCELLS_H
#define CRSAN_DEVICE_SYNCCELLS_H

#include "Threads.h"

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

/// The largest clock of a warp that was released beyond a block.
DEVICE uint32_t knownToAnybody(uint32_t Warp) {
  uint32_t Clocks[NumAnyWide], Largest = 0;
#pragma unroll
  for (uint32_t I = 0; I < NumAnyWide; ++I)
    Clocks[I] = loadRelaxed(SyncCells::at(I).Known[knownEntry(Warp)]);
#pragma unroll
  for (uint32_t I = 0; I < NumAnyWide; ++I)
    Largest = Clocks[I] > Largest ? Clocks[I] : Largest;
  return Largest;
}

/// A row, in registers: loaded in one round trip.
template <uint32_t Number> struct Row {
  static constexpr uint32_t Entries = Number;
  uint32_t Of[Entries];
  DEVICE explicit Row(const uint32_t *From) {
#pragma unroll
    for (uint32_t I = 0; I < Entries; I += 4)
      asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(Of[I]), "=r"(Of[I + 1]), "=r"(Of[I + 2]),
                     "=r"(Of[I + 3])
                   : "l"(From + I)
                   : "memory");
  }
};
/// Of what is known; more at a time would not fit.
using HalfRow = Row<KnownEntries / 2>;
/// Four clocks that this warp knows. What this thread has to hand on is before
/// this in causality order, and so is in the cache if anything is.
struct NearClocks {
  uint32_t Of[4];
  DEVICE explicit NearClocks(const uint32_t *From) {
    asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(Of[0]), "=r"(Of[1]), "=r"(Of[2]), "=r"(Of[3])
                 : "l"(From)
                 : "memory");
  }
};

/// Of a warp that knows nothing.
__attribute__((device)) uint32_t NoClocks[KnownEntries];

/// Raises four clocks of a row, which were `Has` just now.
DEVICE void raiseTo(uint32_t *To, const uint32_t *Has, const uint32_t *Want) {
  // In one piece: lanes that part at each of them would have to be joined.
  asm volatile("{ .reg .pred p, q, r, s; setp.gt.u32 p, %5, %1; "
               "setp.gt.u32 q, %6, %2; setp.gt.u32 r, %7, %3; "
               "setp.gt.u32 s, %8, %4; "
               "@p red.relaxed.gpu.max.u32 [%0], %5; "
               "@q red.relaxed.gpu.max.u32 [%0+4], %6; "
               "@r red.relaxed.gpu.max.u32 [%0+8], %7; "
               "@s red.relaxed.gpu.max.u32 [%0+12], %8; }" ::"l"(To),
               "r"(Has[0]), "r"(Has[1]), "r"(Has[2]), "r"(Has[3]), "r"(Want[0]),
               "r"(Want[1]), "r"(Want[2]), "r"(Want[3])
               : "memory");
}

/// What this thread knows and hands on at a release, besides its own clock.
struct Knowledge {
  bool HasRow;      ///< Of what its warp knows.
  uint32_t Barrier; ///< The last one has handed on what the block's warps did,
  uint32_t OfBlock; ///< whose entries these are; 0: there was none.
  uint64_t Seen;

  DEVICE explicit Knowledge(const Self &Me) : OfBlock(0) {
    const WarpState &W = Me.warp();
    HasRow = loadNear(W.Flags) & HasKnown;
    Barrier = loadNear(W.Barrier);
    const uint32_t Start = loadNear(W.Start);
    Seen = loadNear(W.Seen);
    // What comes before the block is of no interest to anybody.
    if (Barrier <= Start)
      return;
    Seen |= seenByBlock(Me, /*IsNear=*/true);
#pragma unroll 1
    for (uint32_t I = 0; I < Me.warpsInBlock(); ++I)
      OfBlock |= 1u << knownEntry(Me.firstWarp() + I);
  }

  /// Adds it to a cell, and that its own warp got to `OwnClock`. What the cell
  /// says already, as it does most often, is not told again.
  DEVICE void giveTo(const Self &Me, SyncCell &To, uint32_t OwnClock) const {
    uint32_t &Own = To.Known[knownEntry(Me.number())];
    const uint64_t HasSeen = Seen ? loadRelaxed(To.Seen) : 0;
    uint32_t HasOwn = 0;
    if (HasRow || OfBlock) {
      HasOwn = loadRelaxed(Own);
      const uint32_t *Known = HasRow ? Me.known() : NoClocks;
#pragma unroll 1
      for (uint32_t At = 0; At < KnownEntries; At += HalfRow::Entries) {
        const HalfRow Theirs(To.Known + At);
        uint32_t IsNews = 0, Behind = 0;
#pragma unroll
        for (uint32_t I = 0; I < HalfRow::Entries; I += 4) {
          const NearClocks Ours(Known + At + I);
#pragma unroll
          for (uint32_t J = 0; J < 4; ++J)
            IsNews |= Ours.Of[J] > Theirs.Of[I + J];
        }
        if (OfBlock)
#pragma unroll
          for (uint32_t I = 0; I < HalfRow::Entries; ++I)
            Behind |= uint32_t(Theirs.Of[I] < Barrier) << I;
        if (IsNews)
#pragma unroll
          for (uint32_t I = 0; I < HalfRow::Entries; I += 4)
            raiseTo(To.Known + At + I, Theirs.Of + I,
                    NearClocks(Known + At + I).Of);
#pragma unroll 1
        for (Behind &= OfBlock >> At; Behind; Behind &= Behind - 1)
          raise(To.Known[At + __builtin_ctz(Behind)], Barrier);
      }
    }
    if (HasOwn < OwnClock)
      raise(Own, OwnClock);
    if (Seen & ~HasSeen)
      asm volatile("red.relaxed.gpu.or.b64 [%0], %1;" ::"l"(&To.Seen), "l"(Seen)
                   : "memory");
  }

  /// As above, of all lanes of a warp at a time: each sees to one clock.
  DEVICE void giveTogether(const Self &Me, SyncCell &To,
                           uint32_t OwnClock) const {
    static_assert(KnownEntries == 32);
    __nvvm_bar_warp_sync(~0u);
    const uint32_t Theirs = loadRelaxed(To.Known[Me.Lane]);
    const uint32_t OfRow = loadNear(Me.known()[Me.Lane]);
    uint32_t Ours = __nvvm_vote_any_sync(~0u, HasRow) ? OfRow : 0;
    const uint32_t AtLeast = knownEntry(Me.number()) == Me.Lane ? OwnClock
                             : OfBlock >> Me.Lane & 1           ? Barrier
                                                                : 0;
    Ours = Ours > AtLeast ? Ours : AtLeast;
    if (Ours > Theirs)
      raise(To.Known[Me.Lane], Ours);
    if (Me.Lane == 0)
      noteSeen(To.Seen, Seen);
  }
};

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

#endif // CRSAN_DEVICE_SYNCCELLS_H
