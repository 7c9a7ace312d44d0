//===- Threads.h - What threads have synchronised ---------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The synchronisation metadata of iGUARD 6.1, with one clock a warp instead of
// a counter for each kind of synchronisation, and with what iGUARD lacks: what
// the *acquiring* side has come to know. Two rules keep it sound. What a thread
// releases is written down before the release, and what it acquires is read
// after the acquire; so wherever the program's own synchronisation orders two
// accesses, it orders the metadata as well. And whatever is shared or forgotten
// to save memory can only make more accesses look ordered.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_THREADS_H
#define CRSAN_DEVICE_THREADS_H

#include "Shadow.h"

namespace crsan::device {

DEVICE void raise(uint32_t &To, uint32_t Value) {
  asm volatile("red.relaxed.gpu.max.u32 [%0], %1;" ::"l"(&To), "r"(Value)
               : "memory");
}
DEVICE uint32_t loadRelaxed(const uint32_t &From) {
  uint32_t Value;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];"
               : "=r"(Value)
               : "l"(&From)
               : "memory");
  return Value;
}
DEVICE void storeRelaxed(uint32_t &To, uint32_t Value) {
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(&To), "r"(Value)
               : "memory");
}
/// Of what only threads of this block change: the multiprocessor's cache will
/// do. What is stale makes an access look older than it is, or not yet ordered,
/// and then it is looked at again (judge).
DEVICE uint32_t loadNear(const uint32_t &From) {
  uint32_t Value;
  asm volatile("ld.u32 %0, [%1];" : "=r"(Value) : "l"(&From) : "memory");
  return Value;
}
DEVICE void setFlags(uint32_t &To, uint32_t Flags) {
  asm volatile("red.relaxed.gpu.or.b32 [%0], %1;" ::"l"(&To), "r"(Flags)
               : "memory");
}
DEVICE void clearFlags(uint32_t &From, uint32_t Flags) {
  asm volatile("red.relaxed.gpu.and.b32 [%0], %1;" ::"l"(&From), "r"(~Flags)
               : "memory");
}
DEVICE uint32_t takeFlags(uint32_t &From) {
  uint32_t Flags;
  asm volatile("atom.relaxed.gpu.exch.b32 %0, [%1], 0;"
               : "=r"(Flags)
               : "l"(&From)
               : "memory");
  return Flags;
}
DEVICE void noteSeen(uint64_t &To, uint64_t Bits) {
  if (Bits & ~loadRelaxed(To))
    asm volatile("red.relaxed.gpu.or.b64 [%0], %1;" ::"l"(&To), "l"(Bits)
                 : "memory");
}
/// As above, of what this thread's warp keeps: it may be there already.
DEVICE void noteSeenNear(uint64_t &To, uint64_t Bits) {
  if (Bits & ~loadNear(To))
    asm volatile("red.relaxed.gpu.or.b64 [%0], %1;" ::"l"(&To), "l"(Bits)
                 : "memory");
}
DEVICE void fenceDevice() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
/// Leaves the multiprocessor's cache as it is.
DEVICE void fenceBlock() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }

DEVICE uint64_t linearBlock() {
  return (uint64_t(__nvvm_read_ptx_sreg_ctaid_z()) *
              __nvvm_read_ptx_sreg_nctaid_y() +
          __nvvm_read_ptx_sreg_ctaid_y()) *
             __nvvm_read_ptx_sreg_nctaid_x() +
         __nvvm_read_ptx_sreg_ctaid_x();
}
DEVICE uint32_t linearThread() {
  return (__nvvm_read_ptx_sreg_tid_z() * __nvvm_read_ptx_sreg_ntid_y() +
          __nvvm_read_ptx_sreg_tid_y()) *
             __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}
DEVICE uint32_t warpsInBlock() {
  return (__nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_ntid_y() *
              __nvvm_read_ptx_sreg_ntid_z() +
          31) /
         32;
}

/// The number of the first warp of a block. Grids that run at the same time
/// keep apart if they can.
DEVICE uint32_t firstWarp(uint64_t Grid, uint64_t Block) {
  return uint32_t(Block) * warpsInBlock() +
         (uint32_t(Grid) * 0x9e3779b9u >> 8 & ~31u);
}

DEVICE bool isWide(SyncScope Scope) { return Scope != SyncScope::Block; }

/// Where clocks of a warp are in a row of them. The warps of a block have
/// entries of their own, and blocks at the distance of a power of two, as those
/// that work together often are, different ones.
DEVICE uint32_t knownEntry(uint32_t Warp) {
  static_assert(KnownEntries == 32 && WarpBits == 15);
  Warp &= NumWarps - 1;
  return (Warp ^ Warp >> 5 ^ Warp >> 10) & (KnownEntries - 1);
}

/// A lane's part of LaneStates.
struct LaneRef {
  LaneStates &Of;
  uint32_t Lane;
  uint32_t &Epoch, &Barriers, &LastSync, &WarpArrive, &WarpDepart, &PartDepart,
      &Met, &Told, &FenceBlock, &FenceDevice, &Release, &Acquire,
      &PublishedCells, &PublishedClock, &PublishedWideClock, &Pending,
      &NumLocks, &ActiveLocks, &Flags;

  DEVICE LaneRef(LaneStates &S, uint32_t L)
      : Of(S), Lane(L), Epoch(S.Epoch[L]), Barriers(S.Barriers[L]),
        LastSync(S.LastSync[L]), WarpArrive(S.WarpArrive[L]),
        WarpDepart(S.WarpDepart[L]), PartDepart(S.PartDepart[L]), Met(S.Met[L]),
        Told(S.Told[L]), FenceBlock(S.FenceBlock[L]),
        FenceDevice(S.FenceDevice[L]), Release(S.Release[L]),
        Acquire(S.Acquire[L]), PublishedCells(S.PublishedCells[L]),
        PublishedClock(S.PublishedClock[L]),
        PublishedWideClock(S.PublishedWideClock[L]), Pending(S.Pending[L]),
        NumLocks(S.NumLocks[L]), ActiveLocks(S.ActiveLocks[L]),
        Flags(S.Flags[L]) {}
  DEVICE uint32_t &pendingWide(uint32_t I) const {
    return Of.PendingWide[I][Lane];
  }
  DEVICE uint32_t &lock(uint32_t I) const { return Of.Locks[I][Lane]; }
  DEVICE uint32_t &commit(uint32_t I) const { return Of.Commits[I][Lane]; }
  DEVICE uint64_t &waited(uint32_t I) const { return Of.Waited[I][Lane]; }
  DEVICE uint16_t &copy(uint32_t I) const { return Of.Copies[I][Lane]; }
};

/// The thread that is running.
struct Self {
  uint32_t FirstWarp; ///< Of its block.
  uint32_t Warp;
  uint32_t Lane;

  DEVICE Self() {
    const uint32_t Thread = linearThread();
    FirstWarp = firstWarp(gridHere(), linearBlock());
    Warp = (FirstWarp + Thread / 32) & (NumWarps - 1);
    Lane = Thread & 31;
  }

  DEVICE static WarpState &stateOf(uint32_t Warp) {
    return table<WarpState>(WarpsAt)[Warp];
  }
  DEVICE static LaneRef stateOf(uint32_t Warp, uint32_t Lane) {
    return {table<LaneStates>(LanesAt)[Warp], Lane};
  }
  DEVICE WarpState &warp() const { return stateOf(Warp); }
  /// This lane's state, without what an earlier block left there.
  DEVICE LaneRef thread() const {
    const LaneRef T = stateOf(Warp, Lane);
    const uint32_t Start = loadNear(warp().Start);
    if (T.Epoch != Start) {
      T.Barriers = T.FenceBlock = T.FenceDevice = T.Acquire = T.Pending =
          T.NumLocks = T.ActiveLocks = T.Flags = T.PublishedCells = 0;
      for (uint32_t I = 0; I < 4; ++I)
        T.lock(I) = 0;
      T.Epoch = Start;
    }
    return T;
  }
  /// Where the block's barriers are counted.
  DEVICE WarpState &firstWarpState() const {
    return stateOf(FirstWarp & (NumWarps - 1));
  }
  DEVICE uint32_t *known() const {
    return &table<uint32_t>(KnownAt)[Warp * KnownEntries];
  }
};

/// Of the first grid of each kernel, the warps whose first checks are thorough,
/// and how many those are, of all lanes together.
constexpr uint32_t ThoroughWarps = 64, ThoroughChecks = 32 * 64;

/// What the warps of the block have read strongly. `IsNear`: as far as a
/// barrier has handed it on, for which the multiprocessor's cache will do.
DEVICE uint64_t seenByBlock(const Self &Me, bool IsNear) {
  const uint32_t NumOfBlock = warpsInBlock();
  uint64_t All = 0;
#pragma unroll 1
  for (uint32_t I = 0; I < NumOfBlock; I += 4) {
    uint64_t Seen[4];
#pragma unroll
    for (uint32_t J = 0; J < 4; ++J) {
      const uint32_t Place = I + J < NumOfBlock ? I + J : I;
      const WarpState &W =
          Self::stateOf((Me.FirstWarp + Place) & (NumWarps - 1));
      Seen[J] = IsNear ? loadNear(W.Seen) : loadRelaxed(W.Seen);
    }
    All |= Seen[0] | Seen[1] | Seen[2] | Seen[3];
  }
  return All;
}

DEVICE bool isFirstHere() {
  return lane() == uint32_t(__builtin_ctz(activeMask()));
}

/// Whether a cell has no room for an access at this clock, or the next.
DEVICE bool isUsedUp(uint32_t Clock) {
  return Clock + 1 >= Accessor::ExactClocks;
}

/// The warp's clock never falls, whatever its lanes do at the same time: a lane
/// that has accessed memory at a clock must not release by a smaller one.
DEVICE void raiseClock(WarpState &W, uint32_t Value) {
  asm volatile("red.relaxed.cta.max.u32 [%0], %1;" ::"l"(&W.Clock), "r"(Value)
               : "memory");
  if (isUsedUp(Value))
    setFlags(W.Place, NeedsCare);
}

/// At a barrier of at least the warp: sets its clock, if all its lanes are here
/// and have one value for it. Then nobody else changes it meanwhile, and it
/// need not leave the multiprocessor's cache.
DEVICE bool setClock(WarpState &W, uint32_t Value) {
  // One exchange, with a fresh mask: lanes may part at any time. And all of
  // them set it before any goes on, lest it falls.
  uint32_t IsSet;
  asm volatile("{ .reg .pred p, q; .reg .b32 m, v; activemask.b32 m; "
               "match.all.sync.b32 v|p, %1, m; "
               "setp.eq.u32 q, m, 0xffffffff; and.pred q, q, p; "
               "@q st.u32 [%2], %1; @q bar.warp.sync 0xffffffff; "
               "selp.u32 %0, 1, 0, q; }"
               : "=r"(IsSet)
               : "r"(Value), "l"(&W.Clock)
               : "memory");
  if (IsSet && isUsedUp(Value))
    setFlags(W.Place, NeedsCare);
  return IsSet;
}

/// As above, behind a barrier of the block: all go on from one clock.
DEVICE bool setBarrier(WarpState &W, uint32_t Value) {
  // Who is ahead of it, keeps the others from setting it.
  const uint32_t Wanted = loadNear(W.Clock) <= Value ? Value : ~lane();
  uint32_t IsSet;
  static_assert(offsetof(WarpState, Clock) == 0 &&
                offsetof(WarpState, Barrier) == 4);
  asm volatile("{ .reg .pred p, q; .reg .b32 m, v; activemask.b32 m; "
               "match.all.sync.b32 v|p, %1, m; "
               "setp.eq.u32 q, m, 0xffffffff; and.pred q, q, p; "
               "@q st.v2.u32 [%2], {%3, %3}; @q bar.warp.sync 0xffffffff; "
               "selp.u32 %0, 1, 0, q; }"
               : "=r"(IsSet)
               : "r"(Wanted), "l"(&W.Clock), "r"(Value)
               : "memory");
  if (IsSet && isUsedUp(Value))
    setFlags(W.Place, NeedsCare);
  return IsSet;
}

/// Lets the warp's clock rise: accesses until now are told from later ones.
/// Lanes that do so together share a step.
DEVICE uint32_t tick(const Self &Me) {
  WarpState &W = Me.warp();
  const uint32_t Now = loadNear(W.Clock) + 1;
  // Each lane for itself: one that overtakes the others must find it done.
  raiseClock(W, Now);
  Self::stateOf(Me.Warp, Me.Lane).LastSync = Now;
  return Now;
}

//===----------------------------------------------------------------------===//
// Sync cells
//===----------------------------------------------------------------------===//

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
  const uint32_t Blocks = __crsan_cluster_extent(0) *
                          __crsan_cluster_extent(1) * __crsan_cluster_extent(2);
  return Blocks == 1 && spaceOf(A) == Space::Shared;
}

/// What identifies an object to all who synchronise through it beyond a block.
/// Blocks of a cluster see each other's shared memory, and one object of it at
/// several addresses: all of theirs are one.
DEVICE uint64_t wideKey(uint64_t Object) {
  const bool IsMemory = Object >= FirstAddress;
  if (IsMemory && spaceOf(Object) == Space::Global &&
      PageRef(Object).isTracked())
    return Object;
  auto Of = [](uint32_t Block, uint32_t D) {
    return Block / __crsan_cluster_extent(D);
  };
  return gridHere() * 0x9e3779b97f4a7c15ull +
         (uint64_t(Of(__nvvm_read_ptx_sreg_ctaid_z(), 2)) << 42 |
          uint64_t(Of(__nvvm_read_ptx_sreg_ctaid_y(), 1)) << 21 |
          Of(__nvvm_read_ptx_sreg_ctaid_x(), 0));
}

/// The two cells of an object: what was released to anybody, and what was
/// released to threads of one block.
struct SyncCells {
  uint32_t Wide, Block;

  /// Of memory, accesses of 16 bytes may synchronise with smaller ones in them.
  DEVICE explicit SyncCells(uint64_t Object)
      : Wide(wideCellOf(wideKey(granule(Object)))),
        Block(blockCellOf(granule(Object))) {}
  DEVICE static uint64_t granule(uint64_t Object) {
    return Object < FirstAddress ? Object : Object & ~uint64_t(15);
  }
  /// This block's first cell of SubCells.
  DEVICE static uint32_t firstOfBlock() {
    // Blocks at the distance of a power of two often work on the same data.
    const uint32_t OfBlock = hashOf(linearBlock() << 32 ^ gridHere());
    return NumWideCells + OfBlock * SubCells % NumWideCells;
  }
  DEVICE static uint32_t blockCellOf(uint64_t Object) {
    return firstOfBlock() + hashOf(Object) % SubCells;
  }
  DEVICE static SyncCell &at(uint32_t Cell) {
    return table<SyncCell>(SyncCellsAt)[Cell];
  }
};
static_assert(NumWideCells % SubCells == 0);

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

/// A row of clocks, in registers: loaded in one round trip.
struct Row {
  uint32_t Of[KnownEntries];
  DEVICE explicit Row(const uint32_t *From) {
#pragma unroll
    for (uint32_t I = 0; I < KnownEntries; I += 4)
      asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(Of[I]), "=r"(Of[I + 1]), "=r"(Of[I + 2]),
                     "=r"(Of[I + 3])
                   : "l"(From + I)
                   : "memory");
  }
};
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

/// Raises four clocks of a row, which were `Has` just now, and are so most
/// often. Returns whether any has risen.
DEVICE bool raiseTo(uint32_t *To, const uint32_t *Has, const uint32_t *Want) {
  bool IsMore = false;
#pragma unroll
  for (uint32_t I = 0; I < 4; ++I)
    IsMore |= Want[I] > Has[I];
  // In one piece: lanes that part at each of them would have to be joined.
  if (IsMore)
    asm volatile("{ .reg .pred p, q, r, s; setp.gt.u32 p, %5, %1; "
                 "setp.gt.u32 q, %6, %2; setp.gt.u32 r, %7, %3; "
                 "setp.gt.u32 s, %8, %4; "
                 "@p red.relaxed.gpu.max.u32 [%0], %5; "
                 "@q red.relaxed.gpu.max.u32 [%0+4], %6; "
                 "@r red.relaxed.gpu.max.u32 [%0+8], %7; "
                 "@s red.relaxed.gpu.max.u32 [%0+12], %8; }" ::"l"(To),
                 "r"(Has[0]), "r"(Has[1]), "r"(Has[2]), "r"(Has[3]),
                 "r"(Want[0]), "r"(Want[1]), "r"(Want[2]), "r"(Want[3])
                 : "memory");
  return IsMore;
}

/// What this thread knows and hands on at a release, besides its own clock.
struct Knowledge {
  bool IsMore;      ///< Than nothing.
  uint32_t Barrier; ///< The last one has handed on what the block's warps did,
  uint32_t OfBlock; ///< whose entries these are.
  uint64_t Seen;

  DEVICE explicit Knowledge(const Self &Me) : OfBlock(0) {
    const WarpState &W = Me.warp();
    const uint32_t Flags = loadNear(W.Flags);
    Barrier = loadNear(W.Barrier);
    // What comes before the block is of no interest to anybody.
    if (Barrier <= loadNear(W.Start))
      Barrier = 0;
    Seen = loadNear(W.Seen);
    IsMore = (Flags & HasKnown) || Barrier;
    if (!Barrier)
      return;
    Seen |= seenByBlock(Me, /*IsNear=*/true);
    const uint32_t NumOfBlock = warpsInBlock();
#pragma unroll 1
    for (uint32_t I = 0; I < NumOfBlock; ++I)
      OfBlock |= 1u << knownEntry(Me.FirstWarp + I);
  }

  /// Adds it to a cell, and that its own warp got to `OwnClock`. What the cell
  /// says already is not told again.
  DEVICE void giveTo(const Self &Me, SyncCell &To, uint32_t OwnClock) const {
    uint32_t &Own = To.Known[knownEntry(Me.Warp)];
    const uint64_t HasSeen = Seen ? loadRelaxed(To.Seen) : 0;
    uint32_t HasOwn = 0;
    if (IsMore) {
      HasOwn = loadRelaxed(Own);
      const Row Theirs(To.Known);
#pragma unroll
      for (uint32_t I = 0; I < KnownEntries; I += 4) {
        NearClocks Ours(Me.known() + I);
        if (OfBlock >> I & 15)
#pragma unroll
          for (uint32_t J = 0; J < 4; ++J)
            if (OfBlock >> (I + J) & 1)
              Ours.Of[J] = Ours.Of[J] > Barrier ? Ours.Of[J] : Barrier;
        raiseTo(To.Known + I, Theirs.Of + I, Ours.Of);
      }
    }
    if (HasOwn < OwnClock)
      raise(Own, OwnClock);
    if (Seen & ~HasSeen)
      asm volatile("red.relaxed.gpu.or.b64 [%0], %1;" ::"l"(&To.Seen), "l"(Seen)
                   : "memory");
  }
};

/// Of a warp that knows nothing.
__attribute__((device)) uint32_t NoClocks[KnownEntries];

/// Everything that this thread may have learned without our noticing.
DEVICE void acquireEverything(const Self &Me) {
  storeRelaxed(metadata().HasLearned, 1);
  uint32_t *Known = Me.known();
#pragma unroll 1
  for (uint32_t I = 0; I < KnownEntries; ++I)
    raise(Known[I], Everything);
  noteSeen(Me.warp().Seen, ~uint64_t(0));
  setFlags(Me.warp().Flags, HasKnown);
  setFlags(Me.warp().Place, HasFresh);
  Me.thread().Acquire = tick(Me);
}

/// Adds what a cell says to what this warp knows. Returns whether this lane has
/// come to know anything, and so has to step and note when it did. `IsOwn`: it
/// comes from a barrier of the block, and so need not be handed on there.
DEVICE bool acquire(const Self &Me, const LaneRef &T, uint32_t Cell,
                    bool IsOwn = false) {
  WarpState &W = Me.warp();
  const SyncCell &From = SyncCells::at(Cell);
  const Row Theirs(From.Known);
  const uint32_t OfOwn = loadRelaxed(From.Known[knownEntry(Me.Warp)]);
  const uint64_t Seen = loadRelaxed(From.Seen);
  const uint32_t Foreign = loadRelaxed(metadata().Foreign);
  const uint32_t Flags = loadRelaxed(W.Flags), LastAcquire = T.Acquire;
  // Somebody may have released by means that we do not know.
  if ((Flags & Opaque) || Foreign) {
    acquireEverything(Me);
    return false;
  }
  // The cache may still have the row of an earlier block, until this one has
  // raised it for the first time.
  const uint32_t *Known = Flags & HasKnown ? Me.known() : NoClocks;
  bool IsNews = false;
  uint32_t Any = 0;
#pragma unroll
  for (uint32_t I = 0; I < KnownEntries; I += 4) {
    const NearClocks Ours(Known + I);
    IsNews |= raiseTo(Me.known() + I, Ours.Of, Theirs.Of + I);
    Any |=
        Theirs.Of[I] | Theirs.Of[I + 1] | Theirs.Of[I + 2] | Theirs.Of[I + 3];
  }
  noteSeenNear(W.Seen, Seen);
  // Another lane may have raised the row, and not said so yet.
  if (Any && !(Flags & HasKnown))
    setFlags(W.Flags, HasKnown);
  if (IsNews && !IsOwn)
    setFlags(W.Place, HasFresh);
  // Of lanes of its own warp, it learns by the warp's own clock.
  return IsNews || OfOwn > LastAcquire || (Any && LastAcquire == 0);
}

/// A release that is visible wherever what follows it is. `IsReleased`: what
/// follows is itself a release.
DEVICE void publish(const Self &Me, const LaneRef &T, const SyncCells &To,
                    bool IsWide, bool IsReleased, uint32_t OwnClockWide,
                    uint32_t OwnClockBlock) {
  const uint32_t Now = loadNear(Me.warp().Clock);
  // Between two fences, all releases to an object say the same. And where
  // anything goes, all of them do.
  constexpr uint32_t IsSet = 1u << 31, WideAt = 15;
  const uint32_t Last = T.PublishedCells, LastClock = T.PublishedClock;
  const uint32_t LastWideClock = T.PublishedWideClock;
  const uint32_t Wide = Last >> WideAt & (NumWideCells - 1);
  const bool HasBlock = (Last & IsSet) && LastClock >= OwnClockBlock;
  const bool HasWide = Wide && LastWideClock >= OwnClockWide;
  enum : uint32_t { OfBlock = 1, OfAll = 2, AnyOfAll = 4 };
  uint32_t Todo = 0;
  if (!HasBlock || (Last & (NumSyncCells - 1)) != To.Block)
    Todo |= OfBlock;
  if (IsWide && !HasWide)
    Todo |= OfAll | AnyOfAll;
  if (IsWide && Wide != To.Wide)
    Todo |= OfAll;
  if (!Todo)
    return;
  const bool IsNewWide = Todo & OfAll;
  const Knowledge Known(Me);
#pragma unroll 1
  for (; Todo; Todo &= Todo - 1) {
    const uint32_t This = Todo & (0u - Todo);
    const uint32_t Cell = This == OfBlock ? To.Block
                          : This == OfAll ? To.Wide
                                          : Me.Warp % NumAnyWide;
    Known.giveTo(Me, SyncCells::at(Cell),
                 This == OfBlock ? OwnClockBlock : OwnClockWide);
  }
  T.Release = Now;
  // What no fence is behind yet, later writes do not release.
  if (IsReleased)
    return;
  T.PublishedCells = IsSet | (IsWide ? To.Wide : Wide) << WideAt | To.Block;
  T.PublishedClock = OwnClockBlock;
  if (IsWide)
    T.PublishedWideClock = OwnClockWide;
  // To whom the release is not wide, it is one within the block.
  if (IsNewWide)
    fenceDevice();
  else
    fenceBlock();
}

DEVICE void collect(const Self &Me, const LaneRef &T, const SyncCells &From,
                    bool IsWide) {
  bool HasLearned = false;
#pragma unroll 1
  for (uint32_t I = IsWide ? 0 : 1; I < 2; ++I)
    HasLearned |= acquire(Me, T, I == 0 ? From.Wide : From.Block);
  if (HasLearned)
    T.Acquire = tick(Me);
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
DEVICE void awaitFence(const LaneRef &T, const SyncCells &From, bool IsWide) {
  const uint32_t Before = T.Pending;
  uint32_t Now = Before | 1u << From.Block % SubCells;
  const uint32_t Num = Before >> WidePendingAt;
  bool IsThere = !IsWide || Num > MaxWidePending;
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

/// Returns whether this lane has come to know anything.
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
  if (!Todo)
    return false;
  // A wider fence may yet follow.
  T.Pending = IsWide ? 0 : Pending & ~OfBlockPending;
  const uint32_t OfBlock = SyncCells::firstOfBlock();
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

#endif // CRSAN_DEVICE_THREADS_H
