// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// At which __syncthreads() of the source the threads of a block meet.
//
// The hardware knows a barrier of a block by its number, so threads that wait
// at different __syncthreads() meet all the same. Each of these has a site. In
// front of the barrier a warp writes an accessor with its site into an entry of
// its block, and behind the barrier it reads the entry. If another site stands
// there, the threads have met at different places of the source. So they have
// if the site is the same and the iteration of the loops around it is not,
// where the pass knows the iteration (Iterations.h): its last bits stand beside
// the site.
//
// The clock of the accessor is the block's last barrier (WarpState::Barrier),
// which is the same for all warps at one barrier, and for no other barrier of
// the block. So a thread never compares itself with a thread at another
// barrier, whichever barriers are not followed; and since it has written the
// entry itself, what it reads there is no older. The next barrier has another
// entry as a rule: else it may overwrite this one, and the meeting is missed.
#ifndef CRSAN_DEVICE_METADATA_MEETING_H
#define CRSAN_DEVICE_METADATA_MEETING_H

#include "metadata/RaceRecord.h"

namespace crsan::device {

/// The entry for the barrier that comes after the one of clock `Last`.
DEVICE uint64_t &meetingAfter(uint32_t FirstWarp, uint32_t Last) {
  return table<uint64_t>(
      MeetingsAt)[FirstWarp * NumMeetings + Last % NumMeetings];
}

/// The bits of an accessor that tell the iteration.
DEVICE uint64_t iterationBits(uint32_t Iteration) {
  return uint64_t(Iteration & ((1u << AccessorLayout::IterationBits) - 1))
         << AccessorLayout::BytesAt;
}

/// This thread is about to come to the barrier `S` of the block, in the
/// iteration of this number; 0 if it is not known. Called before it arrives.
DEVICE void noteMeeting(const Self &Me, AccessSite &S, uint32_t Iteration) {
  const uint32_t Last = loadNear(Me.warp().Barrier);
  Me.thread().Of.MetAfter[Me.Lane] = Last;
  const uint32_t Index = indexOf(S);
  if (Index < MaxSites)
    meetingAfter(Me.firstWarp(), Last) =
        Accessor::make(Index, Me.Lane, Me.number(), Last).Bits |
        iterationBits(Iteration);
}

/// Whether two barriers are surely different for a reader of the source. The
/// same line in two functions may be two copies of one, of which one was
/// inlined.
DEVICE bool areDifferent(const AccessSite &A, const AccessSite &B) {
  const bool IsOneFunction = &A - A.Number == &B - B.Number;
  return A.Id != B.Id && (IsOneFunction || A.Size != B.Size);
}

/// Whether the accessor `Found` was written by a thread of this block that
/// lives, or has lived, and nothing that is not followed may have been at one
/// of the block's barriers. `Found` must have been read before.
DEVICE bool isOfMyBlock(const Self &Me, Accessor Found) {
  if (Me.placeOf(Found.warp()) >= Me.warpsInBlock())
    return false;
  const WarpState &Other = Self::stateOf(Found.warp());
  return loadRelaxed(Me.firstWarpState().News) == 0 && !isMixed(Me.warp()) &&
         !isMixed(Other) && loadRelaxed(Other.Block) == linearBlock() &&
         loadRelaxed(Other.Grid) == gridHere();
}

/// Entry point. This thread was at the barrier `S`, and the thread of the
/// accessor `Found` came to another one, or to this one in another iteration.
/// Tells the host, if that is certain; one lane does so for all that call
/// together.
ENTRY void __crsan_md_diverged(AccessSite *S, uint64_t Found, uint32_t Place) {
  const Self Me(PlaceOf{Place});
  const Accessor Theirs(Found);
  const AccessSite *Other = siteAt(Theirs.site());
  const bool IsOneSite = Other == S;
  if ((__crsan_config.Flags & Paused) || !Other ||
      !(IsOneSite || areDifferent(*S, *Other)) || !isFirstHere())
    return;
  if (!isOfMyBlock(Me, Theirs))
    return;
  const bool IsOneWarp = Theirs.warp() == Me.number();
  RacingPair *P = pairOf(S->Index, Theirs.site(),
                         IsOneWarp ? Distance::Warp : Distance::Block);
  if (!P)
    return countDroppedPair();
  if (!claim(*P)) {
    countRace(*P);
    return;
  }
  // If another block has taken over the other warp's number, its state arrives
  // meanwhile.
  pause(20000);
  fenceDevice();
  if (!isOfMyBlock(Me, Theirs))
    return giveBack(*P);
  countRace(*P);
  publish(*P, RaceKind::BarrierDivergence, [&](volatile Record &R) {
    describeRace(R, *S, Other, /*A=*/0, Theirs, Self::stateOf(Theirs.warp()),
                 linearBlock(),
                 SameBlock | (IsOneWarp ? SameWarp : 0) |
                     (IsOneSite ? OtherIteration : 0));
  });
}

/// Of two accessors of meetings: whether they tell of the same clock, and of
/// different places or iterations.
DEVICE bool areApart(uint64_t One, uint64_t Other) {
  constexpr unsigned From = AccessorLayout::BytesAt;
  const uint64_t Change = (One ^ Other) >> From;
  return Change - 1 < (uint64_t(1) << (AccessorLayout::ClockAt - From)) - 1;
}

/// The barrier `S` of the block has happened, and this thread has told of
/// itself in front of it.
DEVICE void judgeMeeting(const Self &Me, AccessSite &S, uint32_t Iteration) {
  const uint32_t Last = Me.thread().Of.MetAfter[Me.Lane];
  const uint64_t Found = loadNear(meetingAfter(Me.firstWarp(), Last));
  const uint32_t Index = loadNear(S.Index);
  const uint64_t Here = Accessor::make(Index, Me.Lane, Me.number(), Last).Bits |
                        iterationBits(Iteration);
  if (Index < MaxSites && areApart(Found, Here))
    __crsan_md_diverged(&S, Found, Me.Place.Bits);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_MEETING_H
