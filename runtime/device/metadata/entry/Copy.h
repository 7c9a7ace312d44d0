// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies are issued and awaited.
//
// Entry points of asynchronous copies. Each lane calls for itself.
// `Place` is the WarpState::Place of the calling lane's warp.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_COPY_H
#define CRSAN_DEVICE_METADATA_ENTRY_COPY_H

#include "common/TensorBox.h"
#include "metadata/entry/Access.h"

namespace crsan::device {

/// Entry point. This lane is about to issue an asynchronous copy that reads or
/// writes, by site `S`, `Size` bytes at `A`. The copy's other side is told by a
/// call of its own. `Mbarrier` counts the bytes, if the site is ByMbarrier.
ENTRY void __crsan_md_copy(AccessSite *S, uint64_t A, uint64_t Size,
                           uint64_t Mbarrier, uint32_t Place) {
  if (!PlaceOf{Place}.isChecked() || Size == 0)
    return;
  const Self Me(PlaceOf{Place});
  const uint32_t Roles = S->Roles;
  if (!(Roles & (ByBulkGroup | ByMbarrier))) {
    beginCopy(Me, A);
    return __crsan_md_check(S, A, Size, 0, CheckCounts, Place);
  }
  step(Me);
  __crsan_md_check(S, A, Size, 0, CheckCounts, Place);
  // Other lanes of the warp may have raised the clock before the check.
  if (Roles & ByMbarrier)
    completeAt(Me, Mbarrier, loadRelaxed(Me.warp().Clock));
}
/// Entry point. This lane is about to issue a multicast copy that writes, by
/// site `S`, `Size` bytes in each block of the cluster whose bit in `Blocks` is
/// set, at the place where `A` is in this block. `Mbarrier` is this block's;
/// mbarriers of a cluster share their sync cell.
ENTRY void __crsan_md_multicast(AccessSite *S, uint64_t A, uint64_t Size,
                                uint64_t Mbarrier, uint32_t Blocks,
                                uint32_t Place) {
  if (!PlaceOf{Place}.isChecked() || Size == 0)
    return;
  const Self Me(PlaceOf{Place});
  const uint32_t InCluster = __crsan_cluster_extent(0) *
                             __crsan_cluster_extent(1) *
                             __crsan_cluster_extent(2);
  step(Me);
#pragma unroll 1
  for (uint32_t Todo = Blocks & ((1u << InCluster) - 1); Todo; Todo &= Todo - 1)
    __crsan_md_check(S, withRank(A, __builtin_ctz(Todo)), Size, 0, CheckCounts,
                     Place);
  completeAt(Me, Mbarrier, loadRelaxed(Me.warp().Clock));
}
/// Entry point. This lane is about to issue a tensor copy that reads or writes,
/// by site `S`, a box in global memory. `Map` is the address of its tensor map.
/// `Rank`: its dimensions; 0: the copy is not made. The side in shared memory
/// is told by a call of its own. `Mbarrier` is as for other copies.
ENTRY void __crsan_md_tensor(AccessSite *S, uint64_t Map, uint32_t Rank,
                             int32_t C0, int32_t C1, int32_t C2, int32_t C3,
                             int32_t C4, uint64_t Mbarrier, uint32_t Place) {
  if (!PlaceOf{Place}.isChecked() || Rank == 0)
    return;
  const TensorBox Box(Map, Rank, {C0, C1, C2, C3, C4});
  // The call for the other side counts it.
  if (!Box.Map)
    return;
  const Self Me(PlaceOf{Place});
  step(Me);
  const uint32_t Rows = Box.rows();
#pragma unroll 1
  for (uint32_t I = 0; I < Rows; ++I)
    __crsan_md_check(S, Box.row(I), Box.rowBytes(), 0, CheckCounts, Place);
  if (S->Roles & ByMbarrier)
    completeAt(Me, Mbarrier, loadRelaxed(Me.warp().Clock));
}
/// Entry point. A fence between the generic and the asynchronous proxy, or an
/// operation that one follows, is about to happen or has just happened.
HOT_ENTRY void __crsan_md_proxy_fence(uint32_t Place) {
  if (PlaceOf{Place}.isFollowed())
    noteProxyFence(PlaceOf{Place});
}
/// Entry point. This lane commits the copies that it has issued since its last
/// commit, as a group.
HOT_ENTRY void __crsan_md_commit_copies(uint32_t Place) {
  if (PlaceOf{Place}.isChecked())
    commitCopies(Self(PlaceOf{Place}));
}
/// Entry point. This lane waits for all groups of its bulk copies but the last
/// `Groups`, or only for what they read.
HOT_ENTRY void __crsan_md_await_bulk(uint32_t Groups, uint32_t OnlyReads,
                                     uint32_t Place) {
  if (PlaceOf{Place}.isChecked())
    awaitBulk(Self(PlaceOf{Place}), Groups, OnlyReads);
}
/// Entry point. This lane waits for all of its groups but the last `Groups`.
HOT_ENTRY void __crsan_md_await_copies(uint32_t Groups, uint32_t Place) {
  if (PlaceOf{Place}.isChecked())
    awaitCopies(Self(PlaceOf{Place}), Groups);
}
/// Entry point. This lane waits for all of its copies, or makes an mbarrier
/// track them, which counts as waiting here.
HOT_ENTRY void __crsan_md_await_all_copies(uint32_t Place) {
  if (PlaceOf{Place}.isChecked())
    awaitAllCopies(Self(PlaceOf{Place}));
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ENTRY_COPY_H
