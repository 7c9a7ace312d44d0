// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels and launches that a user asks about.
#ifndef CRSAN_REPORT_RUNFILTER_H
#define CRSAN_REPORT_RUNFILTER_H

#include "Report/ReportFile.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crsan {

/// The run-time options `kernels` and `launches`.
class RunFilter {
public:
  /// `Kernels`: patterns as of fnmatch(3), separated by '|'; empty: all
  /// kernels. `Launches`: "A-B", "A-" or "A", where the first launch is 1;
  /// empty: all launches. On an error: one line that says what is wrong.
  static std::variant<RunFilter, std::string> parse(std::string_view Kernels,
                                                    std::string_view Launches);

  bool isEmpty() const { return Patterns.empty() && !hasLaunches(); }
  bool hasLaunches() const { return First > 1 || Last != ~uint64_t(0); }
  uint64_t firstLaunch() const { return First; }
  uint64_t lastLaunch() const { return Last; }
  bool takesLaunch(uint64_t Number) const {
    return First <= Number && Number <= Last;
  }
  /// Whether a pattern is the kernel's name: mangled, demangled, or demangled
  /// without parameters and template arguments, with or without namespaces.
  bool takesKernel(const std::string &Kernel) const;

  /// Takes the records out of which no side is known to be in a kernel that is
  /// asked about, and a side is known to be in another one.
  void apply(ReportFile &File) const;

private:
  bool takes(const SiteInfo *Site) const;

  std::vector<std::string> Patterns; ///< Empty: all kernels.
  uint64_t First = 1, Last = ~uint64_t(0);
};

} // namespace crsan

#endif // CRSAN_REPORT_RUNFILTER_H
