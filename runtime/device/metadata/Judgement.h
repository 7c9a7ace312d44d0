//===- Judgement.h - Are two accesses ordered? -----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conditions of iGUARD's Table 2 and of ScoRD's Table IV, by their names.
// The papers ask whether the earlier thread has synchronised since, and call
// two accesses ordered if it has. That accuses code that is ordered through a
// third thread, and misses whoever does not acquire. Here P3 to P5 are exact,
// and everything else is one question: has what the earlier thread did by then
// reached the later one through any chain of releases and acquires
// (docs/metadata-proof.md)?
//
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_JUDGEMENT_H
#define CRSAN_DEVICE_METADATA_JUDGEMENT_H

#include "metadata/Copies.h"
#include "metadata/LaunchOrder.h"

namespace crsan::device {

enum class Order : uint8_t {
  Ordered,     ///< Or perhaps; nothing is said.
  SameWarp,    ///< A race of two lanes of a warp,
  SameBlock,   ///< of two warps of a block,
  OtherBlock,  ///< of two blocks,
  OtherKernel, ///< of two grids.
};

/// What most often shows that there is no race, without a look at the state of
/// the earlier thread: what all accesses of a warp have in common.
struct Quick {
  const Self &Me;
  uint32_t Barrier, Floor;

  DEVICE bool isOrdered(Accessor Earlier, Accessor Mine, bool InShared) const {
    const uint32_t Then = Earlier.clock();
    const bool InBlock = Me.placeOf(Earlier.warp()) < Me.warpsInBlock();
    return Then < Floor ||                // P1, or of an earlier kernel.
           (InBlock && Then < Barrier) || // P5.
           (InShared && !InBlock) ||      // Another block's memory.
           (Earlier.isSameMoment(Mine) && !Earlier.isSeveral()); // P3.
  }
};

/// P4: whether two lanes of this warp have met, at a barrier of it, or by a
/// release and an acquire. That they run in lockstep, which is enough for
/// iGUARD, nobody has promised. `Arrive` and `Release`: the earlier lane's.
DEVICE bool haveMet(const Self &Me, Accessor Earlier, uint32_t Arrive,
                    uint32_t Release) {
  const uint32_t Then = Earlier.clock();
  // All of them together.
  if (loadNear(Me.warp().Met) > Then)
    return true;
  const LaneRef Mine = Me.thread();
  const uint32_t Depart = Mine.WarpDepart, Acquire = Mine.Acquire;
  const uint32_t PartDepart = Mine.PartDepart, Met = Mine.MetLanes;
  // One of several may be any other lane, of which nothing is known.
  const bool IsAny = Earlier.lane() == Me.Lane;
  const bool HasReleased = Release >= Then + !Earlier.isStrong();
  if (!IsAny && !HasReleased && Arrive <= Then)
    return false;
  if (Depart > Then || Acquire > Then)
    return true;
  // Who has come to barriers of some lanes alone, these may know of.
  return PartDepart > Then &&
         (IsAny || HasReleased || (Met >> Earlier.lane() & 1));
}

/// What nearly always shows, where threads synchronise by more than barriers of
/// the block, that `Earlier` is ordered before what this thread does: what its
/// warp knows, and where its own lanes have met. The multiprocessor's cache
/// says it; what is old there is too small.
/// `IsThorough`: nearly all that it would show is looked at all the same.
DEVICE bool isOrderedNear(const Self &Me, Accessor Earlier, bool IsThorough) {
  const uint32_t Theirs = Earlier.warp();
  if (Theirs == Me.number()) {
    const LaneRef T = Self::stateOf(Theirs, Earlier.lane());
    const uint32_t Arrive = loadNear(T.WarpArrive);
    const uint32_t Release = loadNear(T.Release);
    return haveMet(Me, Earlier, Arrive, Release);
  }
  // What its warp has released may not have been the lane's to release.
  if (IsThorough)
    return false;
  const uint32_t Flags = loadNear(Me.warp().Flags);
  const uint32_t Known = loadNear(Me.known()[knownEntry(Theirs)]);
  return (Flags & HasKnown) && Known >= Earlier.clock() + !Earlier.isStrong();
}

/// What this warp's state says, at the time of a judgement.
struct Standing {
  uint32_t Barrier;
  uint32_t Known; ///< Of the earlier thread's warp, and of who has its entry.

  DEVICE bool knowsOf(Accessor Earlier) const {
    // What is known of several is the larger. A strong access of the very clock
    // may be the one that passed it on, behind the fence.
    return Known >= Earlier.clock() + !Earlier.isStrong();
  }
};

/// Whether `Earlier`, of our own warp, is ordered before what this lane does.
DEVICE Order judgeInWarp(const Self &Me, const Standing &Now,
                         Accessor Earlier) {
  const uint32_t Then = Earlier.clock();
  if (Earlier.lane() == Me.Lane && !Earlier.isSeveral())
    return Order::Ordered; // P3: program order.
  if (Then < Now.Barrier)
    return Order::Ordered; // P5.
  // Where and when the other lane arrived, nobody saw.
  if (Now.Known == Everything)
    return Order::Ordered;
  const LaneRef Theirs = Self::stateOf(Me.number(), Earlier.lane());
  const uint32_t Arrive = loadRelaxed(Theirs.WarpArrive);
  const uint32_t Release = loadRelaxed(Theirs.Release);
  return haveMet(Me, Earlier, Arrive, Release) ? Order::Ordered
                                               : Order::SameWarp; // R2.
}

DEVICE const AccessSite *siteAt(uint32_t Index) {
  return reinterpret_cast<const AccessSite *>(
      loadRelaxed(table<uint64_t>(SitesAt)[Index]));
}

/// Whether the thread of `Earlier` alone can have told of the access: it has
/// passed no barrier of its warp since, nor has any warp of its block one of
/// the block's.
DEVICE bool isOfOneLane(Accessor Earlier) {
  const AccessSite *Site = siteAt(Earlier.site());
  // One of several may be any lane; and copies land at the clock of a wait.
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

/// Whether the thread of `Earlier`, which alone can have told of the access,
/// has not, though others of its warp have told of what came after it: up to
/// `Known` they have. Whoever has heard of it has heard of a clock that the
/// lane has given at since.
DEVICE bool hasKeptToItself(Accessor Earlier, uint32_t Known) {
  const uint32_t Then = Earlier.clock();
  const uint64_t Given =
      loadRelaxed(Self::stateOf(Earlier.warp(), Earlier.lane()).given());
  const uint32_t Last = uint32_t(Given >> 32), Before = uint32_t(Given);
  return Before <= Then && (Last <= Then || Last > Known);
}

/// Whether this thread cannot have heard of a thread of its block that alone
/// can have told of its access, though it has heard of others of that one's
/// warp: from no cell that anybody has told who had heard of such a lane. In a
/// block of which a thread has left, warps may take one barrier for two.
DEVICE bool hasNotHeardOf(const Self &Me, Accessor Earlier) {
  if (!(Me.Place.Bits & TellsLanes) ||
      (loadRelaxed(Me.firstWarpState().News) & Uneven) ||
      (lanesHeardOf(Me, Me.thread()) >> Earlier.lane() & 1))
    return false;
  uint32_t Alive = 0;
#pragma unroll 1
  for (uint32_t I = 0; I < Me.warpsInBlock(); ++I)
    Alive += loadRelaxed(
                 Self::stateOf((Me.firstWarp() + I) & (NumWarps - 1)).Alive) &
             AliveMask;
  return Alive == uint32_t(__nvvm_read_ptx_sreg_ntid_x() *
                           __nvvm_read_ptx_sreg_ntid_y() *
                           __nvvm_read_ptx_sreg_ntid_z());
}

/// Whether this lane has heard of nobody, whatever others of its warp have: it
/// has not acquired, nor met anybody since one of them first did.
DEVICE bool hasHeardNothing(const Self &Me) {
  const LaneRef T = Me.thread();
  const WarpState &W = Me.warp();
  const uint32_t Heard = loadRelaxed(W.Heard);
  return Heard != ~0u && T.Acquire == 0 && T.WarpDepart <= Heard &&
         T.PartDepart <= Heard && loadRelaxed(W.Met) <= Heard &&
         loadRelaxed(W.Barrier) <= Heard;
}

/// Whether the access by `Earlier` is ordered before what this thread does now.
DEVICE Order judge(const Self &Me, Accessor Earlier) {
  if (Earlier.isNobody())
    return Order::Ordered; // P1: first access.
  if (Earlier.isInFlight())
    Earlier = settled(Earlier);
  const bool InFlight = Earlier.isInFlight();
  const uint32_t Then = Earlier.made(), Theirs = Earlier.warp();
  const WarpState &Mine = Me.warp();
  const WarpState &Other = Self::stateOf(Theirs);
  // Whatever may be asked is loaded before anything is: one question after the
  // other would take as many round trips.
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
  // By an earlier grid, or by a block whose number a later one has by now:
  // nothing is known of those.
  // A state that is older than the access says nothing of it, either.
  if (Then < Floor || Then < Start || Then > Clock)
    return Order::Ordered;
  if ((Alive | OtherAlive) & Mixed)
    return Order::Ordered;
  const Standing Now{Barrier, Flags & HasKnown ? Known : 0};
  // A copy that its thread has not waited for, nothing orders, in the shared
  // memory that is this block's now.
  if (InFlight) {
    const bool IsOurs = OtherGrid == Mine.Grid && OtherBlock == Mine.Block;
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
  if (OtherGrid != Mine.Grid) {
    // As long as a thread of it runs, no stream or event has ordered its grid
    // before ours. The host might have, or a third grid, but not without a
    // release that reaches beyond the block of whoever knows of the access.
    const uint32_t OtherFlags = loadRelaxed(Other.Flags);
    const uint32_t Foreign = loadRelaxed(metadata().Foreign);
    const uint32_t Anybody = knownToAnybody(Theirs);
    if ((OtherFlags & (Leaky | Opaque)) || Foreign || Anybody > Then)
      return Order::Ordered;
    // If it has ended, the launches decide. And a third grid that came after it
    // may have told this thread.
    const bool IsRunning = (OtherAlive & AliveMask) != 0;
    return IsRunning || (!(Flags & HasKnown) &&
                         areUnordered(OtherGrid, Mine.Grid, Then))
               ? Order::OtherKernel
               : Order::Ordered;
  }
  if (OtherBlock != Mine.Block)
    return Order::OtherBlock; // R4.
  // P5: a barrier of the block that both have passed, or that the other was not
  // at, since all of its warp had left the kernel.
  const bool HasLeft = (OtherAlive & AliveMask) == 0 && OtherBarrier < Barrier;
  if (Then < Barrier || HasLeft)
    return Order::Ordered;
  return Order::SameBlock; // R3.
}

/// Whether this thread may come after any strong write of `A` because a thread
/// that it knows of, of its block at least, has read there strongly and so may
/// have observed it (PTX ISA, "Causality order", second rule). So the last
/// block may reset the counter that told it that it is the last, with or
/// without a fence.
DEVICE bool mayHaveSeen(const Self &Me, Address A) {
  return seenByBlock(Me, /*IsNear=*/false) >> seenBit(A) & 1;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_JUDGEMENT_H
