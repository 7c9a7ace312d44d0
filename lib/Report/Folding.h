// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One finding for one bug.
#ifndef CRSAN_REPORT_FOLDING_H
#define CRSAN_REPORT_FOLDING_H

#include "Report/Finding.h"

#include <vector>

namespace crsan {

/// Makes one finding of those that a reader takes for one bug:
///
/// - findings at one pair of lines (with the lines of the calls that were
///   inlined), whatever the columns, kinds and directions of the accesses;
/// - a finding of which one side is known, and the most frequent finding that
///   names the same line and another one.
///
/// Findings that are known to be of different memory (variables, allocations,
/// spaces) stay apart, and so do findings without lines. What is left shows the
/// finding that says most, and sums up the counts of all.
void foldFindings(std::vector<Finding> &Findings);

} // namespace crsan

#endif // CRSAN_REPORT_FOLDING_H
