// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan diff.
#include "DiffCommand.h"

#include "Files.h"
#include "Output.h"
#include "Report/Comparison.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <variant>

using namespace crsan;

namespace {
struct DiffRequest {
  std::string Old, New;
  OutputOptions Output;
};
} // namespace

/// The findings of a file, or why there are none, in one line.
static std::variant<Report, std::string> read(const std::string &Path,
                                              const OutputOptions &Options) {
  auto File = readReport(Path);
  if (auto *Error = std::get_if<ReportFileError>(&File))
    return Error->Message;
  return reportOf(std::get<ReportFile>(File), Options);
}

static int diff(const DiffRequest &Q) {
  const auto OldRead = read(Q.Old, Q.Output), NewRead = read(Q.New, Q.Output);
  for (const auto *Read : {&OldRead, &NewRead})
    if (auto *Error = std::get_if<std::string>(Read))
      return fail(*Error);
  const Report &Old = std::get<Report>(OldRead),
               &New = std::get<Report>(NewRead);
  const Comparison C = compare(Old, New);
  const std::string Text =
      Q.Output.Format == "json"
          ? renderComparisonJSON(C, Old, New, Q.Output.Text)
          : renderComparison(C, Old, New, Q.Output.Text);
  if (auto Error = writeText(Q.Output.Path, Text))
    return fail(*Error);
  if (!C.New.empty())
    return ExitRacy;
  if (New.verdict() == Verdict::NothingChecked) {
    fail("'" + Q.New +
         "' is of a run in which nothing was checked, so nothing "
         "is known to be fixed");
    return ExitNothingChecked;
  }
  return 0;
}

void crsan::addDiffCommand(CLI::App &App, int &ExitCode) {
  auto Q = std::make_shared<DiffRequest>();
  CLI::App *Command = App.add_subcommand(
      "diff", "Say which findings are new, fixed and persistent");
  Command->add_option("OLD", Q->Old, "JSON file of the earlier runs")
      ->required();
  Command->add_option("NEW", Q->New, "JSON file of the later runs")->required();
  Q->Output.addTo(*Command, {"text", "json"});
  Command->footer(
      "Exit codes: 0 no new findings; 66 new findings; 67 the later "
      "runs checked nothing; 1 a file cannot be read.");
  Command->callback([=, &ExitCode] { ExitCode = diff(*Q); });
}
