// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings that are printed while the program runs.
#ifndef CRSAN_INJECT_SESSION_LIVEFINDINGS_H
#define CRSAN_INJECT_SESSION_LIVEFINDINGS_H

#include "Report/TextReport.h"

#include <mutex>
#include <set>
#include <string>

namespace crsan {

/// Remembers which findings were printed, while the program ran (print_live=1)
/// or by the other detector (detector=both), so that a report has one line for
/// each of them.
class LiveFindings {
public:
  /// The text of the findings that were not printed before; empty: there are
  /// none. They count as printed from now on.
  std::string takeNew(const Report &R, const TextOptions &Options);

  /// The text of the report. A finding that was printed before is one line
  /// unless PrintsAgain.
  std::string rest(const Report &R, const TextOptions &Options,
                   bool PrintsAgain);

private:
  std::timed_mutex Lock;
  std::set<std::string> Printed; ///< Identities.
};

/// The process's. Never destroyed.
LiveFindings &liveFindings();

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_LIVEFINDINGS_H
