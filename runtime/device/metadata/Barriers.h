//===- Barriers.h - Barriers of warps and blocks ---------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_BARRIERS_H
#define CRSAN_DEVICE_METADATA_BARRIERS_H

#include "metadata/Fences.h"

namespace crsan::device {

/// Of lanes that do not all come together to a barrier of their warp.
HELPER void meetSome(PlaceOf Place, uint32_t Mask) {
  const Self Me(Place);
  const LaneRef T = Me.thread();
  WarpState &W = Me.warp();
  const uint32_t Now = loadNear(W.Clock) + 1;
  T.WarpArrive = Now;
  T.give(Now);
  raiseClock(W, Now);
  if (Mask == ~0u) {
    T.ToldInBlock |= AnySource;
    __nvvm_bar_warp_sync(Mask);
    T.WarpDepart = step(Me);
    return;
  }
  // Whom this lane may know of since all have met: some lanes, or, by an
  // acquire, anybody. Whoever is not at this barrier, the others are told of.
  const uint32_t Barrier = loadNear(W.Barrier), All = loadNear(W.Met);
  uint32_t Whole = T.WarpDepart;
  Whole = Barrier > Whole ? Barrier : Whole;
  Whole = All > Whole ? All : Whole;
  uint32_t Met = (T.PartDepart > Whole ? T.MetLanes : 0) | Mask;
  if (T.Acquire > Whole)
    Met = ~0u;
  if (Met != Mask)
#pragma unroll 1
    for (uint32_t Others = Mask; Others; Others &= Others - 1)
      setFlags(Self::stateOf(Me.number(), __builtin_ctz(Others)).ToldLanes,
               Met);
  __nvvm_bar_warp_sync(Mask);
  if (loadRelaxed(T.ToldLanes))
    Met |= takeFlags(T.ToldLanes);
  T.MetLanes = Met;
  // What they have acquired, this one has.
  if ((Place.Bits & TellsLanes) &&
      (loadRelaxed(W.Flags) >> WarpSourcesShift & AllSources)) {
    uint32_t Told = T.ToldInBlock;
#pragma unroll 1
    for (uint32_t Others = Mask; Others; Others &= Others - 1)
      Told |=
          loadRelaxed(
              Self::stateOf(Me.number(), __builtin_ctz(Others)).ToldInBlock) &
          AllSources;
    T.ToldInBlock = Told;
  }
  T.PartDepart = step(Me);
}

} // namespace crsan::device

/// A barrier of lanes of this warp is about to happen. It happens here as well:
/// what the others accessed is before this lane's departure only once they have
/// all arrived.
HOT_ENTRY void __crsan_md_warp_barrier(uint32_t Mask, uint32_t Place) {
  using namespace crsan::device;
  const PlaceOf Mine{Place};
  if (!Mine.isFollowed())
    return;
  if (Mask == ~0u) {
    // The whole warp, as a rule; and from here on, together.
    __nvvm_bar_warp_sync(Mask);
    WarpState &W = Self::stateOf(Mine.warp());
    if (setMet(W, loadNear(W.Clock) + 1))
      return;
  }
  meetSome(Mine, Mask);
}

/// What the warps of a block hand on at its barriers, of what they know: a warp
/// gives what it has acquired elsewhere since it last gave, and then all warps
/// take. So what one of them has taken there, all have.
ENTRY void __crsan_md_give(uint32_t Now, uint32_t Place) {
  using namespace crsan::device;
  const Self Me(PlaceOf{Place});
  SyncCell &Cell = SyncCells::at(SyncCells::ofBarrier(Me));
  if (activeMask() == ~0u) {
    Knowledge(Me).giveTogether(Me, Cell, Now);
  } else {
    // The flag was another lane's, perhaps (noteFresh).
    fenceDevice();
    Knowledge(Me).giveTo(Me, Cell, Now);
  }
  const uint32_t Next = loadRelaxed(Me.warp().Barrier) + 1;
  raise(Me.firstWarpState().NewsAt, Now > Next ? Now : Next);
}
/// `IsExtra`: others of the block may have departed without taking.
ENTRY void __crsan_md_take(uint32_t IsExtra, uint32_t Place) {
  using namespace crsan::device;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  if (loadRelaxed(Me.firstWarpState().News) >= Unfollowed)
    return acquireEverything(Me.Place);
  const uint32_t Cell = SyncCells::ofBarrier(Me);
  const bool HasLearned = activeMask() == ~0u
                              ? acquireTogether(Me, T, Cell)
                              : acquire(Me, T, Cell, /*IsOwn=*/true);
  if (!HasLearned)
    return;
  // Of lanes of its warp this tells nothing that the barrier does not, so it is
  // no step of their clock.
  T.Acquire = T.WarpDepart;
  if (IsExtra)
    noteFresh(Me.warp());
}

/// A barrier of all threads of the block is about to happen.
HOT_ENTRY void __crsan_md_block_arrive(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  WarpState &W = Me.warp();
  const uint32_t Now = loadNear(W.Clock) + 1;
  if (!setClock(W, Now))
    raiseClock(W, Now);
  T.WarpArrive = Now;
  T.give(Now);
  if (isFirstHere())
    raise(Me.firstWarpState().Arrive[(T.Barriers + 1) & 1], Now);
  if (isMixed(W)) {
    // The clock may have been set back, below what the others take for news.
    acquireEverything(Me.Place);
    setFlags(Me.firstWarpState().News, AlwaysNews);
  }
  if (loadNear(W.Place) & HasFresh) {
    clearFlags(W.Place, HasFresh);
    __crsan_md_give(Now, Place);
  }
}

/// As above, of a barrier that other threads may come to by a count.
HOT_ENTRY void __crsan_md_block_arrive_uneven(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  setFlags(Self(PlaceOf{Place}).firstWarpState().News, Uneven);
  __crsan_md_block_arrive(Place);
}

/// It has happened.
HOT_ENTRY void __crsan_md_block_depart(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  WarpState &W = Me.warp();
  const LaneRef T = Me.thread();
  const uint32_t Barriers = ++T.Barriers;
  // All warps go on from the same clock.
  uint32_t Now = loadRelaxed(Me.firstWarpState().Arrive[Barriers & 1]);
  const uint32_t News = loadRelaxed(Me.firstWarpState().News);
  const uint32_t NewsAt = loadRelaxed(Me.firstWarpState().NewsAt);
  const uint32_t Before = loadNear(W.Barrier);
  if (News & Uneven) {
    const uint32_t Other =
        loadRelaxed(Me.firstWarpState().Arrive[(Barriers + 1) & 1]);
    Now = Other > Now ? Other : Now;
  }
  // Each lane for itself, as in tick.
  if (!setBarrier(W, Now)) {
    raiseClock(W, Now);
    raise(W.Barrier, Now);
  }
  T.WarpDepart = Now;
  // Of lanes that come late, others have set the barrier already; of blocks
  // that have one number at a time, it may be the other's.
  const bool IsNews = News || NewsAt > Before;
  if (IsNews || Before >= Now || isMixed(W))
    __crsan_md_take(!IsNews, Place);
}

/// All threads of the block have just met at a barrier, and not all of their
/// warps have done nothing but that since the last one: they meet once more,
/// to agree on a clock and to hand on what they know.
HOT_ENTRY void __crsan_md_block_agree(uint32_t Place) {
  if (!crsan::device::PlaceOf{Place}.isFollowed())
    return;
  __crsan_md_block_arrive(Place);
  asm volatile("barrier.sync 0;" ::: "memory");
  __crsan_md_block_depart(Place);
}

#endif // CRSAN_DEVICE_METADATA_BARRIERS_H
