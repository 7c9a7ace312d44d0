//===- Copies.h - Asynchronous copies --------------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async writes shared memory at some time between its issue and its thread's
// wait for it: no barrier or fence that the thread passes before the wait
// orders that write, and neither does program order. So the accessor that it
// leaves says when it was issued, and is *in flight*; its thread keeps what it
// has committed and waited for, by clocks, and whoever finds the accessor asks.
// Once it has been waited for, it is a write like any other, made at the clock
// of the wait. Where that is no longer known, it was made at its issue, after
// which more is ordered.
//
// All of this is kept by clocks, which only rise. So nothing has to be reset
// for the next block: what an earlier one left is below WarpState::Start.
//
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_COPIES_H
#define CRSAN_DEVICE_METADATA_COPIES_H

#include "metadata/Clocks.h"

namespace crsan::device {

/// A LaneStates::Waited.
struct WaitedFor {
  uint32_t UpTo; ///< The copies that were issued by then, ...
  uint32_t At;   ///< ... and the clock at which they were known to have ended.

  DEVICE explicit WaitedFor(uint64_t Word)
      : UpTo(uint32_t(Word >> 32)), At(uint32_t(Word)) {}
};

constexpr uint32_t NumCopies =
    sizeof(LaneStates::Copies) / sizeof(LaneStates::Copies[0]);

/// This thread is about to copy to `To`: of another group than any that it has
/// committed.
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
  // In a loop with barriers, this is so already.
  if (loadNear(W.Clock) <= Last)
    raiseClock(W, Last + 1);
}

/// This thread's copies so far are a group.
DEVICE void commitCopies(const Self &Me) {
  const LaneRef T = Self::stateOf(Me.number(), Me.Lane);
  constexpr uint32_t Number =
      sizeof(LaneStates::Commits) / sizeof(LaneStates::Commits[0]);
#pragma unroll
  for (uint32_t I = Number - 1; I > 0; --I)
    T.commit(I) = T.commit(I - 1);
  // No less than any copy's, which the multiprocessor's cache has told.
  T.commit(0) = loadRelaxed(Me.warp().Clock);
}

/// Of a copy to the word `Word`, and what else lies in the same 16 bytes: what
/// was issued after `From` and by `UpTo` is a write of the clock `Now`. What
/// was issued before has been waited for at another time, or is another
/// block's. False: it is in flight.
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

/// This thread has waited for its copies that were issued by `UpTo`.
DEVICE void landCopies(const Self &Me, uint32_t UpTo) {
  const LaneRef T = Self::stateOf(Me.number(), Me.Lane);
  const uint64_t Last = T.waited(0);
  const WarpState &W = Me.warp();
  const uint32_t Now = loadNear(W.Clock), Before = loadNear(W.Start) - 1;
  const uint32_t Done = WaitedFor(Last).UpTo;
  if (UpTo <= Done)
    return;
  // Who sees one of them finds nothing older behind it than what was there.
  storeRelaxed(T.waited(2), T.waited(1));
  storeRelease(T.waited(1), Last);
  storeRelease(T.waited(0), uint64_t(UpTo) << 32 | Now);
  // Else whoever looks at them first does it (Check::word), one after the
  // other.
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

/// As above, all but the last `Groups` that it has committed.
DEVICE void awaitCopies(const Self &Me, uint32_t Groups) {
  constexpr uint32_t Last =
      sizeof(LaneStates::Commits) / sizeof(LaneStates::Commits[0]) - 1;
  // More than are remembered: a few too many have been waited for.
  landCopies(Me, Self::stateOf(Me.number(), Me.Lane)
                     .commit(Groups < Last ? Groups : Last));
}

/// As above, all of them; or nobody knows.
DEVICE void awaitAllCopies(const Self &Me) {
  landCopies(Me, loadRelaxed(Me.warp().Clock));
}

/// What has become of a copy that was in flight: it is so still, or it is a
/// write.
DEVICE Accessor settled(Accessor Copy) {
  const LaneRef T = Self::stateOf(Copy.warp(), Copy.lane());
  const uint32_t Issued = Copy.made();
  const WaitedFor Last(loadAcquire(T.waited(0)));
  // Behind the above: a wait of a later block comes with that block's
  // beginning.
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

#endif // CRSAN_DEVICE_METADATA_COPIES_H
