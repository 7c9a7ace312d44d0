// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How commands print a report.
#ifndef CRSAN_TOOLS_OUTPUT_H
#define CRSAN_TOOLS_OUTPUT_H

#include "Report/ReportFile.h"
#include "Report/TextReport.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
}

namespace crsan {

/// The options that all commands share which print a report.
struct OutputOptions {
  std::string Format = "text";
  std::string Path; ///< Empty: the standard output.
  std::string SuppressionsPath;
  TextOptions Text;
  std::string Colour = "auto";

  /// Adds --format, -o, --suppressions, --strip-path-prefix, --source and
  /// --color.
  void addTo(CLI::App &Command,
             std::vector<std::string> Formats = {
                 "text", "json", "sarif", "html", "junit", "code-quality"});
};

/// How text looks that goes to a file; -1: to one that is no terminal.
TextOptions textFor(const OutputOptions &Options, int Descriptor);

/// Why no report can be printed as the options say, in one line: the
/// suppressions cannot be read, or the file cannot be written.
std::optional<std::string> findProblem(const OutputOptions &Options);

/// The findings of a file, without those that are suppressed; or why the
/// suppressions cannot be read, in one line.
std::variant<Report, std::string> reportOf(const ReportFile &File,
                                           const OutputOptions &Options);

/// Writes the report in the format and to the place that the user wants. On an
/// error: why not, in one line.
std::optional<std::string> print(const ReportFile &File, const Report &R,
                                 const OutputOptions &Options);

} // namespace crsan

#endif // CRSAN_TOOLS_OUTPUT_H
