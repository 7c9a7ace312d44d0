// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A report as text.
#ifndef CRSAN_REPORT_TEXTREPORT_H
#define CRSAN_REPORT_TEXTREPORT_H

#include "Report/Finding.h"

#include <string>
#include <string_view>

namespace crsan {

struct TextOptions {
  /// Removed from the start of file names, as the sanitizers' option of this
  /// name.
  std::string StripPathPrefix;
  /// Shows the lines of source around each access, where this machine has the
  /// file.
  bool ShowsSource = false;
  /// Colours for a terminal (ANSI escape sequences).
  bool HasColour = false;
};

/// "auto", "always" or "never", as options have it. Automatic: whether the text
/// goes to a terminal that is not "dumb" and NO_COLOR (no-color.org) is not
/// set.
bool wantsColour(std::string_view Choice, bool IsTerminal);

/// The findings alone.
std::string renderFindings(const Report &R, const TextOptions &Options = {});

/// The whole report, newline at the end: findings, a line for everything that
/// was not checked, what was checked, and a `SUMMARY:`. The caller decides
/// whether a clean run prints it.
std::string renderText(const Report &R, const TextOptions &Options = {});

/// The same with one line for each finding, for readers of the whole findings:
/// "CRSan: data race: race between blocks, 4 bytes in global memory at
/// a.cu:2:3".
std::string renderBrief(const Report &R, const TextOptions &Options = {});

} // namespace crsan

#endif // CRSAN_REPORT_TEXTREPORT_H
