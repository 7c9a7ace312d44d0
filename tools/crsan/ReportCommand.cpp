// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan report.
#include "ReportCommand.h"

#include "Report/HtmlReport.h"
#include "Report/ReportFile.h"
#include "Report/SarifReport.h"
#include "Report/Suppressions.h"
#include "Report/TextReport.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

using namespace crsan;

/// The whole file, or nothing, with errno set.
static std::optional<std::string> readAll(const std::string &Path) {
  std::FILE *In = Path == "-" ? stdin : std::fopen(Path.c_str(), "rb");
  if (!In)
    return std::nullopt;
  std::string Text;
  char Buffer[1 << 16];
  while (size_t Size = std::fread(Buffer, 1, sizeof(Buffer), In))
    Text.append(Buffer, Size);
  const int Error = std::ferror(In) ? errno : 0; // A directory, for one.
  if (In != stdin)
    std::fclose(In);
  errno = Error;
  return Error ? std::nullopt : std::optional(std::move(Text));
}

namespace {
struct Arguments {
  std::string Path;
  std::string Format = "text";
  std::string Output = "-";
  std::string SuppressionsPath;
  TextOptions Options;
};
} // namespace

static int fail(const std::string &Message) {
  std::cerr << "CRSan: " << Message << '\n';
  return 1;
}

static int failToRead(const std::string &Path) {
  return fail("cannot read '" + Path + "': " + std::strerror(errno));
}

static std::string render(const Arguments &Args, const ReportFile &File,
                          const Report &R) {
  if (Args.Format == "json")
    return writeReportFile(File, R);
  if (Args.Format == "sarif")
    return renderSARIF(R, Args.Options);
  if (Args.Format == "html")
    return renderHTML(R, Args.Options);
  return renderText(R, Args.Options);
}

/// Writes the whole file, or the standard output if the path is "-". Returns
/// the exit code.
static int writeAll(const std::string &Path, const std::string &Text) {
  std::FILE *Out = Path == "-" ? stdout : std::fopen(Path.c_str(), "wb");
  bool IsWritten =
      Out && std::fwrite(Text.data(), 1, Text.size(), Out) == Text.size() &&
      std::fflush(Out) == 0;
  int Error = errno;
  if (Out && Out != stdout && std::fclose(Out) != 0 && IsWritten) {
    IsWritten = false;
    Error = errno;
  }
  if (IsWritten)
    return 0;
  return fail(
      "cannot write " +
      (Path == "-" ? "the report to the standard output" : "'" + Path + "'") +
      ": " + std::strerror(Error));
}

static int printReport(const Arguments &Args) {
  const std::optional<std::string> Text = readAll(Args.Path);
  if (!Text)
    return failToRead(Args.Path);
  auto Parsed = parseReportFile(*Text);
  if (auto *Error = std::get_if<ReportFileError>(&Parsed))
    return fail("'" + Args.Path + "' is no report: " + Error->Message +
                "; see docs/report-format.md");
  auto &File = std::get<ReportFile>(Parsed);
  Report R = buildReport(File);
  if (!Args.SuppressionsPath.empty()) {
    auto List = Suppressions::read(Args.SuppressionsPath);
    if (auto *Error = std::get_if<SuppressionsError>(&List))
      return fail(Error->Message);
    std::get<Suppressions>(List).apply(R);
  }
  return writeAll(Args.Output, render(Args, File, R));
}

void crsan::addReportCommand(CLI::App &App, int &ExitCode) {
  auto Args = std::make_shared<Arguments>();
  CLI::App *Command =
      App.add_subcommand("report", "Print the findings of a recorded run");
  Command->add_option("FILE", Args->Path, "JSON file, or - for standard input")
      ->required();
  Command->add_option("--format", Args->Format, "How to print them")
      ->check(CLI::IsMember({"text", "json", "sarif", "html"}))
      ->capture_default_str();
  Command
      ->add_option("-o,--output", Args->Output,
                   "File to write, or - for standard output")
      ->capture_default_str();
  Command->add_option("--suppressions", Args->SuppressionsPath,
                      "File of findings to leave out");
  Command->add_option("--strip-path-prefix", Args->Options.StripPathPrefix,
                      "Text to remove from the start of file names");
  Command->callback([=, &ExitCode] { ExitCode = printReport(*Args); });
}
