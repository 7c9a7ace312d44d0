//===- CopyGroups.h - Groups of asynchronous copies ------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_COPYGROUPS_H
#define CRSAN_DEVICE_METADATA_COPYGROUPS_H

#include "metadata/Kernels.h"

/// This thread is about to copy `Size` bytes to `To`, in shared memory, and
/// will go on meanwhile.
HOT_ENTRY void __crsan_md_copy(crsan::abi::AccessSite *S, uint64_t To,
                               uint64_t Size, uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed() || Size == 0)
    return;
  beginCopy(Self(PlaceOf{Place}), To);
  __crsan_md_check(S, To, Size, 0, CheckCounts | CheckInFlight, Place);
}
/// It makes a group of the copies that it has issued since it made the last.
HOT_ENTRY void __crsan_md_commit_copies(uint32_t Place) {
  using namespace crsan::device;
  if (PlaceOf{Place}.isFollowed())
    commitCopies(Self(PlaceOf{Place}));
}
/// It waits for all groups but the last few, ...
HOT_ENTRY void __crsan_md_await_copies(uint32_t Groups, uint32_t Place) {
  using namespace crsan::device;
  if (PlaceOf{Place}.isFollowed())
    awaitCopies(Self(PlaceOf{Place}), Groups);
}
/// ... or for all copies; or whoever comes to know of what it gives away next
/// does.
HOT_ENTRY void __crsan_md_await_all_copies(uint32_t Place) {
  using namespace crsan::device;
  if (PlaceOf{Place}.isFollowed())
    awaitAllCopies(Self(PlaceOf{Place}));
}

#endif // CRSAN_DEVICE_METADATA_COPYGROUPS_H
