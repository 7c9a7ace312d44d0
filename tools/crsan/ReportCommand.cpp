// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan report.
#include "ReportCommand.h"

#include "Files.h"
#include "Output.h"
#include "Report/Suppressions.h"
#include "Report/Words.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <variant>
#include <vector>

using namespace crsan;

namespace {
struct ReportRequest {
  std::vector<std::string> Paths;
  OutputOptions Output;
  bool WritesSuppressions = false;
};
} // namespace

/// A file of suppressions that leaves out all findings of the report.
static std::string suppressionsFor(const Report &R,
                                   const OutputOptions &Output) {
  std::string Text;
  for (const Finding &F : R.Findings) {
    const std::string Line = suppressionFor(F, Output.Text.StripPathPrefix);
    Text += F.isFault()    ? "# a fault cannot be suppressed: "
            : Line.empty() ? "# nothing is known of where this is: "
                           : "# ";
    Text += heading(F) + "\n" + Line + (Line.empty() ? "" : "\n");
  }
  return Text;
}

static int printReport(const ReportRequest &Q) {
  ReportFile All;
  for (size_t I = 0; I < Q.Paths.size(); ++I) {
    auto File = readReport(Q.Paths[I]);
    if (auto *Error = std::get_if<ReportFileError>(&File))
      return fail(Error->Message);
    auto &Read = std::get<ReportFile>(File);
    if (I == 0)
      All = std::move(Read);
    else
      All.add(Read);
  }
  const auto R = reportOf(All, Q.Output);
  if (auto *Error = std::get_if<std::string>(&R))
    return fail(*Error);
  if (Q.WritesSuppressions) {
    if (auto Error = writeText(Q.Output.Path,
                               suppressionsFor(std::get<Report>(R), Q.Output)))
      return fail(*Error);
    return 0;
  }
  if (auto Error = print(All, std::get<Report>(R), Q.Output))
    return fail(*Error);
  return 0;
}

void crsan::addReportCommand(CLI::App &App, int &ExitCode) {
  auto Q = std::make_shared<ReportRequest>();
  CLI::App *Command = App.add_subcommand(
      "report", "Print the findings of recorded runs, merged");
  Command->add_option("FILE", Q->Paths, "JSON files, or - for standard input")
      ->required();
  Q->Output.addTo(*Command);
  Command->add_flag("--write-suppressions", Q->WritesSuppressions,
                    "Print a file of suppressions for all findings instead");
  Command->callback([=, &ExitCode] { ExitCode = printReport(*Q); });
}
