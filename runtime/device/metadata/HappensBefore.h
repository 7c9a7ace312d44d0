// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides whether an earlier access of a word happens before the access that
// this thread is about to make.
//
// The conditions carry the names of iGUARD's Table 2 (P1 to P6, R1 to R5) and
// of ScoRD's Table IV. The papers ask whether the earlier thread has
// synchronized since its access, and then call the two accesses ordered. That
// accuses accesses that are ordered through a third thread, and misses races
// with a thread that does not acquire. Here P3 to P5 are exact, and for all
// else the question is whether the earlier access has reached the later thread
// through a chain of releases and acquires (docs/metadata-proof.md).
#ifndef CRSAN_DEVICE_METADATA_HAPPENSBEFORE_H
#define CRSAN_DEVICE_METADATA_HAPPENSBEFORE_H

#include "metadata/AsyncCopy.h"
#include "metadata/BulkCopy.h"
#include "metadata/HeardLanes.h"
#include "metadata/LaunchOrder.h"
#include "metadata/Site.h"

namespace crsan::device {

/// The outcome of a judgement.
enum class Order : uint8_t {
  Ordered,     ///< Ordered, or not known: no race is reported.
  SameWarp,    ///< A race of two lanes of one warp,
  SameBlock,   ///< of two warps of one block,
  OtherBlock,  ///< of two blocks of one grid,
  OtherKernel, ///< of two grids.
};

/// The first and cheapest test: it shows that most accesses are ordered from
/// the fields of this thread's own warp, without the state of the earlier
/// thread. __crsan_in_is_ordered is the same test in line.
struct Quick {
  const Self &Me;
  uint32_t Barrier, Floor;

  DEVICE bool isOrdered(Accessor Earlier, Accessor Mine, bool InShared) const {
    const uint32_t Then = Earlier.clock();
    const bool InBlock = Me.placeOf(Earlier.warp()) < Me.warpsInBlock() &&
                         !Me.isOfEarlierBlock(Earlier);
    return Then < Floor || // P1, or an access of an earlier kernel.
           (InBlock && Then < Barrier) ||              // P5.
           (InShared && !InBlock && !hasClusters()) || // Of another block.
           (Earlier.isSameMoment(Mine) && !Earlier.isSeveral()); // P3.
  }
};

/// P4: whether the lane of `Earlier`, of this warp, and this lane have met
/// since, at a barrier of the warp or by a release and an acquire. iGUARD also
/// accepts that lanes run in lockstep, which the CUDA model does not promise.
/// `Arrive` and `Release` are the earlier lane's last clocks of these kinds.
DEVICE bool haveMet(const Self &Me, Accessor Earlier, uint32_t Arrive,
                    uint32_t Release) {
  const uint32_t Then = Earlier.clock();
  // All lanes of the warp have met together.
  if (loadNear(Me.warp().Met) > Then)
    return true;
  const LaneRef Mine = Me.thread();
  const uint32_t Depart = Mine.WarpDepart, Acquire = Mine.Acquire;
  const uint32_t PartDepart = Mine.PartDepart, Met = Mine.MetLanes;
  // An accessor marked Several stands for other lanes too, whose clocks are not
  // known.
  const bool IsAny = Earlier.lane() == Me.Lane;
  const bool HasReleased = Release >= Then + !Earlier.isStrong();
  if (!IsAny && !HasReleased && Arrive <= Then)
    return false;
  if (Depart > Then || Acquire > Then)
    return true;
  // After barriers of some lanes only, the earlier lane must be among those
  // that this lane may have heard of (MetLanes).
  return PartDepart > Then &&
         (IsAny || HasReleased || (Met >> Earlier.lane() & 1));
}

/// The second test: whether the clocks that this warp knows, or the meetings of
/// its own lanes, show that `Earlier` is ordered before this thread's access.
/// The values may come from the L1 cache, where a stale value is too small and
/// so shows less. `IsThorough`: use only the test within a warp, since most of
/// what the other test shows is to be examined anyway.
DEVICE bool isOrderedNear(const Self &Me, Accessor Earlier, bool IsThorough) {
  const uint32_t Theirs = Earlier.warp();
  if (Theirs == Me.number() && !Me.isOfEarlierBlock(Earlier)) {
    const LaneRef T = Self::stateOf(Theirs, Earlier.lane());
    const uint32_t Arrive = loadNear(T.WarpArrive);
    const uint32_t Release = loadNear(T.Release);
    return haveMet(Me, Earlier, Arrive, Release);
  }
  // For a thorough check, a release by the warp may have been that of another
  // lane.
  if (IsThorough)
    return false;
  const uint32_t Flags = loadNear(Me.warp().Flags);
  const uint32_t Known = loadNear(Me.known()[knownEntry(Theirs)]);
  return (Flags & HasKnown) && Known >= Earlier.clock() + !Earlier.isStrong();
}

/// What the state of this warp says at the time of a judgement.
struct Standing {
  uint32_t Barrier;
  uint32_t Known; ///< Known clock of the earlier warp, or of another warp with
                  ///< the same entry.

  DEVICE bool knowsOf(Accessor Earlier) const {
    // An entry shared by several warps keeps the largest clock. A strong access
    // at exactly the known clock may be the one that released it, behind the
    // fence.
    return Known >= Earlier.clock() + !Earlier.isStrong();
  }
};

/// Judges `Earlier`, of this warp, against this lane's access.
DEVICE Order judgeInWarp(const Self &Me, const Standing &Now,
                         Accessor Earlier) {
  const uint32_t Then = Earlier.clock();
  if (Earlier.lane() == Me.Lane && !Earlier.isSeveral())
    return Order::Ordered; // P3: program order.
  if (Then < Now.Barrier)
    return Order::Ordered; // P5.
  // When every clock is known, the other lane may have arrived by means that
  // the runtime did not see.
  if (Now.Known == Everything)
    return Order::Ordered;
  const LaneRef Theirs = Self::stateOf(Me.number(), Earlier.lane());
  const uint32_t Arrive = loadRelaxed(Theirs.WarpArrive);
  const uint32_t Release = loadRelaxed(Theirs.Release);
  return haveMet(Me, Earlier, Arrive, Release) ? Order::Ordered
                                               : Order::SameWarp; // R2.
}

/// Whether only the lane of `Earlier` can have handed on the access: since
/// then, no barrier of its whole warp and no barrier of its block has been
/// passed.
DEVICE bool isOfOneLane(Accessor Earlier) {
  const AccessSite *Site = siteAt(Earlier.site());
  // An accessor marked Several may be of any lane, and a copy has the clock of
  // a wait.
  if (Earlier.isSeveral() || !Site || (Site->Flags & IsCopy))
    return false;
  const WarpState &Warp = Self::stateOf(Earlier.warp());
  const uint32_t Then = Earlier.clock();
  if (loadRelaxed(Warp.Met) > Then || (loadRelaxed(Warp.Flags) & Leaky))
    return false;
  const PlaceOf Place{loadRelaxed(Warp.Place)};
#pragma unroll 1
  for (uint32_t I = 0; I < Place.warpsInBlock(); ++I) {
    const uint32_t Number = (Place.firstWarp() + I) & (NumWarps - 1);
    if (loadRelaxed(Self::stateOf(Number).Barrier) > Then)
      return false;
  }
  return true;
}

/// Whether the lane of `Earlier` has not handed on its access, although other
/// lanes of its warp have released clocks up to `Known`. Requires isOfOneLane.
/// A chain from the access begins with a step of the lane (LaneStates::Given)
/// and hands on at least that step's clock.
DEVICE bool hasKeptToItself(Accessor Earlier, uint32_t Known) {
  const uint32_t Then = Earlier.clock();
  const uint64_t Given =
      loadRelaxed(Self::stateOf(Earlier.warp(), Earlier.lane()).given());
  const uint32_t Last = uint32_t(Given >> 32), Before = uint32_t(Given);
  return Before <= Then && (Last <= Then || Last > Known);
}

/// Whether this thread cannot have heard of the lane of `Earlier`, of the same
/// block, although it has heard of other lanes of that warp: none of the sync
/// cells that it acquired from names the lane (SyncCell::Lanes). Requires
/// isOfOneLane. Not answered once a thread of the block has left, since its
/// warps may then disagree on the number of barriers passed.
DEVICE bool hasNotHeardOf(const Self &Me, Accessor Earlier) {
  if (!(Me.Place.Bits & TellsLanes) ||
      (loadRelaxed(Me.firstWarpState().News) & Uneven) ||
      (lanesHeardOf(Me, Me.thread()) >> Earlier.lane() & 1))
    return false;
  uint32_t Alive = 0, All = 0;
#pragma unroll 1
  for (uint32_t I = 0; I < Me.warpsInBlock(); ++I) {
    const uint32_t Warp =
        loadRelaxed(Self::stateOf((Me.firstWarp() + I) & (NumWarps - 1)).Alive);
    Alive += Warp & AliveMask;
    All |= Warp;
  }
  return !(All & (Mixed | BeginsMask)) &&
         Alive == uint32_t(__nvvm_read_ptx_sreg_ntid_x() *
                           __nvvm_read_ptx_sreg_ntid_y() *
                           __nvvm_read_ptx_sreg_ntid_z());
}

/// Whether this lane has heard of no other warp, whatever other lanes of its
/// warp have: it has not acquired, and it has met no lane since one of them
/// first acquired (WarpState::Heard).
DEVICE bool hasHeardNothing(const Self &Me) {
  const LaneRef T = Me.thread();
  const WarpState &W = Me.warp();
  const uint32_t Heard = loadRelaxed(W.Heard);
  return Heard != ~0u && T.Acquire == 0 && T.WarpDepart <= Heard &&
         T.PartDepart <= Heard && loadRelaxed(W.Met) <= Heard &&
         loadRelaxed(W.Barrier) <= Heard;
}

/// Judges an access of another grid: warp `Theirs` made it at the clock `Then`.
/// `OtherAlive` and `OtherGrid` come from that warp's state, and `Flags` from
/// this warp's.
DEVICE Order judgeOtherGrid(const WarpState &Mine, const WarpState &Other,
                            uint32_t Theirs, uint32_t Then, uint32_t OtherAlive,
                            uint64_t OtherGrid, uint32_t Flags) {
  // While a thread of the other grid runs, no stream or event has ordered that
  // grid before this one. The host or a third grid may have, but only if a
  // thread has released beyond its block since the access.
  const uint32_t OtherFlags = loadRelaxed(Other.Flags);
  const uint32_t Foreign = foreign();
  const uint32_t Anybody = knownToAnybody(Theirs);
  if ((OtherFlags & (Leaky | Opaque)) || Foreign || Anybody > Then)
    return Order::Ordered;
  // If the other grid has ended, the order of launches decides, unless this
  // warp has acquired anything: a third grid, ordered after the other one, may
  // have told it.
  const bool IsRunning = (OtherAlive & AliveMask) != 0;
  return IsRunning || (!(Flags & HasKnown) &&
                       areUnordered(OtherGrid, Mine.Grid, Then))
             ? Order::OtherKernel
             : Order::Ordered;
}

/// Whether another block has the number of the warp of `Earlier` by now, so
/// that nothing is known of that warp but what it released.
DEVICE bool isForgotten(Accessor Earlier) {
  return Earlier.made() < loadRelaxed(Self::stateOf(Earlier.warp()).Start);
}

/// Judges an access of a warp that is forgotten, unless the access is of an
/// earlier grid. Blocks of one grid are unordered unless something has been
/// released beyond a block.
DEVICE Order judgeEarlierBlock(const Self &Me, Accessor Earlier,
                               const WarpState &Other, uint32_t Flags,
                               bool IsKnown) {
  const WarpState &Mine = Me.warp();
  const uint32_t Then = Earlier.made();
  const uint64_t First = loadRelaxed(Other.GridFirst);
  if (loadRelaxed(metadata().GridsRepeat) || !(Me.Place.Bits & SharesNumber) ||
      loadRelaxed(Other.Grid) != Mine.Grid ||
      uint32_t(First >> 32) != hashOfGrid(Mine.Grid) || Then < uint32_t(First))
    return Order::Ordered;
  const AccessSite *Site = siteAt(Earlier.site());
  // A copy may have the clock of a wait.
  if (Earlier.isInFlight() || !Site || (Site->Flags & IsCopy))
    return Order::Ordered;
  // Where this block's number is another block's too, the access may be by a
  // thread of this block that has ended.
  if (Me.placeOf(Earlier.warp()) < Me.warpsInBlock() &&
      loadRelaxed(Other.Block) != Mine.Block)
    return Order::Ordered;
  const uint32_t OtherFlags = loadRelaxed(Other.Flags);
  const bool MayBeUntold =
      ((Flags | OtherFlags) & (Leaky | Opaque)) || foreign();
  return IsKnown || MayBeUntold || knownToAnybody(Earlier.warp()) > Then
             ? Order::Ordered
             : Order::OtherBlock; // R4.
}

/// Judges an access by a bulk copy: it has happened before what this thread
/// does now only if the thread knows that the copy has ended. `Other` is the
/// state of the warp that has issued the copy.
DEVICE Order judgeBulk(const Self &Me, Accessor Copy, const WarpState &Other) {
  const WarpState &Mine = Me.warp();
  const uint32_t Issued = Copy.made();
  const uint32_t Alive = loadRelaxed(Mine.Alive);
  const uint32_t OtherAlive = loadRelaxed(Other.Alive);
  const uint32_t Flags = loadRelaxed(Mine.Flags) | loadRelaxed(Other.Flags);
  // A warp that is not alive, or whose block has not written its state yet, may
  // have copied in an earlier launch of the same node of a graph.
  const bool MayBePast =
      (OtherAlive & BeginsMask) ||
      (!(OtherAlive & AliveMask) && loadRelaxed(metadata().GridsRepeat));
  if (Issued < loadRelaxed(Mine.Floor) || Issued < loadRelaxed(Other.Start) ||
      Issued > loadRelaxed(Other.Clock) || ((Alive | OtherAlive) & Mixed) ||
      MayBePast || (Flags & (Leaky | Opaque)) || foreign() ||
      loadRelaxed(Other.Grid) != Mine.Grid || isKnown(Me, Copy))
    return Order::Ordered;
  return loadRelaxed(Other.Block) != Mine.Block ? Order::OtherBlock
         : Copy.warp() == Me.number()           ? Order::SameWarp
                                                : Order::SameBlock;
}

/// Judges whether the access `OfEarlier` happens before what this thread, of
/// the warp of `Place`, does now.
HELPER Order judge(PlaceOf Place, uint64_t OfEarlier) {
  const Self Me(Place);
  Accessor Earlier(OfEarlier);
  if (Earlier.isNobody())
    return Order::Ordered; // P1: first access.
  if (Earlier.isBulk())
    return judgeBulk(Me, Earlier, Self::stateOf(Earlier.warp()));
  if (Earlier.isInFlight())
    Earlier = settled(Earlier);
  const bool InFlight = Earlier.isInFlight();
  const uint32_t Then = Earlier.made(), Theirs = Earlier.warp();
  const WarpState &Mine = Me.warp();
  const WarpState &Other = Self::stateOf(Theirs);
  // Load all that may be needed at once, to pay for one round trip to memory.
  const uint32_t Floor = loadRelaxed(Mine.Floor);
  const uint32_t Start = loadRelaxed(Other.Start);
  const uint32_t Clock = loadRelaxed(Other.Clock);
  const uint32_t Alive = loadRelaxed(Mine.Alive);
  const uint32_t OtherAlive = loadRelaxed(Other.Alive);
  const uint32_t Flags = loadRelaxed(Mine.Flags);
  const uint32_t Known = loadRelaxed(Me.known()[knownEntry(Theirs)]);
  const uint32_t Barrier = loadRelaxed(Mine.Barrier);
  const uint32_t OtherBarrier = loadRelaxed(Other.Barrier);
  const uint64_t OtherGrid = loadRelaxed(Other.Grid);
  const uint64_t OtherBlock = loadRelaxed(Other.Block);
  // Nothing is known of an earlier grid; and a state that is older than the
  // access says nothing of it.
  if (Then < Floor || Then > Clock || ((Alive | OtherAlive) & Mixed) ||
      (OtherAlive & BeginsMask))
    return Order::Ordered;
  const Standing Now{Barrier, Flags & HasKnown ? Known : 0};
  if (Then < Start)
    return judgeEarlierBlock(Me, Earlier, Other, Flags, Now.knowsOf(Earlier));
  // A copy in flight is unordered, if the shared memory is still this block's.
  // A warp that has not begun may have copied in an earlier launch of the same
  // node of a graph.
  if (InFlight) {
    const bool IsOurs =
        OtherGrid == Mine.Grid && OtherBlock == Mine.Block &&
        ((OtherAlive & AliveMask) || !loadRelaxed(metadata().GridsRepeat));
    return !IsOurs || Now.Known == Everything ? Order::Ordered
           : Theirs == Me.number()            ? Order::SameWarp
                                              : Order::SameBlock;
  }
  if (Theirs == Me.number())
    return judgeInWarp(Me, Now, Earlier);
  if (Now.knowsOf(Earlier)) {
    if (Now.Known == Everything || OtherGrid != Mine.Grid || Earlier.isStrong())
      return Order::Ordered;
    const bool IsUnknown =
        hasHeardNothing(Me) ||
        (isOfOneLane(Earlier) &&
         (hasKeptToItself(Earlier, Now.Known) ||
          (OtherBlock == Mine.Block && hasNotHeardOf(Me, Earlier))));
    if (!IsUnknown)
      return Order::Ordered;
  }
  if (OtherGrid != Mine.Grid)
    return judgeOtherGrid(Mine, Other, Theirs, Then, OtherAlive, OtherGrid,
                          Flags);
  // A warp that is not alive may be of an earlier launch of the same node of a
  // graph.
  if ((OtherAlive & AliveMask) == 0 && loadRelaxed(metadata().GridsRepeat))
    return Order::Ordered;
  if (OtherBlock != Mine.Block)
    return Order::OtherBlock; // R4.
  // P5: a barrier of the block that both threads have passed, or that all
  // threads of the earlier warp had left the kernel before.
  const bool HasLeft = (OtherAlive & AliveMask) == 0 && OtherBarrier < Barrier;
  if (Then < Barrier || HasLeft)
    return Order::Ordered;
  return Order::SameBlock; // R3.
}

/// Judges the write `Earlier` against a bulk copy's read, by this thread and
/// now, of the same bytes: whether the two are in order, but no fence between
/// their proxies is between them. Only a weak write by this grid counts, of
/// whose block the state is still known.
DEVICE Order judgeProxies(const Self &Me, Accessor Earlier) {
  const AccessSite *Site = siteAt(Earlier.site());
  if (Earlier.isNobody() || Earlier.isInFlight() || Earlier.isStrong() ||
      !Site || !surelyWrites(*Site) || (Site->Flags & IsCopy))
    return Order::Ordered;
  const WarpState &Mine = Me.warp();
  const WarpState &Other = Self::stateOf(Earlier.warp());
  const uint32_t Then = Earlier.made(), Flags = loadRelaxed(Mine.Flags);
  const uint32_t Alive = loadRelaxed(Mine.Alive);
  const uint32_t OtherAlive = loadRelaxed(Other.Alive);
  const bool IsGone = !(OtherAlive & AliveMask);
  if (Then < loadRelaxed(Mine.Floor) || Then < loadRelaxed(Other.Start) ||
      Then > loadRelaxed(Other.Clock) || ((Alive | OtherAlive) & Mixed) ||
      (OtherAlive & BeginsMask) || (Flags & Opaque) || foreign() ||
      loadRelaxed(Other.Grid) != Mine.Grid ||
      (IsGone && loadRelaxed(metadata().GridsRepeat)))
    return Order::Ordered;
  const bool IsOurs = loadRelaxed(Other.Block) == Mine.Block;
  // A pair that nothing orders is a race of another kind.
  if (judge(Me.Place, Earlier.Bits) != Order::Ordered ||
      !lacksProxyFence(Me, Earlier, IsOurs))
    return Order::Ordered;
  return Earlier.warp() == Me.number() ? Order::SameWarp
         : IsOurs                      ? Order::SameBlock
                                       : Order::OtherBlock;
}

/// Whether this thread may come after the strong write `Earlier` of `A`, from
/// which it is `How` far, by the second rule of causality order (Seen.h). So
/// the last block may reset the counter by which it found out that it is the
/// last, with or without a fence.
DEVICE bool mayHaveSeen(const Self &Me, Accessor Earlier, Address A,
                        Order How) {
  if (!(seenByBlock(Me, /*IsNear=*/false) >> seenBit(A) & 1))
    return false;
  // What has been read before the block's last barrier has not observed a write
  // by a thread of the block behind that barrier. A copy has the clock of its
  // issue or of a wait for it.
  const WarpState &W = Me.warp();
  const uint32_t Barrier = loadRelaxed(W.Barrier);
  const AccessSite *Site = siteAt(Earlier.site());
  const bool IsCopied = Earlier.isInFlight() || !Site || (Site->Flags & IsCopy);
  const bool IsOfBlock = How == Order::SameWarp || How == Order::SameBlock;
  const bool IsSinceBarrier =
      IsOfBlock ? !IsCopied
                // The block has passed no barrier.
                : How == Order::OtherBlock && Barrier <= loadRelaxed(W.Start);
  if (!IsSinceBarrier || loadRelaxed(Me.firstWarpState().News))
    return true;
  return wordsSeenSince(Me, Barrier) & seenWords(A, 1);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_HAPPENSBEFORE_H
