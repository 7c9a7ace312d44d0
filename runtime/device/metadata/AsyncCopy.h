// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies.
//
// cp.async writes shared memory at some time between the issue of the copy and
// the wait of the issuing thread for the copy. No barrier or fence that this
// thread passes before the wait orders the write, and program order does not
// order the write either. Therefore the accessor that a copy leaves in a cell
// holds the clock of the issue and is marked as in flight. The issuing lane
// keeps the clocks of its commits and waits, and a thread that finds the
// accessor consults these. Once the lane has waited for the copy, the copy is a
// write at the clock of the wait. If the wait is no longer remembered, the copy
// counts as made at its issue, which orders more accesses after it. All of
// these clocks only rise, so nothing is reset for the next block: clocks of an
// earlier block are below WarpState::Start.
#ifndef CRSAN_DEVICE_METADATA_ASYNCCOPY_H
#define CRSAN_DEVICE_METADATA_ASYNCCOPY_H

#include "metadata/Clock.h"
#include "metadata/Shadow.h"

namespace crsan::device {

/// One element of LaneStates::Waited.
struct WaitedFor {
  uint32_t UpTo; ///< The wait covers copies issued at clocks up to UpTo ...
  uint32_t At;   ///< ... and the copies were known to have ended at clock At.

  DEVICE explicit WaitedFor(uint64_t Word)
      : UpTo(uint32_t(Word >> 32)), At(uint32_t(Word)) {}
};

/// Copies whose addresses a lane remembers.
constexpr uint32_t NumCopies =
    sizeof(LaneStates::Copies) / sizeof(LaneStates::Copies[0]);

/// This lane is about to issue a copy to the shared address `To`. The clock of
/// the warp rises if necessary, so that the copy's clock differs from those of
/// all groups that the lane has committed or waited for.
DEVICE void beginCopy(const Self &Me, Address To) {
  const LaneRef T = Self::stateOf(Me.number(), Me.Lane);
  uint32_t &Next = T.Of.NextCopy[Me.Lane];
  if (spaceOf(To) == Space::Shared && T.copy(Next) == 0) {
    T.copy(Next) = uint16_t(sharedOffset(To) / 4 + 1);
    Next = (Next + 1) % NumCopies;
  }
  const uint32_t Committed = T.commit(0), Done = WaitedFor(T.waited(0)).UpTo;
  const uint32_t Last = Committed > Done ? Committed : Done;
  WarpState &W = Me.warp();
  // In a loop with barriers the clock has risen already.
  if (loadNear(W.Clock) <= Last)
    raiseClock(W, Last + 1);
}

/// This lane commits its copies so far as a group.
DEVICE void commitCopies(const Self &Me) {
  const LaneRef T = Self::stateOf(Me.number(), Me.Lane);
  constexpr uint32_t Number =
      sizeof(LaneStates::Commits) / sizeof(LaneStates::Commits[0]);
#pragma unroll
  for (uint32_t I = Number - 1; I > 0; --I)
    T.commit(I) = T.commit(I - 1);
  // The relaxed load returns no less than the clock of any copy of the group,
  // which came from the L1 cache.
  T.commit(0) = loadRelaxed(Me.warp().Clock);
}

/// Turns a copy of this lane in the cell of `Word`, and in those of the other
/// words of the same 16 bytes, into a write at clock `Now`, if the copy was
/// issued after `From` and by `UpTo`. A copy issued by `From` was waited for at
/// another time, or belongs to an earlier block. Returns false if the copy is
/// still in flight.
DEVICE bool landCopy(const Self &Me, uint32_t Word, uint32_t From,
                     uint32_t UpTo, uint32_t Now) {
  Cell *Cells = reinterpret_cast<Cell *>(Me.warp().SharedCells + clusterBias());
  const uint32_t End = (Word | 3) + 1;
#pragma unroll 1
  for (; Word < End; ++Word) {
    uint64_t &At = Cells[Word].Writer;
    const Accessor Copy(loadNear(At));
    if (!Copy.isInFlight() || Copy.warp() != Me.number() ||
        Copy.lane() != Me.Lane || Copy.made() <= From)
      continue;
    if (Copy.made() > UpTo)
      return false;
    exchangeIf(At, Copy.Bits, Copy.landed(Now).Bits);
  }
  return true;
}

/// This lane has waited for all of its copies issued at clocks up to `UpTo`.
DEVICE void landCopies(const Self &Me, uint32_t UpTo) {
  const LaneRef T = Self::stateOf(Me.number(), Me.Lane);
  const uint64_t Last = T.waited(0);
  const WarpState &W = Me.warp();
  const uint32_t Now = loadNear(W.Clock), Before = loadNear(W.Start) - 1;
  const uint32_t Done = WaitedFor(Last).UpTo;
  if (UpTo <= Done)
    return;
  // The elements move back to front, so a thread that reads them front to back
  // (`settled`) finds each wait as it was or finds an older one.
  storeRelaxed(T.waited(2), T.waited(1));
  storeRelease(T.waited(1), Last);
  storeRelease(T.waited(0), uint64_t(UpTo) << 32 | Now);
  // Where no cells of shared memory are tracked, nothing is left to do. A copy
  // whose address is no longer remembered becomes a write when a check first
  // meets it (Check::word).
  const uint32_t From = Done > Before ? Done : Before;
  if (W.SharedCells == 0)
    return;
#pragma unroll 1
  for (uint32_t I = 0; I < NumCopies; ++I) {
    const uint32_t Word = T.copy(I);
    if (Word && landCopy(Me, Word - 1, From, UpTo, Now))
      T.copy(I) = 0;
  }
}

/// This lane waits for all groups but the last `Groups` that it has committed.
DEVICE void awaitCopies(const Self &Me, uint32_t Groups) {
  constexpr uint32_t Last =
      sizeof(LaneStates::Commits) / sizeof(LaneStates::Commits[0]) - 1;
  // If `Groups` is larger than the number of remembered commits, more copies
  // than true count as waited for.
  landCopies(Me, Self::stateOf(Me.number(), Me.Lane)
                     .commit(Groups < Last ? Groups : Last));
}

/// This lane waits for all of its copies, or it is not known which.
DEVICE void awaitAllCopies(const Self &Me) {
  landCopies(Me, loadRelaxed(Me.warp().Clock));
}

/// Resolves a copy in flight: returns the copy unchanged if its thread has not
/// waited for it, else the write that it has become.
DEVICE Accessor settled(Accessor Copy) {
  const LaneRef T = Self::stateOf(Copy.warp(), Copy.lane());
  const uint32_t Issued = Copy.made();
  const WaitedFor Last(loadAcquire(T.waited(0)));
  // This load comes after the acquire above: the wait of a later block of this
  // number becomes visible together with the beginning of that block.
  if (Issued < loadRelaxed(Self::stateOf(Copy.warp()).Start))
    return Copy.landed(Issued);
  if (Issued > Last.UpTo)
    return Copy;
  const WaitedFor Second(loadAcquire(T.waited(1)));
  if (Issued > Second.UpTo)
    return Copy.landed(Last.At);
  const WaitedFor Third(loadRelaxed(T.waited(2)));
  return Copy.landed(Issued > Third.UpTo ? Second.At : Issued);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ASYNCCOPY_H
