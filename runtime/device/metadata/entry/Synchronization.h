// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strong accesses, fences and objects.
//
// Entry points at strong accesses, at fences, and at objects (named barriers,
// mbarriers, barriers of a cluster). Each lane calls for itself; lanes of a
// warp may call together or apart. `Place` is the WarpState::Place of the
// calling lane's warp, and `Scope` an abi::Scope. docs/metadata-design.md,
// "What each instruction does", says what is done at each.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_SYNCHRONIZATION_H
#define CRSAN_DEVICE_METADATA_ENTRY_SYNCHRONIZATION_H

#include "metadata/GridSample.h"
#include "metadata/Lock.h"
#include "metadata/Release.h"
#include "metadata/entry/Access.h"

namespace crsan::device {

/// Whether a thread that arrives or waits at `Object` with the scope `Scope`
/// may meet threads of other blocks there.
DEVICE bool isWideAt(uint64_t Object, uint32_t Scope) {
  return isWide(crsan::abi::Scope(Scope)) || isOfCluster(Object);
}

/// Notes a fence: strong writes of this lane from now on release what it did
/// before. Returns the new clock.
DEVICE uint32_t noteFence(const Self &Me, const LaneRef &T, bool IsWide) {
  const uint32_t Now = tick(Me);
  T.FenceBlock = Now;
  if (IsWide)
    T.FenceDevice = Now;
  if (!((Me.Place.Bits | loadNear(Me.warp().Place)) & HasFenced))
    setFlags(Me.warp().Place, HasFenced);
  return Now;
}

/// A fence of a lane whose strong reads may have read released values: acquires
/// what those reads made pending, and then notes the fence.
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

/// Acquires from the cells of an object. `MayLock`: the acquire may activate a
/// lock (Lock.h).
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

/// Entry point. A strong access at `A`, by site `S`, is about to write. An
/// access with release order releases now; a relaxed access releases what the
/// last fence of sufficient scope has made ready (ScoRD VI, release pattern).
HOT_ENTRY void __crsan_md_release(AccessSite *S, uint64_t A, uint32_t Place) {
  if (!PlaceOf{Place}.isChecked() || !canRace(A) || !isStrongSite(*S))
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  giveLock(Me, T, A);
  const bool Wide = isWide(S->Scope);
  const bool IsRelease = S->Order == MemoryOrder::Release ||
                         S->Order == MemoryOrder::AcquireRelease;
  if (IsRelease)
    noteFence(Me, T, Wide);
  // If two blocks have this warp's number, the note of the fence may be lost.
  const bool IsMixed = isMixed(Me.warp());
  if (T.FenceBlock || IsMixed)
    publish(Me, T,
            SyncCells(A, Wide && (T.FenceDevice || IsMixed) && !isOfBlock(A)),
            IsRelease, IsMixed, T.FenceDevice, T.FenceBlock);
}

/// Entry point. A strong access at `A`, by site `S`, has happened. An access
/// that reads acquires, at once if it has acquire order, else at the lane's
/// next fence. `Swap` is 1 for a compare-and-swap that failed, 2 for one that
/// succeeded, and 0 for other accesses. Returns whether repeating the access
/// would change nothing before this thread next synchronizes, except for a swap
/// that succeeds; 1 where nothing is checked.
HOT_ENTRY uint32_t __crsan_md_strong_done(AccessSite *S, uint64_t A,
                                          uint32_t Swap, uint32_t Place) {
  if (!PlaceOf{Place}.isChecked())
    return 1;
  if (!(S->Flags & ReadsMemory) || !canRace(A))
    return 0;
  if (!isStrongSite(*S))
    return 1;
  const Self Me(PlaceOf{Place});
  noteTime(Me);
  const LaneRef T = Me.thread();
  noteRead(Me, A, S->Size);
  if (Swap == 2 && (S->Roles & TakesLock))
    takeLock(T, A);
  // What the host or another device has written was released by none that the
  // runtime follows.
  const PageRef Page = SyncCells::pageOf(A);
  const SyncCells From(A, isWide(S->Scope) && !isOfBlock(A), Page.isTracked());
  const bool IsKnown =
      spaceOf(A) == Space::Shared || (Page.isTracked() && !Page.isHost());
  // Calls come last, since a call saves no registers.
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

/// Entry point. A fence of the given scope has happened.
HOT_ENTRY void __crsan_md_fence(uint32_t Scope, uint32_t Place) {
  if (!PlaceOf{Place}.isChecked())
    return;
  const Self Me(PlaceOf{Place});
  noteTime(Me);
  const LaneRef T = Me.thread();
  const bool Wide = isWide(crsan::abi::Scope(Scope));
  if (isPending(T, Wide))
    return acquireAndFence(PlaceOf{Place}, Wide);
  noteFence(Me, T, Wide);
  activateLocks(Me, T);
}

/// Entry point. This thread is about to arrive at an object: the number of a
/// named barrier, or the address of an mbarrier, or the barrier of the cluster.
/// The arrival releases.
HOT_ENTRY void __crsan_md_publish(uint64_t Object, uint32_t Scope,
                                  uint32_t Place) {
  if (!PlaceOf{Place}.isChecked())
    return;
  const Self Me(PlaceOf{Place});
  noteTime(Me);
  const uint32_t Now = tick(Me);
  publish(Me, Me.thread(), SyncCells(Object, isWideAt(Object, Scope)),
          /*IsReleased=*/false, isMixed(Me.warp()), Now, Now);
}

/// Entry point. This thread has waited for the arrivals at an object, and
/// acquires.
HOT_ENTRY void __crsan_md_collect(uint64_t Object, uint32_t Scope,
                                  uint32_t Place) {
  if (!PlaceOf{Place}.isChecked())
    return;
  collect(PlaceOf{Place}, SyncCells(Object, isWideAt(Object, Scope)),
          /*MayLock=*/false);
}

/// Entry point. As __crsan_md_publish, for a relaxed arrival: releases what the
/// last fence of sufficient scope has made ready, as a relaxed write does.
HOT_ENTRY void __crsan_md_publish_fenced(uint64_t Object, uint32_t Scope,
                                         uint32_t Place) {
  if (!PlaceOf{Place}.isChecked())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  const bool IsMixed = isMixed(Me.warp());
  if (T.FenceBlock || IsMixed)
    publish(Me, T,
            SyncCells(Object,
                      isWideAt(Object, Scope) && (T.FenceDevice || IsMixed)),
            /*IsReleased=*/false, IsMixed, T.FenceDevice, T.FenceBlock);
}

/// Entry point. As __crsan_md_collect, for a relaxed wait: the next fence
/// acquires.
HOT_ENTRY void __crsan_md_collect_later(uint64_t Object, uint32_t Scope,
                                        uint32_t Place) {
  if (!PlaceOf{Place}.isChecked())
    return;
  awaitFence(Self(PlaceOf{Place}).thread(),
             SyncCells(Object, isWideAt(Object, Scope)));
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ENTRY_SYNCHRONIZATION_H
