// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of warps and blocks.
//
// Entry points at barriers of a warp and of a block. Each lane calls for itself
// unless the comment says otherwise. `Place` is the WarpState::Place of the
// calling lane's warp. docs/metadata-design.md, "What each instruction does",
// says what is done at each barrier.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_BARRIER_H
#define CRSAN_DEVICE_METADATA_ENTRY_BARRIER_H

#include "metadata/GridSample.h"
#include "metadata/Meeting.h"
#include "metadata/Release.h"

namespace crsan::device {

/// A barrier of the lanes in `Mask`, when the 32 lanes of the warp do not all
/// come together. Waits at a barrier of the same lanes between noting the
/// arrival and the departure.
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
  // The lanes that this lane may know of since all lanes last met: those that
  // it met at barriers of some lanes, or any lane if it has acquired. Lanes
  // that are not in this barrier are told to the others.
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
  // This lane now knows of all sources that the other lanes have acquired from.
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

/// Entry point. A barrier of the lanes in `Mask` of this warp is about to
/// happen. The entry point executes the barrier itself too, since accesses of
/// the other lanes are ordered before this lane's departure only once all lanes
/// have arrived. Called by each lane in `Mask`, together or apart.
HOT_ENTRY void __crsan_md_warp_barrier(uint32_t Mask, uint32_t Place) {
  const PlaceOf Mine{Place};
  if (!Mine.isFollowed())
    return;
  if (Mask == ~0u) {
    // As a rule this is the whole warp, which is converged behind the barrier.
    __nvvm_bar_warp_sync(Mask);
    WarpState &W = Self::stateOf(Mine.warp());
    if (setMet(W, loadNear(W.Clock) + 1))
      return;
  }
  meetSome(Mine, Mask);
}

/// Entry point. A warp releases to the cell of its block's barrier what it has
/// acquired elsewhere since it last did so; behind the barrier, all warps of
/// the block acquire from the cell (__crsan_md_take). `Now` is the clock of the
/// warp's arrival. Called before the barrier by the lanes that arrive together.
ENTRY void __crsan_md_give(uint32_t Now, uint32_t Place) {
  const Self Me(PlaceOf{Place});
  SyncCell &Cell = SyncCells::at(SyncCells::ofBarrier(Me));
  if (activeMask() == ~0u) {
    Knowledge(Me).giveTogether(Me, Cell, Now);
  } else {
    // Another lane may have set HasFresh (noteFresh): what that lane wrote must
    // be visible first.
    fenceDevice();
    Knowledge(Me).giveTo(Me, Cell, Now);
  }
  const uint32_t Next = loadRelaxed(Me.warp().Barrier) + 1;
  raise(Me.firstWarpState().NewsAt, Now > Next ? Now : Next);
}
/// Entry point. The warp acquires from the cell of its block's barrier, behind
/// the barrier. `IsExtra`: other warps of the block may have departed without
/// acquiring.
ENTRY void __crsan_md_take(uint32_t IsExtra, uint32_t Place) {
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
  // For lanes of the warp this is no news beyond the barrier itself, so the
  // clock does not step.
  T.Acquire = T.WarpDepart;
  if (IsExtra)
    noteFresh(Me.warp());
}

/// Entry point. A barrier of all threads of the block is about to happen. Of a
/// barrier to which all threads have to come at one place of the source, `S` is
/// the site, else it is null. `Iteration`: see noteMeeting().
HOT_ENTRY void __crsan_md_block_arrive(AccessSite *S, uint32_t Iteration,
                                       uint32_t Place) {
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  if (S)
    noteMeeting(Me, *S, Iteration);
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
    // Another block of this number may have set the clock back, below the clock
    // at which others see news.
    acquireEverything(Me.Place);
    setFlags(Me.firstWarpState().News, AlwaysNews);
  }
  if (loadNear(W.Place) & HasFresh) {
    clearFlags(W.Place, HasFresh);
    __crsan_md_give(Now, Place);
  }
}

/// Entry point. As __crsan_md_block_arrive, for a barrier at which other
/// threads of the block may arrive by a named barrier with a count.
HOT_ENTRY void __crsan_md_block_arrive_uneven(uint32_t Place) {
  if (!PlaceOf{Place}.isFollowed())
    return;
  setFlags(Self(PlaceOf{Place}).firstWarpState().News, Uneven);
  __crsan_md_block_arrive(nullptr, 0, Place);
}

/// Entry point. The barrier of the block has happened: clock and Barrier become
/// the largest clock of arrival, and the warp acquires from the barrier's cell
/// if a warp of the block has released to it. `S` and `Iteration`: as they were
/// told before.
HOT_ENTRY void __crsan_md_block_depart(AccessSite *S, uint32_t Iteration,
                                       uint32_t Place) {
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  WarpState &W = Me.warp();
  const LaneRef T = Me.thread();
  const uint32_t Barriers = ++T.Barriers;
  // All warps of the block continue from the same clock.
  uint32_t Now = loadRelaxed(Me.firstWarpState().Arrive[Barriers & 1]);
  const uint32_t News = loadRelaxed(Me.firstWarpState().News);
  const uint32_t NewsAt = loadRelaxed(Me.firstWarpState().NewsAt);
  const uint32_t Before = loadNear(W.Barrier);
  if (News & Uneven) {
    const uint32_t Other =
        loadRelaxed(Me.firstWarpState().Arrive[(Barriers + 1) & 1]);
    Now = Other > Now ? Other : Now;
  }
  // Lanes that are not together raise the clocks one by one, as in `step`.
  if (!setBarrier(W, Now)) {
    raiseClock(W, Now);
    raise(W.Barrier, Now);
  }
  T.WarpDepart = Now;
  // For lanes that come late, other lanes have set Barrier already. If two
  // blocks have one number, Barrier may be the other block's.
  const bool IsNews = News || NewsAt > Before;
  if (IsNews || Before >= Now || isMixed(W))
    __crsan_md_take(!IsNews, Place);
  if (S)
    judgeMeeting(Me, *S, Iteration);
  noteTime(Me);
}

/// Whether this warp needs nothing at a barrier of its block but the clock that
/// all warps go on from: its lanes are together, and it has nothing to hand on.
/// Warps that this holds for do not write down what their lanes do.
DEVICE bool needsClockAlone(const Self &Me, AccessSite *S, uint32_t Clock) {
  const WarpState &W = Me.warp(), &First = Me.firstWarpState();
  const uint32_t News = loadRelaxed(First.News);
  const uint32_t NewsAt = loadRelaxed(First.NewsAt);
  return !S && activeMask() == ~0u && !isUsedUp(Clock) && News == 0 &&
         NewsAt <= loadNear(W.Barrier) &&
         !(loadNear(W.Place) & (HasFresh | NeedsCare)) && !isMixed(W);
}

/// Whether `Is` holds for a thread of the block. All threads of the block call
/// together, and meet.
DEVICE bool meetAndAsk(bool Is) {
  uint32_t IsAny;
  asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; "
               "barrier.red.or.pred q, 0, p; selp.u32 %0, 1, 0, q; }"
               : "=r"(IsAny)
               : "r"(uint32_t(Is))
               : "memory");
  return IsAny;
}

/// Entry point. All threads of the block have just met at a barrier, and some
/// warp has done more than pass the last barrier. The threads meet once more,
/// to agree on a clock, and if some have anything to hand on, another time.
/// Called by all threads of the block. `S` and `Iteration`: see
/// __crsan_md_block_arrive.
HOT_ENTRY void __crsan_md_block_agree(AccessSite *S, uint32_t Iteration,
                                      uint32_t Place) {
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  WarpState &W = Me.warp();
  uint32_t &Agreed = table<uint32_t>(AgreementsAt)[Me.firstWarp()];
  const uint32_t Clock = loadNear(W.Clock) + 1;
  // Since all threads have just met, no thread still reads an earlier value.
  if (isFirstHere())
    raise(Agreed, Clock);
  if (meetAndAsk(!needsClockAlone(Me, S, Clock))) {
    __crsan_md_block_arrive(S, Iteration, Place);
    asm volatile("barrier.sync 0;" ::: "memory");
    __crsan_md_block_depart(S, Iteration, Place);
    return;
  }
  __nvvm_bar_warp_sync(~0u);
  const uint32_t Now = loadRelaxed(Agreed);
  if (!setBarrier(W, Now)) {
    raiseClock(W, Now);
    raise(W.Barrier, Now);
  }
  noteTime(Me);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ENTRY_BARRIER_H
