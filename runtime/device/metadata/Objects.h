//===- Objects.h - Named barriers and mbarriers ----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_OBJECTS_H
#define CRSAN_DEVICE_METADATA_OBJECTS_H

#include "metadata/Fences.h"

/// This thread is about to arrive at an object: a named barrier, an mbarrier, a
/// barrier of the cluster.
HOT_ENTRY void __crsan_md_publish(uint64_t Object, uint32_t Scope,
                                  uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const uint32_t Now = tick(Me);
  publish(Me, Me.thread(), SyncCells(Object, isWide(crsan::abi::Scope(Scope))),
          /*IsReleased=*/false, isMixed(Me.warp()), Now, Now);
}

/// This thread has waited for those who arrive at an object.
HOT_ENTRY void __crsan_md_collect(uint64_t Object, uint32_t Scope,
                                  uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  collect(PlaceOf{Place}, SyncCells(Object, isWide(crsan::abi::Scope(Scope))),
          /*MayLock=*/false);
}

/// As above, by a relaxed arrival: it tells what a fence before it has made
/// ready, as a relaxed write does.
HOT_ENTRY void __crsan_md_publish_fenced(uint64_t Object, uint32_t Scope,
                                         uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  const bool IsMixed = isMixed(Me.warp());
  if (T.FenceBlock || IsMixed)
    publish(Me, T,
            SyncCells(Object, isWide(crsan::abi::Scope(Scope)) &&
                                  (T.FenceDevice || IsMixed)),
            /*IsReleased=*/false, IsMixed, T.FenceDevice, T.FenceBlock);
}

/// As above, by a relaxed wait: what it gets, the next fence acquires.
HOT_ENTRY void __crsan_md_collect_later(uint64_t Object, uint32_t Scope,
                                        uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  awaitFence(Self(PlaceOf{Place}).thread(),
             SyncCells(Object, isWide(crsan::abi::Scope(Scope))));
}

#endif // CRSAN_DEVICE_METADATA_OBJECTS_H
