// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often each access of the source was checked.
//
// A run without findings says more if it is known what was checked. With the
// option `coverage`, a report has each plain access of the loaded code.
#ifndef CRSAN_REPORT_COVERAGE_H
#define CRSAN_REPORT_COVERAGE_H

#include "Report/SiteTable.h"

#include <cstdint>
#include <string>
#include <vector>

namespace crsan {

/// An access at a place of the source; the same place in several copies of a
/// loop or instances of a template is one.
struct AccessCoverage {
  SourceFrame Place;  ///< Of an inlined chain, frameToName().
  std::string Kernel; ///< Demangled; empty: several may run it.
  /// Why no execution is checked; empty: those of checked launches are.
  std::string NotChecked = {};
  abi::AccessKind Access = abi::AccessKind::Load; ///< If NotChecked is empty.
  /// Executions that the collider checked, counted by warps.
  uint64_t Checks = 0;
  /// Metadata mode has checked each execution; the function was executed.
  bool IsFollowed = false;

  bool isCheckable() const { return NotChecked.empty(); }
  bool wasChecked() const { return Checks || IsFollowed; }
  bool operator==(const AccessCoverage &) const = default;
};

/// Sorted by place, kernel and access.
using Coverage = std::vector<AccessCoverage>;

/// Adds the counts of accesses that are there, and the others. `More` need not
/// be sorted, and may name an access several times.
void addCoverage(Coverage &All, Coverage More);

/// What `Why` says, for AccessCoverage::NotChecked.
std::string describe(abi::Omission Why);

/// How many accesses there are of which each was checked, could have been, or
/// cannot be.
struct CoverageCounts {
  uint64_t Checked = 0, NotExecuted = 0, NotChecked = 0;
};
CoverageCounts countCoverage(const Coverage &All);

} // namespace crsan

#endif // CRSAN_REPORT_COVERAGE_H
