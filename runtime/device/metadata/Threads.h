//===- Threads.h - Threads, warps and their states -------------*- C++ -*-===//
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
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_THREADS_H
#define CRSAN_DEVICE_METADATA_THREADS_H

#include "metadata/Cells.h"

namespace crsan::device {

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
DEVICE uint32_t warpsOfBlock() {
  return (__nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_ntid_y() *
              __nvvm_read_ptx_sreg_ntid_z() +
          31) /
         32;
}

/// The number of the first warp of a block. Grids that run at the same time
/// keep apart if they can.
DEVICE uint32_t firstWarp(uint64_t Grid, uint64_t Block) {
  return (uint32_t(Block) * warpsOfBlock() +
          (uint32_t(Grid) * 0x9e3779b9u >> 8 & ~31u)) &
         (NumWarps - 1);
}

/// A warp's place, as WarpState::Place has it. In that of a warp that is not
/// followed, its block has no warps.
struct PlaceOf {
  uint32_t Bits;

  DEVICE bool isFollowed() const { return warpsInBlock() != 0; }
  DEVICE uint32_t firstWarp() const { return Bits & (NumWarps - 1); }
  DEVICE uint32_t warpsInBlock() const { return Bits >> 16 & 63; }
  DEVICE uint32_t warp() const {
    return (firstWarp() + (Bits >> 22 & 31)) & (NumWarps - 1);
  }
};
/// Of this thread, whether it is followed or not.
DEVICE PlaceOf placeHere() {
  return {firstWarp(gridHere(), linearBlock()) | warpsOfBlock() << 16 |
          (linearThread() / 32) << 22};
}

DEVICE bool isWide(Scope S) { return S != Scope::Block; }

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
  uint32_t &Epoch, &Barriers, &WarpArrive, &WarpDepart, &PartDepart, &MetLanes,
      &ToldLanes, &FenceBlock, &FenceDevice, &Release, &Acquire, &ToldInBlock,
      &ToldInBlockClock, &ToldWide, &ToldWideClock, &Pending, &NumLocks,
      &ActiveLocks, &Flags;

  DEVICE LaneRef(LaneStates &S, uint32_t L)
      : Of(S), Lane(L), Epoch(S.Epoch[L]), Barriers(S.Barriers[L]),
        WarpArrive(S.WarpArrive[L]), WarpDepart(S.WarpDepart[L]),
        PartDepart(S.PartDepart[L]), MetLanes(S.MetLanes[L]),
        ToldLanes(S.ToldLanes[L]), FenceBlock(S.FenceBlock[L]),
        FenceDevice(S.FenceDevice[L]), Release(S.Release[L]),
        Acquire(S.Acquire[L]), ToldInBlock(S.ToldInBlock[L]),
        ToldInBlockClock(S.ToldInBlockClock[L]), ToldWide(S.ToldWide[L]),
        ToldWideClock(S.ToldWideClock[L]), Pending(S.Pending[L]),
        NumLocks(S.NumLocks[L]), ActiveLocks(S.ActiveLocks[L]),
        Flags(S.Flags[L]) {}
  /// What the lane has done at clocks below `Now`, it may tell others of.
  DEVICE void give(uint32_t Now) const {
    uint64_t &Given = Of.Given[Lane];
    Given = uint64_t(Now) << 32 | Given >> 32;
  }
  DEVICE uint64_t &given() const { return Of.Given[Lane]; }
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
  PlaceOf Place;
  uint32_t Lane;

  DEVICE explicit Self(PlaceOf Place) : Place(Place), Lane(lane()) {}

  DEVICE uint32_t firstWarp() const { return Place.firstWarp(); }
  DEVICE uint32_t warpsInBlock() const { return Place.warpsInBlock(); }
  DEVICE uint32_t number() const { return Place.warp(); }
  /// Where another warp is in this one's block, if it is less than
  /// warpsInBlock().
  DEVICE uint32_t placeOf(uint32_t Warp) const {
    return (Warp - firstWarp()) & (NumWarps - 1);
  }

  DEVICE static WarpState &stateOf(uint32_t Warp) {
    return table<WarpState>(WarpsAt)[Warp];
  }
  DEVICE static LaneRef stateOf(uint32_t Warp, uint32_t Lane) {
    return {table<LaneStates>(LanesAt)[Warp], Lane};
  }
  DEVICE WarpState &warp() const { return stateOf(number()); }
  /// This lane's state, without what an earlier block left there.
  DEVICE LaneRef thread() const {
    const LaneRef T = stateOf(number(), Lane);
    const uint32_t Start = loadNear(warp().Start);
    if (T.Epoch != Start) {
      // A loop, which is skipped at once: each synchronisation comes here.
      auto *Fields = reinterpret_cast<uint32_t (*)[32]>(&T.Of.Barriers);
#pragma unroll 1
      for (uint32_t I = 0; I < NumResetFields; ++I)
        Fields[I][Lane] = 0;
      T.Epoch = Start;
    }
    return T;
  }
  /// Where the block's barriers are counted.
  DEVICE WarpState &firstWarpState() const { return stateOf(firstWarp()); }
  DEVICE uint32_t *known() const {
    return &table<uint32_t>(KnownAt)[number() * KnownEntries];
  }
};

/// Of the first grid of each kernel, the warps whose first checks are thorough,
/// and how many those are, of all lanes together.
constexpr uint32_t ThoroughWarps = 64, ThoroughChecks = 32 * 64;

/// What the warps of the block have read strongly. `IsNear`: as far as a
/// barrier has handed it on, for which the multiprocessor's cache will do.
DEVICE uint64_t seenByBlock(const Self &Me, bool IsNear) {
  const uint32_t NumOfBlock = Me.warpsInBlock();
  uint64_t All = 0;
#pragma unroll 1
  for (uint32_t I = 0; I < NumOfBlock; I += 4) {
    uint64_t Seen[4];
#pragma unroll
    for (uint32_t J = 0; J < 4; ++J) {
      const uint32_t Place = I + J < NumOfBlock ? I + J : I;
      const WarpState &W =
          Self::stateOf((Me.firstWarp() + Place) & (NumWarps - 1));
      Seen[J] = IsNear ? loadNear(W.Seen) : loadRelaxed(W.Seen);
    }
    All |= Seen[0] | Seen[1] | Seen[2] | Seen[3];
  }
  return All;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_THREADS_H
