//===- ReportCommand.cpp - crsan report -----------------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ReportCommand.h"

#include "Report/ReportFile.h"
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

static int printReport(const std::string &Path, const TextOptions &Options) {
  const std::optional<std::string> Text = readAll(Path);
  if (!Text) {
    std::cerr << "CRSan: cannot read '" << Path << "': " << std::strerror(errno)
              << '\n';
    return 1;
  }
  auto Parsed = parseReportFile(*Text);
  if (auto *Error = std::get_if<ReportFileError>(&Parsed)) {
    std::cerr << "CRSan: '" << Path << "' is no report: " << Error->Message
              << "; see docs/report-format.md\n";
    return 1;
  }
  auto &File = std::get<ReportFile>(Parsed);
  const Report R = buildReport(File.Occurrences, File.Sites, File.Summary);
  std::cout << renderText(R, Options) << std::flush;
  if (!std::cout) {
    std::cerr << "CRSan: cannot write the report to the standard output\n";
    return 1;
  }
  return 0;
}

void crsan::addReportCommand(CLI::App &App, int &ExitCode) {
  struct Arguments {
    std::string Path;
    TextOptions Options;
  };
  auto Args = std::make_shared<Arguments>();
  CLI::App *Command =
      App.add_subcommand("report", "Print the findings of a recorded run");
  Command->add_option("FILE", Args->Path, "JSON file, or - for standard input")
      ->required();
  Command->add_option("--strip-path-prefix", Args->Options.StripPathPrefix,
                      "Text to remove from the start of file names");
  Command->callback(
      [=, &ExitCode] { ExitCode = printReport(Args->Path, Args->Options); });
}
