//===- Fences.h - Releases, acquires and fences ----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_FENCES_H
#define CRSAN_DEVICE_METADATA_FENCES_H

#include "metadata/Kernels.h"
#include "metadata/Locks.h"

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

#endif // CRSAN_DEVICE_METADATA_FENCES_H
