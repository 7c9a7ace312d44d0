// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A report as text.
#ifndef CRSAN_REPORT_TEXTREPORT_H
#define CRSAN_REPORT_TEXTREPORT_H

#include "Report/Finding.h"

#include <string>

namespace crsan {

struct TextOptions {
  /// Removed from the start of file names, as the sanitizers' option of this
  /// name.
  std::string StripPathPrefix;
};

/// The findings alone.
std::string renderFindings(const Report &R, const TextOptions &Options = {});

/// The whole report, newline at the end: findings, a line for everything that
/// was not checked, what was checked, and a `SUMMARY:`. The caller decides
/// whether a clean run prints it.
std::string renderText(const Report &R, const TextOptions &Options = {});

} // namespace crsan

#endif // CRSAN_REPORT_TEXTREPORT_H
