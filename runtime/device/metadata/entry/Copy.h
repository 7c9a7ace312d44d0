// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies are issued and awaited.
//
// Entry points of asynchronous copies (cp.async). Each lane calls for itself.
// `Place` is the WarpState::Place of the calling lane's warp.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_COPY_H
#define CRSAN_DEVICE_METADATA_ENTRY_COPY_H

#include "metadata/entry/Access.h"

namespace crsan::device {

/// Entry point. This lane is about to issue an asynchronous copy of `Size`
/// bytes to the shared address `To`, by site `S`. The copied source is checked
/// by a call of its own.
HOT_ENTRY void __crsan_md_copy(AccessSite *S, uint64_t To, uint64_t Size,
                               uint32_t Place) {
  if (!PlaceOf{Place}.isFollowed() || Size == 0)
    return;
  beginCopy(Self(PlaceOf{Place}), To);
  __crsan_md_check(S, To, Size, 0, CheckCounts | CheckInFlight, Place);
}
/// Entry point. This lane commits the copies that it has issued since its last
/// commit, as a group.
HOT_ENTRY void __crsan_md_commit_copies(uint32_t Place) {
  if (PlaceOf{Place}.isFollowed())
    commitCopies(Self(PlaceOf{Place}));
}
/// Entry point. This lane waits for all of its groups but the last `Groups`.
HOT_ENTRY void __crsan_md_await_copies(uint32_t Groups, uint32_t Place) {
  if (PlaceOf{Place}.isFollowed())
    awaitCopies(Self(PlaceOf{Place}), Groups);
}
/// Entry point. This lane waits for all of its copies, or makes an mbarrier
/// track them, which counts as waiting here.
HOT_ENTRY void __crsan_md_await_all_copies(uint32_t Place) {
  if (PlaceOf{Place}.isFollowed())
    awaitAllCopies(Self(PlaceOf{Place}));
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ENTRY_COPY_H
