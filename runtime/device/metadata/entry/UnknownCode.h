// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that is not followed.
//
// Entry points around code that the runtime does not follow. Each lane calls
// for itself. `Place` is the WarpState::Place of the calling lane's warp.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_UNKNOWNCODE_H
#define CRSAN_DEVICE_METADATA_ENTRY_UNKNOWNCODE_H

#include "metadata/Acquire.h"
#include "metadata/AsyncCopy.h"

namespace crsan::device {

/// Entry point. One statement of inline assembly is about to acquire, and may
/// release in the same statement what it acquires; so this thread acquires
/// everything beforehand.
HOT_ENTRY void __crsan_md_learn(uint32_t Place) {
  if (!PlaceOf{Place}.isFollowed())
    return;
  awaitAllCopies(Self(PlaceOf{Place}));
  acquireEverything(PlaceOf{Place});
}

/// Entry point. Something unknown is about to happen, or has happened, that may
/// order this thread after any other thread, or other threads after this one.
HOT_ENTRY void __crsan_md_unknown(uint32_t Place) {
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  // The unknown code may wait for copies. It may also be a barrier of the
  // block, which the other threads know to be one.
  awaitAllCopies(Me);
  setFlags(Me.firstWarpState().News, AlwaysNews);
  // The kernel belongs to another unit, whose EnterFlags could not say
  // EnterOpaque.
  if (!(loadNear(Me.warp().Flags) & Opaque) &&
      !(loadRelaxed(metadata().Foreign) & ForeignUnknown))
    setFlags(metadata().Foreign, ForeignUnknown);
  acquireEverything(Me.Place);
  fenceDevice();
}

/// Counts the threads that are in functions of other units that have not yet
/// said that they are followed: in Metadata::Foreign for all blocks, and in
/// WarpState::News for this block.
DEVICE void countCalls(const Self &Me, int32_t More) {
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().Foreign), More);
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&Me.firstWarpState().News),
                        More * int32_t(UnfollowedCall));
}

/// Entry point. This thread is about to call a function of another unit.
HOT_ENTRY void __crsan_md_calling(uint32_t Place) {
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  Me.thread().Flags |= IsCalling;
  countCalls(Me, 1);
}
/// Entry point, at the head of such a function. The function was compiled for
/// metadata mode, so the call is followed.
HOT_ENTRY void __crsan_md_called(uint32_t Place) {
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  if (!(T.Flags & IsCalling))
    return;
  T.Flags &= ~IsCalling;
  countCalls(Me, -1);
}
/// Entry point. Such a function has returned. If __crsan_md_called was not
/// called, the function may have done anything: from then on every acquire may
/// receive what the function released.
HOT_ENTRY void __crsan_md_returned(uint32_t Place) {
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

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ENTRY_UNKNOWNCODE_H
