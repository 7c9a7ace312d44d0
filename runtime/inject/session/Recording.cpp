// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this process has found, in a file for other tools.
#include "session/Recording.h"

#include "Report/SarifReport.h"
#include "Report/Suppressions.h"
#include "common/Flags.h"
#include "common/Log.h"
#include "session/Ending.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <unistd.h>

using namespace crsan;
namespace fs = std::filesystem;

Recording &crsan::theRecording() {
  static Recording *TheRecording = new Recording(readOptions());
  return *TheRecording;
}

Recording::Recording(const Flags &Options)
    : Options(Options), IsWanted(Options.recordsFile()) {}

void Recording::clear() {
  File = ReportFile();
  Notes.clear();
  IsEmpty = true;
}

void Recording::add(std::span<const Occurrence> Occurrences,
                    const SiteTable &Sites, const Report &R) {
  if (!IsWanted)
    return;
  // After a fork, the child records what it has found itself.
  if (Owner && Owner != getpid())
    clear();
  std::vector<Occurrence> Wanted;
  for (const Occurrence &O : Occurrences) {
    const Report One = buildReport({&O, 1}, Sites, {});
    if (One.Findings.empty() || !suppressions().matches(One.Findings.front()))
      Wanted.push_back(O);
  }
  ReportFile More = recordOf(Wanted, Sites, R.Summary, R.Runs);
  if (IsEmpty)
    File = std::move(More);
  else {
    // Another detector's view of the same run.
    const RunInfo Run = File.Runs.empty() ? RunInfo() : File.Runs.front();
    File.add(More);
    File.becomeOneRun(Run);
  }
  IsEmpty = false;
}

void Recording::note(std::string Line) {
  if (std::find(Notes.begin(), Notes.end(), Line) == Notes.end())
    Notes.push_back(std::move(Line));
}

std::string Recording::render() const {
  ReportFile Whole;
  Whole.Summary.Seed = Options.seed;
  Whole.add(File);
  Whole.becomeOneRun(File.Runs.empty() ? RunInfo() : File.Runs.front());
  Whole.Summary = File.Summary;
  for (const std::string &Note : Notes)
    Whole.Summary.Notes.push_back(Note);
  const Report R = buildReport(Whole);
  if (Options.recordsSARIF())
    return renderSARIF(R, {.StripPathPrefix = Options.strip_path_prefix});
  return writeReportFile(Whole, R);
}

/// A file of this name that is there was written before, by a program that this
/// one has replaced (exec): the name gets a number.
static std::string freePath(const std::string &Wanted) {
  const fs::path Path = Wanted;
  std::string Free = Wanted;
  std::error_code Error;
  for (unsigned I = 2; fs::exists(Free, Error); ++I)
    Free =
        (Path.parent_path() / (Path.stem().string() + "-" + std::to_string(I)))
            .string() +
        Path.extension().string();
  return Free;
}

void Recording::write() {
  if (!IsWanted || IsEmpty)
    return;
  if (Owner != getpid()) {
    Owner = getpid();
    Path = freePath(pathOfProcess(Options.log_path));
  }
  const std::string Text = render();
  const std::string Half = Path + ".tmp";
  std::FILE *Out = std::fopen(Half.c_str(), "wbe");
  bool Done =
      Out && std::fwrite(Text.data(), 1, Text.size(), Out) == Text.size();
  Done = Out && std::fclose(Out) == 0 && Done &&
         std::rename(Half.c_str(), Path.c_str()) == 0;
  if (Done || HasFailed)
    return;
  HasFailed = true;
  theLog().say("cannot write log_path '{}': {}; set log_path to a writable "
               "place",
               Path, std::strerror(errno));
}
