// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sites of accesses and their indices.
#ifndef CRSAN_DEVICE_METADATA_SITE_H
#define CRSAN_DEVICE_METADATA_SITE_H

#include "metadata/Tables.h"

namespace crsan::device {

/// Whether the accesses of a site are strong. The user may have asked for
/// volatile accesses to be weak.
DEVICE bool isStrongSite(const AccessSite &S) {
  return (S.Flags & IsStrong) &&
         !((S.Roles & IsVolatile) && (__crsan_config.Flags & WeakVolatile));
}

/// The site with an index, or null.
DEVICE const AccessSite *siteAt(uint32_t Index) {
  return reinterpret_cast<const AccessSite *>(
      loadRelaxed(table<uint64_t>(SitesAt)[Index]));
}

/// Whether every access of the site writes. A compare-and-swap that fails only
/// reads.
DEVICE bool surelyWrites(const AccessSite &S) {
  return (S.Flags & WritesMemory) && !(S.Flags & IsSwap);
}

/// Numbers the sites of a function. `First` is the first of these sites, and
/// this thread has claimed it. Returns the index of `First`, or NoIndexLeft.
DEVICE uint32_t numberSites(AccessSite &First) {
  const uint32_t Count = First.Count;
  const uint32_t Align = Count > 1 ? 2u << (31 - __builtin_clz(Count - 1)) : 1;
  uint32_t Found, Last = loadRelaxed(metadata().NextSite), Index;
  do {
    Index = (Last + Align) & ~(Align - 1); // Index 0 stands for no site.
    if (Index + Count > MaxSites) {
      __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().SitesRefused),
                            Count);
      storeRelaxed(First.Index, NoIndexLeft);
      return NoIndexLeft;
    }
    Found = Last;
    asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(Last)
                 : "l"(&metadata().NextSite), "r"(Found), "r"(Index + Count - 1)
                 : "memory");
  } while (Last != Found);
  uint32_t Accesses = 0;
#pragma unroll 1
  for (uint32_t I = 0; I < Count; ++I) {
    Accesses += ((&First + I)->Roles & IsBarrier) == 0;
    storeRelaxed(table<uint64_t>(SitesAt)[Index + I],
                 reinterpret_cast<uint64_t>(&First + I));
  }
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().NumSites),
                        Accesses);
  fenceDevice();
#pragma unroll 1
  for (uint32_t I = 0; I < Count; ++I)
    storeRelaxed((&First + I)->Index, Index + I);
  return Index;
}

/// Makes sure that the sites of a function have indices. `First` is the first
/// of these sites. Called by any number of lanes together. Returns the index of
/// `First`, or NoIndexLeft.
DEVICE uint32_t giveIndices(AccessSite &First) {
  const uint32_t Here = activeMask();
  uint32_t Found;
  asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], %2, %3;"
               : "=r"(Found)
               : "l"(&First.Index), "r"(NoIndexYet), "r"(IndexClaimed)
               : "memory");
  if (Found == NoIndexYet)
    Found = numberSites(First);
  // The lane that numbers the sites must not wait for lanes of its own warp
  // that poll below: a polling lane does not let another lane run first.
  __nvvm_bar_warp_sync(Here);
  while (Found == IndexClaimed) {
    pause(100);
    Found = loadRelaxed(First.Index);
  }
  return Found;
}

/// The index by which cells name a site. The sites of a function get indices
/// when one of them is first used. Returns MaxSites if no index is left.
DEVICE uint32_t indexOf(AccessSite &S) {
  const uint32_t Index = loadNear(S.Index);
  if (int32_t(Index) >= 0)
    return Index;
  const uint32_t First = giveIndices(*(&S - S.Number));
  return First == NoIndexLeft ? MaxSites : First + S.Number;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_SITE_H
