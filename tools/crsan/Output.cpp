// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How commands print a report.
#include "Output.h"

#include "Files.h"
#include "Report/CiReports.h"
#include "Report/HtmlReport.h"
#include "Report/SarifReport.h"
#include "Report/Suppressions.h"

#include <CLI/CLI.hpp>

#include <unistd.h>

using namespace crsan;

void OutputOptions::addTo(CLI::App &Command, std::vector<std::string> Formats) {
  Command.add_option("--format", Format, "How to print the report")
      ->check(CLI::IsMember(std::move(Formats)))
      ->capture_default_str();
  Command.add_option("-o,--output", Path, "File to print to");
  Command.add_option("--suppressions", SuppressionsPath,
                     "File of findings to leave out");
  Command.add_option("--strip-path-prefix", Text.StripPathPrefix,
                     "Text to remove from the start of file names");
  Text.ShowsSource = true;
  Command.add_flag("--source,!--no-source", Text.ShowsSource,
                   "Show the lines of source around each access");
  Command.add_option("--color", Colour, "Colours in text")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
}

TextOptions crsan::textFor(const OutputOptions &Options, int Descriptor) {
  TextOptions Text = Options.Text;
  Text.HasColour = wantsColour(Options.Colour, isatty(Descriptor));
  return Text;
}

std::optional<std::string> crsan::findProblem(const OutputOptions &Options) {
  if (!Options.SuppressionsPath.empty()) {
    auto List = Suppressions::read(Options.SuppressionsPath);
    if (auto *Error = std::get_if<SuppressionsError>(&List))
      return Error->Message;
  }
  return whyNotWritable(Options.Path);
}

std::variant<Report, std::string>
crsan::reportOf(const ReportFile &File, const OutputOptions &Options) {
  Report R = buildReport(File);
  if (Options.SuppressionsPath.empty())
    return R;
  auto List = Suppressions::read(Options.SuppressionsPath);
  if (auto *Error = std::get_if<SuppressionsError>(&List))
    return Error->Message;
  std::get<Suppressions>(List).apply(R);
  return R;
}

static std::string render(const ReportFile &File, const Report &R,
                          const OutputOptions &Options) {
  if (Options.Format == "json")
    return writeReportFile(File, R);
  if (Options.Format == "sarif")
    return renderSARIF(R, Options.Text);
  if (Options.Format == "html")
    return renderHTML(R, Options.Text);
  if (Options.Format == "junit")
    return renderJUnit(R, Options.Text);
  if (Options.Format == "code-quality")
    return renderCodeQuality(R, Options.Text);
  return renderText(
      R, textFor(Options, Options.Path.empty() ? STDOUT_FILENO : -1));
}

std::optional<std::string> crsan::print(const ReportFile &File, const Report &R,
                                        const OutputOptions &Options) {
  return writeText(Options.Path, render(File, R, Options));
}
