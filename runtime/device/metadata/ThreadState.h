// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is kept of each warp and lane.
//
// The synchronization metadata of iGUARD 6.1, with two differences: a warp has
// one clock instead of a counter for each kind of synchronization, and the
// state also says what the acquiring side has come to know. Two rules keep the
// state sound. What a thread releases is written before the program's release,
// and what it acquires is read after the program's acquire; so wherever the
// program's synchronization orders two accesses, it orders the metadata too.
// And whatever is shared or forgotten to save memory only makes more accesses
// look ordered.
#ifndef CRSAN_DEVICE_METADATA_THREADSTATE_H
#define CRSAN_DEVICE_METADATA_THREADSTATE_H

#include "metadata/Accessor.h"
#include "metadata/Place.h"

namespace crsan::device {

/// The fields of LaneStates that belong to one lane.
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
  /// Notes that from the clock `Now` on the lane may hand on what it did at
  /// smaller clocks.
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
  DEVICE uint32_t &products() const { return Of.Products[Lane]; }
  DEVICE uint16_t &copy(uint32_t I) const { return Of.Copies[I][Lane]; }
};

/// The running thread.
struct Self {
  PlaceOf Place;
  uint32_t Lane;

  DEVICE explicit Self(PlaceOf Place) : Place(Place), Lane(lane()) {}

  DEVICE uint32_t firstWarp() const { return Place.firstWarp(); }
  DEVICE uint32_t warpsInBlock() const { return Place.warpsInBlock(); }
  DEVICE uint32_t number() const { return Place.warp(); }
  /// The index of warp `Warp` in this thread's block; the warp is of the block
  /// if the index is less than warpsInBlock().
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
  /// The state of this lane, after resetting what an earlier block left there.
  DEVICE LaneRef thread() const {
    const LaneRef T = stateOf(number(), Lane);
    const uint32_t Start = loadNear(warp().Start);
    if (T.Epoch != Start) {
      // A loop, so that the common case skips it by one branch: every
      // synchronization comes here.
      auto *Fields = reinterpret_cast<uint32_t(*)[32]>(&T.Of.Barriers);
#pragma unroll 1
      for (uint32_t I = 0; I < NumResetFields; ++I)
        Fields[I][Lane] = 0;
      T.Epoch = Start;
    }
    return T;
  }
  /// The state of the block's first warp, which counts the barriers of the
  /// block.
  DEVICE WarpState &firstWarpState() const { return stateOf(firstWarp()); }
  /// Whether `Earlier`, of a warp whose number is of this thread's block, was
  /// made by an earlier block with that number.
  DEVICE bool isOfEarlierBlock(Accessor Earlier) const {
    return (Place.Bits & SharesNumber) &&
           Earlier.made() < loadNear(stateOf(Earlier.warp()).Start);
  }
  DEVICE uint32_t *known() const {
    return &table<uint32_t>(KnownAt)[number() * KnownEntries];
  }
};

/// In the first grid of each kernel, the first ThoroughWarps warps begin with
/// thorough checks, ThoroughChecks for all lanes of a warp together.
constexpr uint32_t ThoroughWarps = 64, ThoroughChecks = 32 * 64;

/// Whether another live block has or had this warp's number, and may have
/// overwritten the state of the warp and its lanes. Then the warp may have
/// heard of everything. To be asked after the state has been read.
DEVICE bool isMixed(const WarpState &W) { return loadRelaxed(W.Alive) & Mixed; }

/// Whether this lane is the first of those that are active here.
DEVICE bool isFirstHere() {
  return lane() == uint32_t(__builtin_ctz(activeMask()));
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_THREADSTATE_H
