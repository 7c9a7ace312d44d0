// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan report.
#include "ReportCommand.h"

#include "Files.h"
#include "Output.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <variant>
#include <vector>

using namespace crsan;

namespace {
struct Request {
  std::vector<std::string> Paths;
  OutputOptions Output;
};
} // namespace

static int printReport(const Request &Q) {
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
  if (auto Error = print(All, std::get<Report>(R), Q.Output))
    return fail(*Error);
  return 0;
}

void crsan::addReportCommand(CLI::App &App, int &ExitCode) {
  auto Q = std::make_shared<Request>();
  CLI::App *Command = App.add_subcommand(
      "report", "Print the findings of recorded runs, merged");
  Command->add_option("FILE", Q->Paths, "JSON files, or - for standard input")
      ->required();
  Q->Output.addTo(*Command);
  Command->callback([=, &ExitCode] { ExitCode = printReport(*Q); });
}
