// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of warp groups are issued and awaited.
//
// Entry points of wgmma. Each lane calls for itself. `Place` is the
// WarpState::Place of the calling lane's warp.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_PRODUCT_H
#define CRSAN_DEVICE_METADATA_ENTRY_PRODUCT_H

#include "metadata/MatrixProduct.h"
#include "metadata/entry/Access.h"

namespace crsan::device {

/// Entry point. This lane's warp group is about to issue a product that reads,
/// by site `S`, the operand with this descriptor and shape (MatrixOperand).
ENTRY void __crsan_md_operand(AccessSite *S, uint64_t Descriptor,
                              uint32_t Shape, uint32_t Place) {
  if (!PlaceOf{Place}.isChecked())
    return;
  const Self Me(PlaceOf{Place});
  countChecked(Me.warp(), 1);
  const WarpGroup Group(Me);
  if (!Group.IsKnown)
    return countUnchecked(Me);
  const uint32_t Issued = Group.Start + Me.thread().products();
  // The next block of this number begins above all clocks of this one.
  if (Group.Place == 0 && loadNear(Me.warp().Clock) < Issued)
    raiseClock(Me.warp(), Issued);
  checkOperand(Me, *S, {Descriptor, Shape}, Group, Issued);
}
/// Entry point. This lane commits the products since its last commit, as a
/// group.
HOT_ENTRY void __crsan_md_commit_products(uint32_t Place) {
  if (PlaceOf{Place}.isChecked())
    ++Self(PlaceOf{Place}).thread().products();
}
/// Entry point. This lane waits for all groups of its warp group's products but
/// the last `Groups`.
HOT_ENTRY void __crsan_md_await_products(uint32_t Groups, uint32_t Place) {
  if (PlaceOf{Place}.isChecked())
    awaitProducts(Self(PlaceOf{Place}), Groups);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ENTRY_PRODUCT_H
