//===- Metadata.h - What metadata mode is told of ---------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_H
#define CRSAN_DEVICE_METADATA_H

#include "Kernels.h"
#include "Locks.h"

namespace crsan::device {

/// What this thread writes strongly from now on releases what was before.
/// Returns the clock from now on.
DEVICE uint32_t noteFence(const Self &Me, const LaneRef &T, bool IsWide) {
  const uint32_t Now = tick(Me);
  T.FenceBlock = Now;
  if (IsWide)
    T.FenceDevice = Now;
  if (!((Me.Place.Bits | loadNear(Me.warp().Place)) & HasFenced))
    setFlags(Me.warp().Place, HasFenced);
  return Now;
}

/// A fence, behind strong reads that its thread may acquire from.
HELPER void acquireAndFence(PlaceOf Place, bool IsWide) {
  const Self Me(Place);
  const LaneRef T = Me.thread();
  // One step for both: what is acquired is so before the fence's clock.
  const bool HasLearned = acquirePending(Me, T, IsWide);
  const uint32_t Now = noteFence(Me, T, IsWide);
  if (HasLearned)
    T.Acquire = Now;
  activateLocks(Me, T);
}

/// What whoever arrived at an object, or released it, has told is known from
/// now on.
HELPER void collect(PlaceOf Place, SyncCells From, bool MayLock) {
  const Self Me(Place);
  const LaneRef T = Me.thread();
  const uint32_t Block = From.ofBlock(Me);
  bool HasLearned = false;
#pragma unroll 1
  for (uint32_t I = From.Wide ? 0 : 1; I < 2; ++I)
    HasLearned |= acquire(Me, T, I == 0 ? From.Wide : Block);
  if (HasLearned)
    T.Acquire = step(Me);
  if (MayLock)
    activateLocks(Me, T);
}

} // namespace crsan::device

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// A strong access is about to write: it releases what its order says, or what
/// a fence before it has made ready (ScoRD VI).
HOT_ENTRY void __crsan_md_release(crsan::abi::AccessSite *S, uint64_t A,
                                  uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed() || !canRace(A) || !isStrongSite(*S))
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  giveLock(Me, T, A);
  const bool Wide = isWide(S->Scope);
  const bool IsRelease = S->Order == MemoryOrder::Release ||
                         S->Order == MemoryOrder::AcquireRelease;
  if (IsRelease)
    noteFence(Me, T, Wide);
  // Of a mixed warp the fence may have been forgotten.
  const bool IsMixed = isMixed(Me.warp());
  if (T.FenceBlock || IsMixed)
    publish(Me, T,
            SyncCells(A, Wide && (T.FenceDevice || IsMixed) && !isOfBlock(A)),
            IsRelease, IsMixed, T.FenceDevice, T.FenceBlock);
}

/// A strong access has happened. One that reads acquires, at once or at the
/// next fence. Swap: 1 and 2 for a compare-and-swap that failed or succeeded.
/// Returns whether the same again, but for a swap that succeeds, would change
/// nothing before this thread next synchronises.
HOT_ENTRY uint32_t __crsan_md_strong_done(crsan::abi::AccessSite *S, uint64_t A,
                                          uint32_t Swap, uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed() || !(S->Flags & ReadsMemory) || !canRace(A))
    return 0;
  if (!isStrongSite(*S))
    return 1;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  noteSeenNear(Me.warp().Seen, uint64_t(1) << seenBit(A));
  if (Swap == 2 && (S->Roles & TakesLock))
    takeLock(T, A);
  const SyncCells From(A, isWide(S->Scope) && !isOfBlock(A));
  bool IsKnown = spaceOf(A) == Space::Shared;
  if (!IsKnown) {
    // What the host or another device has written, nobody has published.
    const PageRef Page(A);
    IsKnown = Page.isTracked() && !Page.isHost();
  }
  // What is called comes last: it leaves no register as it is.
  const bool Acquires = S->Order == MemoryOrder::Acquire ||
                        S->Order == MemoryOrder::AcquireRelease;
  const bool IsWritten = Swap != 1 && (S->Flags & IsSwap);
  if (IsKnown && !Acquires)
    awaitFence(T, From);
  if (IsWritten)
    rememberSwap(Me.Place, *S, A);
  if (!IsKnown)
    acquireEverything(PlaceOf{Place});
  else if (Acquires)
    collect(PlaceOf{Place}, From, /*MayLock=*/true);
  return IsKnown && !Acquires;
}

/// A fence has happened.
HOT_ENTRY void __crsan_md_fence(uint32_t Scope, uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  const bool Wide = isWide(crsan::abi::Scope(Scope));
  if (isPending(T, Wide))
    return acquireAndFence(PlaceOf{Place}, Wide);
  noteFence(Me, T, Wide);
  activateLocks(Me, T);
}

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

/// This thread is about to arrive at an object: a named barrier, an mbarrier, a
/// barrier of the cluster.
HOT_ENTRY void __crsan_md_publish(uint64_t Object, uint32_t Scope,
                                  uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const uint32_t Now = tick(Me);
  publish(Me, Me.thread(), SyncCells(Object, isWide(crsan::abi::Scope(Scope))),
          /*IsReleased=*/false, isMixed(Me.warp()), Now, Now);
}

/// This thread has waited for those who arrive at an object.
HOT_ENTRY void __crsan_md_collect(uint64_t Object, uint32_t Scope,
                                  uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  collect(PlaceOf{Place}, SyncCells(Object, isWide(crsan::abi::Scope(Scope))),
          /*MayLock=*/false);
}

/// As above, by a relaxed arrival: it tells what a fence before it has made
/// ready, as a relaxed write does.
HOT_ENTRY void __crsan_md_publish_fenced(uint64_t Object, uint32_t Scope,
                                         uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  const bool IsMixed = isMixed(Me.warp());
  if (T.FenceBlock || IsMixed)
    publish(Me, T,
            SyncCells(Object, isWide(crsan::abi::Scope(Scope)) &&
                                  (T.FenceDevice || IsMixed)),
            /*IsReleased=*/false, IsMixed, T.FenceDevice, T.FenceBlock);
}

/// As above, by a relaxed wait: what it gets, the next fence acquires.
HOT_ENTRY void __crsan_md_collect_later(uint64_t Object, uint32_t Scope,
                                        uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  awaitFence(Self(PlaceOf{Place}).thread(),
             SyncCells(Object, isWide(crsan::abi::Scope(Scope))));
}

/// This thread is about to copy `Size` bytes to `To`, in shared memory, and
/// will go on meanwhile.
HOT_ENTRY void __crsan_md_copy(crsan::abi::AccessSite *S, uint64_t To,
                               uint64_t Size, uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed() || Size == 0)
    return;
  beginCopy(Self(PlaceOf{Place}), To);
  __crsan_md_check(S, To, Size, 0, CheckCounts | CheckInFlight, Place);
}
/// It makes a group of the copies that it has issued since it made the last.
HOT_ENTRY void __crsan_md_commit_copies(uint32_t Place) {
  using namespace crsan::device;
  if (PlaceOf{Place}.isFollowed())
    commitCopies(Self(PlaceOf{Place}));
}
/// It waits for all groups but the last few, ...
HOT_ENTRY void __crsan_md_await_copies(uint32_t Groups, uint32_t Place) {
  using namespace crsan::device;
  if (PlaceOf{Place}.isFollowed())
    awaitCopies(Self(PlaceOf{Place}), Groups);
}
/// ... or for all copies; or whoever comes to know of what it gives away next
/// does.
HOT_ENTRY void __crsan_md_await_all_copies(uint32_t Place) {
  using namespace crsan::device;
  if (PlaceOf{Place}.isFollowed())
    awaitAllCopies(Self(PlaceOf{Place}));
}

/// A statement is about to acquire, and may itself hand on what it has
/// acquired.
HOT_ENTRY void __crsan_md_learn(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  awaitAllCopies(Self(PlaceOf{Place}));
  acquireEverything(PlaceOf{Place});
}

/// Something is about to happen, or has happened, that may order this thread
/// after any other, or others after this one.
HOT_ENTRY void __crsan_md_unknown(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  // It may wait for copies, or be a barrier of the block, which others know as
  // one.
  awaitAllCopies(Me);
  setFlags(Me.firstWarpState().News, AlwaysNews);
  // The kernel is of another unit, which did not know.
  if (!(loadNear(Me.warp().Flags) & Opaque) &&
      !(loadRelaxed(metadata().Foreign) & ForeignUnknown))
    setFlags(metadata().Foreign, ForeignUnknown);
  acquireEverything(Me.Place);
  fenceDevice();
}

namespace crsan::device {

/// Threads that are in functions of other units, which have not said yet that
/// they are followed: of all blocks, and of this one.
DEVICE void countCalls(const Self &Me, int32_t More) {
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().Foreign), More);
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&Me.firstWarpState().News),
                        More * int32_t(UnfollowedCall));
}

} // namespace crsan::device

/// This thread is about to call a function of another unit, ...
HOT_ENTRY void __crsan_md_calling(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  Me.thread().Flags |= IsCalling;
  countCalls(Me, 1);
}
/// ... which says so if it was compiled for metadata mode, ...
HOT_ENTRY void __crsan_md_called(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  if (!(T.Flags & IsCalling))
    return;
  T.Flags &= ~IsCalling;
  countCalls(Me, -1);
}
/// ... or else may have done anything. From then on every acquire may be one of
/// something that such a function released.
HOT_ENTRY void __crsan_md_returned(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  if (!(T.Flags & IsCalling))
    return;
  T.Flags &= ~IsCalling;
  setFlags(metadata().Foreign, ForeignUnknown);
  setFlags(Me.firstWarpState().News, Unfollowed);
  countCalls(Me, -1);
  __nvvm_atom_add_gen_ll(
      reinterpret_cast<long long *>(&metadata().ForeignCalls), 1);
  awaitAllCopies(Me);
  acquireEverything(Me.Place);
}

#endif // CRSAN_DEVICE_METADATA_H
