// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bulk copies.
//
// cp.async.bulk and its relatives read and write at some time between their
// issue and their completion, like cp.async (AsyncCopy.h). But any thread may
// learn of the completion: the issuing thread by waiting for a group, or all
// that wait at an mbarrier which counts the bytes. So the copies of a warp are
// an actor of their own, and rows of clocks have two entries for the actor:
// for what its copies read and for what they write. A copy is issued at a clock
// of its warp that no other access of the warp has. Where the completion is
// learned of, these entries rise above that clock, and no other
// synchronization of the issuing warp raises them.
#ifndef CRSAN_DEVICE_METADATA_BULKCOPY_H
#define CRSAN_DEVICE_METADATA_BULKCOPY_H

#include "metadata/Acquire.h"
#include "metadata/Site.h"

namespace crsan::device {

/// The entry, in a row of clocks, of what the bulk copies of a warp write or
/// read. It differs from those of warps whose places are near in their block.
DEVICE uint32_t copyEntry(uint32_t Warp, bool Writes) {
  static_assert(KnownEntries == 32);
  return knownEntry(Warp) ^ (Writes ? 16 : 24);
}

/// The same of what the matrix products of a warp group read, whose first warp
/// is `Warp` (MatrixProduct.h).
DEVICE uint32_t productEntry(uint32_t Warp) { return knownEntry(Warp) ^ 25; }

/// Whether this thread's warp knows that the bulk copy `Copy`, or the matrix
/// product, has ended.
DEVICE bool isKnown(const Self &Me, Accessor Copy) {
  const AccessSite *Site = siteAt(Copy.site());
  if (!Site)
    return true;
  const bool Writes = Site->Flags & WritesMemory;
  const uint32_t Known = loadRelaxed(
      Me.known()[Site->Roles & ByWarpGroup ? productEntry(Copy.warp())
                                           : copyEntry(Copy.warp(), Writes)]);
  return (loadRelaxed(Me.warp().Flags) & HasKnown) && Known > Copy.made();
}

/// A bulk copy that this thread has found in a cell: the copy unchanged if it
/// may not have ended before what this thread does now, else the access that it
/// has become; no access for a matrix product.
DEVICE Accessor settledBulk(const Self &Me, Accessor Copy) {
  const uint32_t Issued = Copy.made();
  const bool IsPast = Issued < loadNear(Me.warp().Floor) ||
                      Issued < loadRelaxed(Self::stateOf(Copy.warp()).Start);
  if (!IsPast && !isKnown(Me, Copy))
    return Copy;
  // A product's clock says nothing of what the warp group's first warp has
  // done, so no accessor can take its place.
  const AccessSite *Site = siteAt(Copy.site());
  return Site && (Site->Roles & ByWarpGroup) ? Accessor(0)
                                             : Copy.landed(Issued);
}

/// Raises entries of the row `To`: that the copies of warp `Warp` up to the
/// clock `UpTo` have ended.
DEVICE void endCopies(uint32_t *To, uint32_t Warp, uint32_t UpTo,
                      bool OnlyReads) {
  raise(To[copyEntry(Warp, /*Writes=*/false)], UpTo + 1);
  if (!OnlyReads)
    raise(To[copyEntry(Warp, /*Writes=*/true)], UpTo + 1);
}

/// The completion of this lane's copy, at the clock `Issued` or a smaller one,
/// will show at `Mbarrier`. Who waits there from now on learns of it, even at
/// an earlier phase. Also raised is the entry of the warp itself: once the copy
/// is known to have ended, it counts as an access of the warp.
DEVICE void completeAt(const Self &Me, Address Mbarrier, uint32_t Issued) {
  const SyncCells Cells(Mbarrier, isOfCluster(Mbarrier));
  const LaneRef T = Me.thread();
  T.Release = tick(Me);
#pragma unroll 1
  for (uint32_t I = Cells.Wide ? 0 : 1; I < 2; ++I) {
    SyncCell &Cell = SyncCells::at(I == 0 ? Cells.Wide : Cells.ofBlock(Me));
    endCopies(Cell.Known, Me.number(), Issued, /*OnlyReads=*/false);
    raise(Cell.Known[knownEntry(Me.number())], Issued + 1);
  }
  fenceDevice();
}

/// This lane has raised entries of its warp's row, because it waits for what
/// its warp has begun.
DEVICE void noteEnded(const Self &Me) {
  const LaneRef T = Me.thread();
  WarpState &W = Me.warp();
  const uint32_t Now = loadNear(W.Clock);
  if (!(loadRelaxed(W.Flags) & HasKnown)) {
    asm volatile("red.relaxed.gpu.min.u32 [%0], %1;" ::"l"(&W.Heard), "r"(Now)
                 : "memory");
    setFlags(W.Flags, HasKnown);
  }
  noteFresh(W);
  T.Acquire = step(Me);
}

/// This lane waits for all groups of bulk copies but the last `Groups`.
/// Commits of cp.async are counted, too, so that later copies may count as
/// waited for.
DEVICE void awaitBulk(const Self &Me, uint32_t Groups, bool OnlyReads) {
  constexpr uint32_t Last =
      sizeof(LaneStates::Commits) / sizeof(LaneStates::Commits[0]) - 1;
  const uint32_t UpTo = Me.thread().commit(Groups < Last ? Groups : Last);
  if (UpTo < loadNear(Me.warp().Start))
    return;
  endCopies(Me.known(), Me.number(), UpTo, OnlyReads);
  noteEnded(Me);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_BULKCOPY_H
