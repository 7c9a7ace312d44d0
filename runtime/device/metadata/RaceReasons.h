// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a report says of a race.
#ifndef CRSAN_DEVICE_METADATA_RACEREASONS_H
#define CRSAN_DEVICE_METADATA_RACEREASONS_H

#include "metadata/HappensBefore.h"
#include "metadata/Release.h"

namespace crsan::device {

/// Calls Do(Lane) for each lane with a state in the block of `Warp`, until a
/// call returns true. Returns whether one did.
template <typename Function>
DEVICE bool anyOfBlock(const WarpState &Warp, Function Do) {
  const PlaceOf Place{loadRelaxed(Warp.Place)};
#pragma unroll 1
  for (uint32_t I = 0; I < Place.warpsInBlock() * 32; ++I) {
    const uint32_t Number = (Place.firstWarp() + I / 32) & (NumWarps - 1);
    const LaneRef T = Self::stateOf(Number, I % 32);
    if (T.Epoch == loadRelaxed(Self::stateOf(Number).Start) && Do(T))
      return true;
  }
  return false;
}

/// The reason LaterUnfenced for threads of two blocks: whether the block of the
/// earlier thread (warp `Theirs`, lane `Lane`) has told an object of clocks
/// above `Then`, and the block of this thread has read that object strongly but
/// has executed no fence since. Returns false if more objects were read than
/// are remembered.
HELPER bool blockHasReadUnfenced(PlaceOf Place, uint32_t Theirs, uint32_t Lane,
                                 uint32_t Then) {
  const WarpState &Mine = Self(Place).warp(), &Other = Self::stateOf(Theirs);
  static_assert(MaxWidePending == 2);
  uint32_t First = 0, Second = 0;
  anyOfBlock(Mine, [&](const LaneRef &T) {
    const uint32_t Num = T.Pending >> WidePendingAt;
    if (Num == 0 || Num > MaxWidePending)
      return false;
    First = T.pendingWide(0);
    Second = Num > 1 ? T.pendingWide(1) : First;
    return true;
  });
  const auto HasTold = [&](const LaneRef &T) {
    const uint32_t Last = T.ToldWide % (1u << ToldCellBits);
    const uint32_t Before = T.ToldWide >> ToldCellBits;
    return T.ToldWideClock > Then && (Last == First || Last == Second ||
                                      Before == First || Before == Second);
  };
  // After a barrier of its block, any thread of the earlier block may hand on
  // the access.
  return First &&
         (HasTold(Self::stateOf(Theirs, Lane)) ||
          (loadRelaxed(Other.Barrier) > Then && anyOfBlock(Other, HasTold)));
}

/// The RaceReasons that are about this thread alone.
DEVICE uint64_t reasonsOfLater(const Self &Me) {
  const bool HoldsLock = loadRelaxed(Me.warp().LockedLanes) >> Me.Lane & 1;
  return (Me.thread().Acquire ? uint64_t(LaterAcquired) : 0) |
         (HoldsLock ? uint64_t(LaterHoldsLock) : 0);
}

/// The RaceReasons of a race with `OfEarlier`, at the distance `How`.
HELPER uint64_t reasonsOf(PlaceOf Place, uint64_t OfEarlier, Order How) {
  const Self Me(Place);
  Accessor Earlier(OfEarlier);
  const AccessSite *Site = siteAt(Earlier.site());
  if (Earlier.isInFlight() && !Earlier.isBulk())
    Earlier = settled(Earlier);
  const LaneRef T = Self::stateOf(Earlier.warp(), Earlier.lane());
  const LaneRef Mine = Me.thread();
  const uint32_t Then = Earlier.made();
  uint64_t Why = 0;
  if (How == Order::SameWarp)
    Why |= SameWarp | SameBlock;
  if (How == Order::SameBlock)
    Why |= SameBlock;
  if (isForgotten(Earlier))
    return Why | EarlierEnded | EarlierForgotten | reasonsOfLater(Me) |
           (Earlier.isSeveral() ? uint64_t(SeveralReaders) : 0);
  if (How == Order::OtherKernel) {
    const uint32_t Alive = loadRelaxed(Self::stateOf(Earlier.warp()).Alive);
    Why |= OtherGrid | (Alive & AliveMask ? 0 : uint64_t(UnorderedLaunch));
  }
  const WarpState &Other = Self::stateOf(Earlier.warp());
  // The end of a thread is noted like a barrier of its warp; the threads that
  // stay may meet at later barriers.
  const bool IsLeaky = loadRelaxed(Other.Flags) & Leaky;
  const bool Left = !IsLeaky && (T.Flags & HasLeft) && T.WarpArrive > Then;
  const uint32_t Barrier = loadRelaxed(Other.Barrier);
  const bool HasMet = Left ? Barrier > Then && Barrier < T.WarpArrive
                           : Barrier > Then || loadRelaxed(Other.Met) > Then;
  const uint32_t LastGiven = uint32_t(T.given() >> (Left ? 0 : 32));
  if (Left || (!IsLeaky && !(loadRelaxed(Other.Alive) & AliveMask)))
    Why |= EarlierEnded;
  const uint32_t Roles = Site ? Site->Roles : 0;
  if (Earlier.isInFlight())
    Why |= EarlierInFlight |
           (Roles & ByBulkGroup ? uint64_t(EarlierBulkGroup) : 0) |
           (Roles & ByMbarrier ? uint64_t(EarlierAtMbarrier) : 0) |
           (Roles & ByWarpGroup ? uint64_t(EarlierByWarpGroup) : 0);
  else if (Site && Site->Flags & IsCopy)
    Why |= EarlierWaited;
  if (LastGiven <= Then && !HasMet)
    Why |= EarlierNoSync;
  if (T.FenceBlock > Then)
    Why |= T.FenceDevice > Then ? EarlierFencedDevice : EarlierFencedBlock;
  if (HasMet || (T.WarpArrive > Then && !Left))
    Why |= EarlierBarrier;
  Why |= reasonsOfLater(Me);
  if (Earlier.isLocked()) {
    Why |= EarlierUsedLock;
    if (loadRelaxed(Other.LockedLanes) >> Earlier.lane() & 1)
      Why |= EarlierHoldsLock;
  }
  if (How == Order::OtherBlock) {
    if (blockHasReadUnfenced(Me.Place, Earlier.warp(), Earlier.lane(), Then))
      Why |= LaterUnfenced;
  } else if (How == Order::SameBlock || How == Order::SameWarp) {
    if (T.ToldInBlockClock > Then &&
        (T.ToldInBlock & Mine.Pending & OfBlockPending))
      Why |= LaterUnfenced;
  }
  if (Earlier.isSeveral() && !Earlier.isInFlight())
    Why |= SeveralReaders;
  return Why;
}

/// The RaceReasons of what judgeProxies finds at the distance `How`.
DEVICE uint64_t reasonsOfProxies(Order How) {
  return LacksProxyFence |
         (How == Order::SameWarp    ? uint64_t(SameWarp | SameBlock)
          : How == Order::SameBlock ? uint64_t(SameBlock)
                                    : 0);
}

/// The kind of a race at the distance `How` for the reasons `Why`.
DEVICE RaceKind kindOf(Order How, uint64_t Why, const AccessSite &Later,
                       const AccessSite &Earlier) {
  const bool LaterStrong = isStrongSite(Later);
  const bool EarlierStrong = isStrongSite(Earlier);
  if (Why & LacksProxyFence)
    return RaceKind::ProxyFence;
  if ((Later.Roles | Earlier.Roles) & IsOperation)
    return RaceKind::StreamOperation;
  if (How == Order::OtherKernel)
    return RaceKind::InterKernel;
  if (Why & EarlierInFlight)
    return How == Order::OtherBlock ? RaceKind::InterBlock
                                    : RaceKind::IntraBlock;
  if (LaterStrong && EarlierStrong)
    return RaceKind::AtomicScope; // R1; ScoRD (d).
  if (Why & (LaterHoldsLock | EarlierUsedLock))
    return RaceKind::ImproperLock; // R5; ScoRD (e), (f).
  if (How == Order::SameWarp)
    return RaceKind::WarpBarrier; // R2.
  if (LaterStrong != EarlierStrong)
    return RaceKind::NotStrong;                          // ScoRD (c).
  return How == Order::SameBlock ? RaceKind::IntraBlock  // R3; ScoRD (a).
                                 : RaceKind::InterBlock; // R4; ScoRD (b).
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_RACEREASONS_H
