// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What checks in line ask for and count.
//
// Entry points that give checks in line what they need, and entry points that
// count accesses. Each lane calls for itself; lanes of a warp may call together
// or apart.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_CONTEXT_H
#define CRSAN_DEVICE_METADATA_ENTRY_CONTEXT_H

#include "metadata/CellCheck.h"

namespace crsan::device {

/// Result of __crsan_md_pages_from.
using PageRange = uint64_t __attribute__((ext_vector_type(2)));

/// The state of warps that are not followed: NeedsCare is set and all else is
/// 0.
extern "C" {
__attribute__((device)) alignas(16) uint32_t
    NotFollowed[sizeof(WarpState) / 4] = {0, 0, 0, NeedsCare};
}

/// The address of the page table, or of memory whose first entry is empty.
DEVICE uint64_t pagesHere() {
  return isShadowed() ? __crsan_config.Metadata + PagesAt
                      : reinterpret_cast<uint64_t>(NotFollowed);
}

/// Entry point. The address of this warp's WarpState, for checks in line of
/// code that is not at the head of a kernel.
HOT_ENTRY uint64_t __crsan_md_self() {
  return isShadowed()
             ? reinterpret_cast<uint64_t>(&Self::stateOf(placeHere().warp()))
             : reinterpret_cast<uint64_t>(NotFollowed);
}
/// Entry point. As pagesHere(), for the same code.
HOT_ENTRY uint64_t __crsan_md_pages() { return pagesHere(); }

/// Entry point, for accesses that move through memory in a loop. Finds the
/// pages around that of `A` whose exact shadows are adjacent as the pages are.
/// Returns the number of the first page in the low half and the number of pages
/// in the high half of the first element; the second element plus four times an
/// address is the address of its cell. If the page of `A` has no exact shadow,
/// both are 0.
HOT_ENTRY PageRange __crsan_md_pages_from(uint64_t A) {
  if (!isShadowed())
    return {0, 0};
  constexpr uint32_t Most = 8;
  const uint32_t At = pageIndex(A) % Most;
  const uint64_t *From = table<uint64_t>(PagesAt) + pageIndex(A) - At;
  uint64_t Entries[Most];
#pragma unroll
  for (uint32_t I = 0; I < Most; ++I)
    Entries[I] = loadRelaxed(From[I]);
  const uint64_t Entry = loadRelaxed(From[At]);
  if (!isPageOf(Entry, A) || Entry & PageCached)
    return {0, 0};
  uint32_t Alike = 0;
#pragma unroll
  for (uint32_t I = 0; I < Most; ++I)
    Alike |=
        uint32_t(Entries[I] - Entry == (I - uint64_t(At)) * ExactPageShadow)
        << I;
  const uint32_t Above = __builtin_ctz(~(Alike >> At));
  const uint32_t Below = At ? __builtin_clz(~(Alike << (32 - At))) : 0;
  const uint64_t Page = A >> PageShift;
  return {uint64_t(Above + Below) << 32 | uint32_t(Page - Below),
          (Entry & ((uint64_t(1) << PageTagAt) - 4096)) -
              (Page << PageShift) * (sizeof(Cell) / 4)};
}

/// Entry point. Gives the sites of a function their indices when the function
/// first begins. `First` is the first of the sites. Returns its index, or a
/// value that is negative as int32_t if none is left.
ENTRY uint32_t __crsan_md_sites(AccessSite *First) {
  return isShadowed() ? giveIndices(*First) : NoIndexLeft;
}

/// Entry point. This lane has checked `Number` accesses in line, or fewer if
/// its grid was stopped. `State` is the address of its WarpState.
HOT_ENTRY void __crsan_md_count(uint64_t State, uint32_t Number) {
  if (isShadowed())
    countChecked(*reinterpret_cast<WarpState *>(State), Number);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_ENTRY_CONTEXT_H
