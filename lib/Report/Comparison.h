// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has changed from one report to another.
#ifndef CRSAN_REPORT_COMPARISON_H
#define CRSAN_REPORT_COMPARISON_H

#include "Report/Finding.h"
#include "Report/TextReport.h"

#include <string>
#include <vector>

namespace crsan {

/// Equal for findings that are the same race in two versions of a program: both
/// sides are the same kind of access, to the same variable as far as it is
/// known, in the same functions of files of the same names. Lines do not count.
std::string identityOf(const Finding &F);

/// A short text for other tools, by which they know a finding again: a hash of
/// the identity (FNV-1a, 64 bits, in hexadecimal).
std::string fingerprintOf(const Finding &F);

/// Findings of two reports, by index. Of several findings of one identity in
/// one report, those at equal lines belong together, and the others in the
/// order of their lines: lines move when somebody edits what is above them.
struct Comparison {
  std::vector<size_t> New;   ///< In the new report only.
  std::vector<size_t> Fixed; ///< In the old report only.
  /// In both: the index in the old report, and in the new one.
  std::vector<std::pair<size_t, size_t>> Persistent;
};

Comparison compare(const Report &Old, const Report &New);

/// A line for each finding, and a `SUMMARY:`.
std::string renderComparison(const Comparison &C, const Report &Old,
                             const Report &New, const TextOptions &Options);

/// The same as JSON: `new`, `fixed` and `persistent`, arrays of objects with
/// `kind`, `heading`, `function`, `file`, `line` and `column`; of persistent
/// ones also `old_line`.
std::string renderComparisonJSON(const Comparison &C, const Report &Old,
                                 const Report &New, const TextOptions &Options);

} // namespace crsan

#endif // CRSAN_REPORT_COMPARISON_H
