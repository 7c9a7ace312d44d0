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

/// Entry point. The number of the allocation that `A` is in, by what
/// __crsan_md_owners has returned; 0: it has none.
HOT_ENTRY uint32_t __crsan_md_owner(uint64_t Pages, uint64_t Mask, uint64_t A) {
  const uint64_t At = Pages + (A >> (PageShift - 3) & Mask);
  const uint32_t Owner =
      loadGlobal(At) >> PageOwnerAt & (PageOwners >> PageOwnerAt);
  if (Owner < FirstSplitPage)
    return Owner;
  const uint32_t Part = (Owner - FirstSplitPage) << (PageShift - PartShift) |
                        (uint32_t(A >> PartShift) & (PartsOfPage - 1));
  uint16_t OfPart;
  asm volatile("ld.global.u16 %0, [%1];"
               : "=h"(OfPart)
               : "l"(Pages + (OwnersOfSplitPagesAt - PagesAt) + Part * 2)
               : "memory");
  return OfPart;
}

/// Entry point. Counts `Number` accesses that need no check, since the pass has
/// shown that they cannot race: those of this lane, or of this lane and of the
/// lanes in whose stead it counts (__crsan_in_count_proven). `First`: the first
/// of the kernel's sites, which get their indices, as executed; null if it has
/// none.
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

/// Whether what a warp finds out about its grid may be written down under the
/// grid's key: no other grid runs at the same time, and none has the same key.
DEVICE bool areGridsApart() {
  // Two loads at once; && would wait for the first.
  return (loadNear(metadata().HasOverlaps) |
          loadNear(metadata().GridsRepeat)) == 0;
}

/// Entry point. As __crsan_in_known_exemptions, where the L1 cache does not
/// know them: it may have an older word.
HOT_ENTRY uint64_t __crsan_md_seek_exemptions(uint64_t *Word) {
  if (loadNear(metadata().GridsRepeat))
    return 0;
  const uint64_t Known = loadRelaxed(*Word);
  if (uint32_t(Known >> 32) != keyOfGrid(gridHere()))
    return 0;
  // The fence empties the L1 cache, so that later warps of this multiprocessor
  // find this word there.
  fenceDevice();
  return Known;
}

/// Entry point. Writes into `Word`, for other warps of this grid, that the
/// exemptions `Which` hold.
HOT_ENTRY void __crsan_md_note_exemptions(uint64_t *Word, uint64_t Which) {
  if (isShadowed() && areGridsApart() && isFirstHere())
    storeRelaxed(*Word, uint64_t(keyOfGrid(gridHere())) << 32 | Which);
}

} // namespace crsan::device

/// At the head of a kernel with exemptions. Returns which of them hold in this
/// grid, in the low 32 bits, if a warp of the grid has written that into
/// `Word`, and else 0. The answer stays the same if other grids begin to run at
/// the same time: warps of one block must not disagree.
INLINE_ENTRY uint64_t __crsan_in_known_exemptions(uint64_t *Word) {
  using namespace crsan::device;
  if (!isShadowed())
    return 0;
  // Two loads at once; && would wait for the first.
  const uint64_t Known = loadNear(*Word);
  const uint32_t IsUnknown = loadNear(metadata().GridsRepeat) |
                             (uint32_t(Known >> 32) ^ keyOfGrid(gridHere()));
  return IsUnknown ? __crsan_md_seek_exemptions(Word) : Known;
}

/// At the end of a thread that has executed `Number` accesses that need no
/// check, of a kernel that has sites. In a grid of many blocks one in 16 counts
/// for all: such kernels are often so short that counting would take as long as
/// all the rest. Until the sites have indices, every block calls the runtime,
/// which gives them.
INLINE_ENTRY void __crsan_in_count_proven(uint32_t Number,
                                          crsan::device::AccessSite *First) {
  using namespace crsan::device;
  constexpr uint32_t Many = 256, LogOneIn = 4;
  // A product that is too large for 32 bits may seem to be small. Then all
  // blocks count.
  const uint32_t Blocks = __nvvm_read_ptx_sreg_nctaid_x() *
                          __nvvm_read_ptx_sreg_nctaid_y() *
                          __nvvm_read_ptx_sreg_nctaid_z();
  if (Blocks < Many)
    return __crsan_md_count_proven(Number, First);
  // By a hash: by the number itself, all of them might be in one column.
  const bool IsOne =
      uint32_t(linearBlock()) * 0x9e3779b1u >> (32 - LogOneIn) == 0;
  if (IsOne || int32_t(loadNear(First->Index)) < 0)
    __crsan_md_count_proven(IsOne ? Number << LogOneIn : Number, First);
}

#endif // CRSAN_DEVICE_METADATA_ENTRY_EXEMPTION_H
