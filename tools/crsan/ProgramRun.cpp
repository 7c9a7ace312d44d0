// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run of a program under CRSan.
#include "ProgramRun.h"

#include "Files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

using namespace crsan;
namespace fs = std::filesystem;

fs::path crsan::outputOf(const fs::path &Folder, const std::string &Name) {
  return Folder / (Name + ".output");
}

/// Sets `HasFault` and `Failure`.
static void judgeEnd(RunResult &Result, int RacyExit) {
  const ProcessEnd &End = Result.End;
  const bool IsExit = End.Signal == 0 && !End.TimedOut && End.Error.empty();
  const bool SaysFound = IsExit && RacyExit && End.ExitCode == RacyExit;
  Result.HasFault = SaysFound && Result.File.Occurrences.empty();
  if (Result.HasFault)
    Result.Failure = "a fault or a failed assertion of a kernel";
  else if (!SaysFound && !(IsExit && End.ExitCode == ExitNothingChecked))
    Result.Failure = End.words();
}

/// The files whose names begin so, in a fixed order.
static std::vector<fs::path> filesOf(const fs::path &Folder,
                                     const std::string &Begin) {
  std::vector<fs::path> Found;
  std::error_code Error;
  for (const fs::directory_entry &Entry : fs::directory_iterator(Folder, Error))
    if (Entry.path().filename().string().starts_with(Begin) &&
        Entry.path().extension() == ".json")
      Found.push_back(Entry.path());
  std::sort(Found.begin(), Found.end());
  return Found;
}

RunResult crsan::runProgram(const Program &P, uint32_t Seed,
                            const fs::path &Folder, const std::string &Name,
                            bool Capture) {
  ProcessStart Start{.Path = P.Path,
                     .Words = P.Words,
                     .Environment = {},
                     .Output = {},
                     .OutputToError = P.OutputToError,
                     .Timeout = P.Timeout};
  std::string Options = fmt::format("{}:seed={}", P.Options, Seed);
  if (!P.KeepsLog)
    Options += fmt::format(":log_path='{}':format=json",
                           (Folder / (Name + "-%p.json")).string());
  Start.Environment.push_back("CRSAN_OPTIONS=" + Options);
  if (Capture)
    Start.Output = outputOf(Folder, Name).string();
  RunResult Result;
  Result.End = runProcess(Start);
  std::string Replay;
  for (const fs::path &Path : filesOf(Folder, Name + "-")) {
    auto File = readReport(Path.string());
    if (auto *Error = std::get_if<ReportFileError>(&File)) {
      Result.Unreadable.push_back(Error->Message);
      continue;
    }
    auto &Read = std::get<ReportFile>(File);
    if (Replay.empty() && !Read.Runs.empty())
      Replay = Read.Runs.front().Replay;
    if (Result.Processes++ == 0)
      Result.File = std::move(Read);
    else
      Result.File.add(Read);
    std::error_code Error;
    fs::remove(Path, Error);
  }
  judgeEnd(Result, P.RacyExit);
  Result.File.Summary.Seed = Seed;
  Result.File.becomeOneRun(
      {.Seed = Seed,
       .Program = fmt::format("{}", fmt::join(P.Words, " ")),
       .Replay = Replay,
       .Failure = Result.Failure});
  return Result;
}
