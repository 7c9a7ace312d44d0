//===- Calls.h - Functions that are not followed ---------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_CALLS_H
#define CRSAN_DEVICE_METADATA_CALLS_H

#include "metadata/Barriers.h"

/// A statement is about to acquire, and may itself hand on what it has
/// acquired.
HOT_ENTRY void __crsan_md_learn(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  awaitAllCopies(Self(PlaceOf{Place}));
  acquireEverything(PlaceOf{Place});
}

/// Something is about to happen, or has happened, that may order this thread
/// after any other, or others after this one.
HOT_ENTRY void __crsan_md_unknown(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  // It may wait for copies, or be a barrier of the block, which others know as
  // one.
  awaitAllCopies(Me);
  setFlags(Me.firstWarpState().News, AlwaysNews);
  // The kernel is of another unit, which did not know.
  if (!(loadNear(Me.warp().Flags) & Opaque) &&
      !(loadRelaxed(metadata().Foreign) & ForeignUnknown))
    setFlags(metadata().Foreign, ForeignUnknown);
  acquireEverything(Me.Place);
  fenceDevice();
}

namespace crsan::device {

/// Threads that are in functions of other units, which have not said yet that
/// they are followed: of all blocks, and of this one.
DEVICE void countCalls(const Self &Me, int32_t More) {
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().Foreign), More);
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&Me.firstWarpState().News),
                        More * int32_t(UnfollowedCall));
}

} // namespace crsan::device

/// This thread is about to call a function of another unit, ...
HOT_ENTRY void __crsan_md_calling(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  Me.thread().Flags |= IsCalling;
  countCalls(Me, 1);
}
/// ... which says so if it was compiled for metadata mode, ...
HOT_ENTRY void __crsan_md_called(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  if (!(T.Flags & IsCalling))
    return;
  T.Flags &= ~IsCalling;
  countCalls(Me, -1);
}
/// ... or else may have done anything. From then on every acquire may be one of
/// something that such a function released.
HOT_ENTRY void __crsan_md_returned(uint32_t Place) {
  using namespace crsan::device;
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

#endif // CRSAN_DEVICE_METADATA_CALLS_H
