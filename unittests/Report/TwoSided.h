// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings with two sides, for tests.
#ifndef CRSAN_UNITTESTS_REPORT_TWOSIDED_H
#define CRSAN_UNITTESTS_REPORT_TWOSIDED_H

#include "Report/Finding.h"

namespace crsan {

/// A weak access of 4 bytes in line `Line` of k.cu.
inline SiteInfo siteAt(uint32_t Line, abi::AccessKind Access) {
  SiteInfo Site;
  Site.Id = Line;
  Site.Access = Access;
  Site.Size = 4;
  Site.Kernel = "k()";
  Site.Frames = {{"k()", "src/k.cu", Line, 5}};
  return Site;
}

inline SiteInfo atomicAt(uint32_t Line, abi::Scope Scope) {
  SiteInfo Site = siteAt(Line, abi::AccessKind::Update);
  Site.Flags = abi::IsStrong | abi::IsAtomic;
  Site.Scope = Scope;
  return Site;
}

/// Thread (2,1,0) of block (1,0,0) writes in line 31 what thread 3 of block 0
/// read in line 40.
inline Finding twoSided(abi::RaceKind Kind, uint64_t Reasons = 0) {
  Finding F;
  F.First.Kind = Kind;
  F.First.Flags = abi::TwoSided;
  F.First.Site = 31;
  F.First.Other = 40;
  F.First.MemorySpace = abi::Space::Global;
  F.First.Size = 4;
  F.First.Block[0] = 1;
  F.First.Thread = 2 | 1 << 10;
  F.First.Before = abi::earlierThread(0, 3);
  F.First.After = Reasons;
  F.Site = siteAt(31, abi::AccessKind::Store);
  F.Other = siteAt(40, abi::AccessKind::Load);
  return F;
}

} // namespace crsan

#endif // CRSAN_UNITTESTS_REPORT_TWOSIDED_H
