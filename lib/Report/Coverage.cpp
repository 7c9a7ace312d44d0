// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often each access of the source was checked.
#include "Report/Coverage.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace crsan;

static auto key(const AccessCoverage &A) {
  return std::tie(A.Place.File, A.Place.Line, A.Place.Column, A.Place.Function,
                  A.Kernel, A.Access, A.NotChecked);
}

void crsan::addCoverage(Coverage &All, Coverage More) {
  std::move(More.begin(), More.end(), std::back_inserter(All));
  std::sort(All.begin(), All.end(),
            [](const auto &A, const auto &B) { return key(A) < key(B); });
  Coverage Merged;
  for (AccessCoverage &A : All) {
    if (Merged.empty() || key(Merged.back()) != key(A)) {
      Merged.push_back(std::move(A));
      continue;
    }
    AccessCoverage &Same = Merged.back();
    const uint64_t Room = std::numeric_limits<uint64_t>::max() - Same.Checks;
    Same.Checks += std::min(Room, A.Checks);
    Same.IsFollowed |= A.IsFollowed;
  }
  // A function's own copy stays in the code where its calls are inlined, too.
  All.clear();
  for (auto I = Merged.begin(); I != Merged.end(); ++I) {
    auto Other = I;
    while (Other != Merged.end() && Other->Place == I->Place &&
           Other->Kernel.empty())
      ++Other;
    const bool IsInlined = Other != Merged.end() && Other->Place == I->Place;
    if (!I->Kernel.empty() || I->wasChecked() || !IsInlined)
      All.push_back(*I);
  }
}

std::string crsan::describe(abi::Omission Why) {
  switch (Why) {
#define CRSAN_OMISSION(Name, Remark, What, Reason)                             \
  case abi::Omission::Name:                                                    \
    return Reason;
#include "crsan/abi/Omissions.def"
  }
  return {};
}

CoverageCounts crsan::countCoverage(const Coverage &All) {
  CoverageCounts Counts;
  for (const AccessCoverage &A : All)
    ++(!A.isCheckable() ? Counts.NotChecked
       : A.wasChecked() ? Counts.Checked
                        : Counts.NotExecuted);
  return Counts;
}
