// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that need no check.
//
// Entry points of kernels in which some or all accesses need no check if their
// launch fulfils conditions, the kernel's exemptions
// (lib/Transforms/Metadata/Exemptions.h).
#ifndef CRSAN_DEVICE_METADATA_ENTRY_EXEMPTION_H
#define CRSAN_DEVICE_METADATA_ENTRY_EXEMPTION_H

#include "metadata/GridSample.h"
#include "metadata/entry/InLineWarp.h"

namespace crsan::device {

/// Result of __crsan_md_owners.
using OwnerTable = uint64_t __attribute__((ext_vector_type(2)));

/// Entry point, at the head of a kernel that compares the owners of pages
/// (PageOwners). Returns the page table, and a mask for the byte offset of an
/// entry. If another grid may run beside this one, or the kernel is not
/// followed, returns memory whose first entry is empty.
HOT_ENTRY OwnerTable __crsan_md_owners() {
  if (!isShadowed() || loadNear(metadata().HasOverlaps))
    return {reinterpret_cast<uint64_t>(NotFollowed), 0};
  return {__crsan_config.Metadata + PagesAt, uint64_t(NumPages - 1) << 3};
}

/// Entry point. `Number` accesses need no check, of this lane or of this lane
/// and its like in other blocks, since the pass has shown that they cannot
/// race. `First`: the first of the kernel's sites, which get their indices, as
/// executed; null if it has none.
HOT_ENTRY void __crsan_md_count_proven(uint32_t Number, AccessSite *First) {
  if (!isShadowed() || Number == 0)
    return;
  if (First && int32_t(loadNear(First->Index)) < 0)
    __crsan_md_sites(First);
  // Any WarpState will do: the host adds up the counters of all.
  uint32_t Warp;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(Warp));
  countChecked(Self::stateOf((smid() << 6 | Warp) & (NumWarps - 1)), Number);
}

/// Whether the answers of a grid may be written down under its number: no two
/// grids run at a time, and each has a number of its own.
DEVICE bool areGridsApart() {
  // Both are requested at once.
  return (loadNear(metadata().HasOverlaps) |
          loadNear(metadata().GridsRepeat)) == 0;
}

} // namespace crsan::device

/// At the head of a kernel with exemptions. Returns which of them hold in this
/// grid, in the low 32 bits, if a warp of the grid has written that into
/// `Word`, and else 0.
INLINE_ENTRY uint64_t __crsan_in_known_exemptions(uint64_t *Word) {
  using namespace crsan::device;
  if (!isShadowed())
    return 0;
  uint64_t Known = loadNear(*Word);
  if (!areGridsApart())
    return 0;
  const uint32_t Key = keyOfGrid(gridHere());
  if (uint32_t(Known >> 32) != Key) {
    Known = loadRelaxed(*Word);
    if (uint32_t(Known >> 32) != Key)
      return 0;
    // The L1 cache does not know it yet: it is emptied.
    fenceDevice();
  }
  return Known;
}
/// Writes it down for other warps.
INLINE_ENTRY void __crsan_in_note_exemptions(uint64_t *Word, uint64_t Which) {
  using namespace crsan::device;
  if (isShadowed() && areGridsApart() && isFirstHere())
    storeRelaxed(*Word, uint64_t(keyOfGrid(gridHere())) << 32 | Which);
}

/// At the end of a thread that has executed `Number` such accesses. In a grid
/// of many blocks one in 16 counts for all: such kernels are often so short
/// that counting would take as long as all the rest. Those that come first make
/// their kernel known in any case.
INLINE_ENTRY void __crsan_in_count_proven(uint32_t Number,
                                          crsan::device::AccessSite *First) {
  using namespace crsan::device;
  constexpr uint32_t Many = 256, OneIn = 16;
  const bool AreMany = blocksOfGrid() >= Many;
  const bool IsOne = linearBlock() % OneIn == 0;
  if (AreMany && !IsOne && (!First || int32_t(loadNear(First->Index)) >= 0))
    return;
  __crsan_md_count_proven(AreMany && IsOne ? Number * OneIn : Number, First);
}

#endif // CRSAN_DEVICE_METADATA_ENTRY_EXEMPTION_H
