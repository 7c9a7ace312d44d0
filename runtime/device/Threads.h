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
DEVICE void noteSeen(uint64_t &To, uint64_t Bits) {
  if (Bits & ~loadRelaxed(To))
    asm volatile("red.relaxed.gpu.or.b64 [%0], %1;" ::"l"(&To), "l"(Bits)
                 : "memory");
}
DEVICE void fenceDevice() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

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
  return uint32_t(Block) * warpsInBlock() + (mix(uint32_t(Grid)) & ~31u);
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
  uint32_t &Epoch, &Barriers, &LastSync, &WarpArrive, &WarpDepart, &FenceBlock,
      &FenceDevice, &Release, &Acquire, &PublishedCells, &PublishedClock,
      &NumPending, &NumLocks, &ActiveLocks, &Flags;

  DEVICE LaneRef(LaneStates &S, uint32_t L)
      : Of(S), Lane(L), Epoch(S.Epoch[L]), Barriers(S.Barriers[L]),
        LastSync(S.LastSync[L]), WarpArrive(S.WarpArrive[L]),
        WarpDepart(S.WarpDepart[L]), FenceBlock(S.FenceBlock[L]),
        FenceDevice(S.FenceDevice[L]), Release(S.Release[L]),
        Acquire(S.Acquire[L]), PublishedCells(S.PublishedCells[L]),
        PublishedClock(S.PublishedClock[L]), NumPending(S.NumPending[L]),
        NumLocks(S.NumLocks[L]), ActiveLocks(S.ActiveLocks[L]),
        Flags(S.Flags[L]) {}
  DEVICE uint32_t &pending(uint32_t I) const { return Of.Pending[I][Lane]; }
  DEVICE uint32_t &lock(uint32_t I) const { return Of.Locks[I][Lane]; }
  DEVICE uint32_t &acquiredCell(uint32_t I) const {
    return Of.AcquiredCell[I][Lane];
  }
  DEVICE uint32_t &acquiredVersion(uint32_t I) const {
    return Of.AcquiredVersion[I][Lane];
  }
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
      T.Barriers = T.FenceBlock = T.FenceDevice = T.Acquire = T.NumPending =
          T.NumLocks = T.ActiveLocks = T.Flags = T.PublishedCells = 0;
      for (uint32_t I = 0; I < 4; ++I)
        T.lock(I) = 0;
      T.acquiredVersion(0) = T.acquiredVersion(1) = 0;
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

/// What four warps of the block, from the I-th on, have read strongly.
DEVICE uint64_t seenByFour(const Self &Me, uint32_t I, uint32_t NumOfBlock) {
  uint64_t Seen[4];
#pragma unroll
  for (uint32_t J = 0; J < 4; ++J) {
    const uint32_t Place = I + J < NumOfBlock ? I + J : I;
    Seen[J] = loadRelaxed(
        Self::stateOf((Me.FirstWarp + Place) & (NumWarps - 1)).Seen);
  }
  return Seen[0] | Seen[1] | Seen[2] | Seen[3];
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

/// The cell that every release to other blocks goes into, whatever its own. An
/// access that is not in it is known to nobody outside its block: neither to
/// another grid nor to the host.
constexpr uint32_t AnyWide = 0;

/// What is known of those of whom everything may be known: no clock is larger.
constexpr uint32_t Everything = ~0u;

/// Objects below are barriers, by number.
constexpr uint64_t FirstAddress = 4096;

DEVICE uint32_t hashOf(uint64_t Object) {
  return mix(uint32_t(Object) ^ mix(uint32_t(Object >> 32)));
}
DEVICE uint32_t wideCellOf(uint64_t Key) {
  const uint32_t Cell = hashOf(Key) % NumWideCells;
  return Cell == AnyWide ? 1 : Cell;
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
  DEVICE static uint32_t blockCellOf(uint64_t Object) {
    // Blocks at the distance of a power of two often work on the same data.
    const uint32_t OfBlock = mix(uint32_t(linearBlock()) ^ mix(gridHere()));
    return NumWideCells +
           (OfBlock * SubCells + hashOf(Object) % SubCells) % NumWideCells;
  }
  DEVICE static SyncCell &at(uint32_t Cell) {
    return table<SyncCell>(SyncCellsAt)[Cell];
  }
  /// What was released to threads of this block, through whatever object.
  DEVICE static uint32_t anyOfBlock() { return blockCellOf(~uint64_t(1)); }
};

/// The largest clock of a warp that was released beyond a block.
DEVICE uint32_t knownToAnybody(uint32_t Warp) {
  return loadRelaxed(SyncCells::at(AnyWide).Known[knownEntry(Warp)]);
}

/// Four of the clocks of a row.
struct Clocks {
  uint32_t Of[4];
  DEVICE static Clocks load(const uint32_t *From) {
    Clocks C;
    asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(C.Of[0]), "=r"(C.Of[1]), "=r"(C.Of[2]), "=r"(C.Of[3])
                 : "l"(From)
                 : "memory");
    return C;
  }
};

/// Raises a row of clocks to those of another one. Returns whether there was
/// anything to raise.
DEVICE bool raiseRow(uint32_t *To, const uint32_t *From) {
  bool IsNews = false;
  // As many loads at a time as are worth their registers.
#pragma unroll 1
  for (uint32_t I = 0; I < KnownEntries; I += 16) {
    Clocks Theirs[4], Ours[4];
#pragma unroll
    for (uint32_t J = 0; J < 4; ++J)
      Theirs[J] = Clocks::load(From + I + 4 * J);
#pragma unroll
    for (uint32_t J = 0; J < 4; ++J)
      Ours[J] = Clocks::load(To + I + 4 * J);
#pragma unroll
    for (uint32_t J = 0; J < 16; ++J)
      if (Theirs[J / 4].Of[J % 4] > Ours[J / 4].Of[J % 4]) {
        raise(To[I + J], Theirs[J / 4].Of[J % 4]);
        IsNews = true;
      }
  }
  return IsNews;
}

/// Adds what this thread knows to a cell, and that its own warp got to
/// `OwnClock`. The cell's version has to rise behind a fence (announce).
DEVICE void release(const Self &Me, SyncCell &To, uint32_t OwnClock) {
  if (loadNear(Me.warp().Flags) & HasKnown)
    raiseRow(To.Known, Me.known());
  // A barrier of the block has handed on what its other warps did.
  if (const uint32_t Barrier = loadNear(Me.warp().Barrier)) {
    const uint32_t NumOfBlock = warpsInBlock();
#pragma unroll 1
    for (uint32_t I = 0; I < NumOfBlock && I < KnownEntries; ++I) {
      raise(To.Known[knownEntry(Me.FirstWarp + I)], Barrier);
      noteSeen(
          To.Seen,
          loadRelaxed(Self::stateOf((Me.FirstWarp + I) & (NumWarps - 1)).Seen));
    }
  }
  noteSeen(To.Seen, loadRelaxed(Me.warp().Seen));
  raise(To.Known[knownEntry(Me.Warp)], OwnClock);
}
DEVICE void announce(SyncCell &To) {
  asm volatile("red.relaxed.gpu.add.u32 [%0], 1;" ::"l"(&To.Version)
               : "memory");
}

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

/// Adds what a cell says to what this warp knows. `IsOwn`: it comes from a
/// barrier of the block, and so need not be handed on there.
DEVICE void acquire(const Self &Me, uint32_t Cell, bool IsOwn = false) {
  WarpState &W = Me.warp();
  SyncCell &From = SyncCells::at(Cell);
  const uint32_t Version = loadRelaxed(From.Version);
  const uint32_t Foreign = loadRelaxed(metadata().Foreign);
  // Somebody may have released by means that we do not know.
  if ((loadNear(W.Flags) & Opaque) || Foreign)
    return acquireEverything(Me);
  const LaneRef T = Me.thread();
  const uint32_t Kind = Cell < NumWideCells ? 0 : 1;
  // Threads that wait acquire again and again.
  if (Version == 0 ||
      (T.acquiredVersion(Kind) == Version && T.acquiredCell(Kind) == Cell))
    return;
  // What the version stands for was written before it: behind this fence, it is
  // here.
  fenceDevice();
  const bool IsNews = raiseRow(Me.known(), From.Known);
  noteSeen(W.Seen, loadRelaxed(From.Seen));
  if (!(loadNear(W.Flags) & HasKnown))
    setFlags(W.Flags, HasKnown);
  if (IsNews && !IsOwn)
    setFlags(W.Place, HasFresh);
  T.Acquire = tick(Me);
  T.acquiredCell(Kind) = Cell;
  T.acquiredVersion(Kind) = Version;
}

/// A release that is visible wherever what follows it is. `IsReleased`: what
/// follows is itself a release.
DEVICE void publish(const Self &Me, const SyncCells &To, bool IsWide,
                    bool IsReleased, uint32_t OwnClockWide,
                    uint32_t OwnClockBlock) {
  const LaneRef T = Me.thread();
  // Spinning threads release again and again what they have released before.
  const uint32_t Cells = 1u << 31 | (IsWide ? To.Wide << 15 : 0) | To.Block;
  const uint32_t Now = loadNear(Me.warp().Clock);
  if (T.PublishedCells == Cells && T.PublishedClock == Now)
    return;
  if (IsWide) {
    release(Me, SyncCells::at(To.Wide), OwnClockWide);
    release(Me, SyncCells::at(AnyWide), OwnClockWide);
  }
  release(Me, SyncCells::at(To.Block), OwnClockBlock);
  release(Me, SyncCells::at(SyncCells::anyOfBlock()), OwnClockBlock);
  T.Release = Now;
  T.PublishedCells = Cells;
  T.PublishedClock = Now;
  fenceDevice();
  if (IsWide) {
    announce(SyncCells::at(To.Wide));
    announce(SyncCells::at(AnyWide));
  }
  announce(SyncCells::at(To.Block));
  announce(SyncCells::at(SyncCells::anyOfBlock()));
  if (!IsReleased)
    fenceDevice();
}

DEVICE void collect(const Self &Me, const SyncCells &From, bool IsWide) {
  if (IsWide)
    acquire(Me, From.Wide);
  acquire(Me, From.Block);
}

//===----------------------------------------------------------------------===//
// Acquire patterns: a strong read, then a fence
//===----------------------------------------------------------------------===//

constexpr uint32_t MaxPending =
    sizeof(LaneStates::Pending) / sizeof(LaneStates::Pending[0]);

/// In LaneState::NumPending: a fence of block scope has made room, and what a
/// wider one would still have to acquire is no longer known.
constexpr uint32_t AnyPending = 1u << 31;

/// Remembers that something may have been read that was released. More than a
/// few places are too many: then the next fence acquires what was released
/// anywhere within its scope.
DEVICE void awaitFence(const LaneRef &T, const SyncCells &From, bool IsWide) {
  const uint32_t Pending =
      uint32_t(IsWide) << 31 | From.Wide << 15 | From.Block;
  const uint32_t Num = T.NumPending & ~AnyPending;
  for (uint32_t I = 0; I < MaxPending; ++I)
    if (I < Num && T.pending(I) == Pending)
      return;
  if (Num < MaxPending)
    T.pending(Num) = Pending;
  if (Num <= MaxPending)
    ++T.NumPending;
}
static_assert(NumSyncCells <= 1u << 15);

DEVICE void acquirePending(const Self &Me, bool IsWide) {
  const LaneRef T = Me.thread();
  if (T.NumPending == 0)
    return;
  const uint32_t Num = T.NumPending & ~AnyPending;
  const bool TooMany = Num > MaxPending;
  if (TooMany) {
    acquire(Me, SyncCells::anyOfBlock());
  } else {
    for (uint32_t I = 0; I < Num; ++I) {
      const uint32_t Pending = T.pending(I);
      if (IsWide && Pending >> 31)
        acquire(Me, Pending >> 15 & 0x7fff);
      acquire(Me, Pending & 0x7fff);
    }
  }
  if (IsWide) {
    if (TooMany || (T.NumPending & AnyPending))
      acquire(Me, AnyWide);
    T.NumPending = 0;
  } else if (TooMany) {
    // A wider fence may yet follow.
    T.NumPending = AnyPending;
  }
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_THREADS_H
