// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run of a program under CRSan.
#include "ProgramRun.h"

#include "Files.h"
#include "LeftBehind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

using namespace crsan;
namespace fs = std::filesystem;

fs::path crsan::outputOf(const fs::path &Folder, const std::string &Name) {
  return Folder / (Name + ".output");
}

/// How the program failed, or an empty text.
static std::string failureOf(const RunResult &Result, int RacyExit) {
  const ProcessEnd &End = Result.End;
  const auto &Records = Result.File.Occurrences;
  const bool HasFault = std::any_of(Records.begin(), Records.end(),
                                    [](auto &O) { return !O.Fault.empty(); });
  const bool HasRace = std::any_of(Records.begin(), Records.end(),
                                   [](auto &O) { return O.Fault.empty(); });
  const bool IsExit = End.Signal == 0 && !End.TimedOut && End.Error.empty();
  const bool SaysRaces = IsExit && RacyExit && End.ExitCode == RacyExit;
  const bool SaysFault = IsExit && End.ExitCode == ExitFailed && HasFault;
  if (SaysRaces && !HasRace)
    return End.words() + " says that there are races, but no report has one";
  if (!SaysRaces && !SaysFault &&
      !(IsExit && End.ExitCode == ExitNothingChecked) && !End.words().empty())
    return End.words();
  if (HasFault && !HasRace)
    return "a kernel failed";
  return Result.IsIncomplete ? "the report of a process of it is missing" : "";
}

/// The files whose names begin and end so, in a fixed order.
static std::vector<fs::path> filesOf(const fs::path &Folder,
                                     const std::string &Begin,
                                     const char *Extension) {
  std::vector<fs::path> Found;
  std::error_code Error;
  for (fs::directory_iterator I(Folder, Error), End; !Error && I != End;
       I.increment(Error))
    if (I->path().filename().string().starts_with(Begin) &&
        I->path().extension() == Extension)
      Found.push_back(I->path());
  std::sort(Found.begin(), Found.end());
  return Found;
}

/// Adds a note for each reason that instrumented processes give in files of
/// this kind (runtime/host/Runner.c): who it was, and the reason. Processes
/// that do not know of which run they are, are taken for members of this one.
static bool readReasons(RunResult &Result, const fs::path &Folder,
                        const std::string &Name, const char *Kind) {
  std::map<std::string, std::vector<std::string>> Reasons;
  for (const std::string &Begin : {Name + "-", std::string("lost-")})
    for (const fs::path &Path : filesOf(Folder, Begin, Kind)) {
      std::string Who, Why;
      std::ifstream In(Path);
      std::getline(In, Who);
      std::getline(In, Why);
      if (Why.empty()) // It could not be written.
        Who = "a process of the program", Why = "it is not in this report";
      std::error_code Error;
      if (fs::remove(Path, Error)) // Else another run has taken it.
        Reasons[Why].push_back(Who);
    }
  for (const auto &[Why, Whose] : Reasons)
    Result.File.Summary.Notes.push_back(fmt::format(
        "{}{}: {}", Whose.front(),
        Whose.size() > 1 ? fmt::format(" and {} more", Whose.size() - 1) : "",
        Why));
  return !Reasons.empty();
}

/// What the processes have recorded, and the command that repeats it.
static std::string readReports(RunResult &Result, const fs::path &Folder,
                               const std::string &Name) {
  std::string Replay;
  std::vector<std::string> Unreadable;
  std::set<std::string> Checked; ///< Ids of processes.
  for (const fs::path &Path : filesOf(Folder, Name + "-", ".json")) {
    auto File = readReport(Path.string());
    std::error_code Error;
    if (auto *Bad = std::get_if<ReportFileError>(&File)) {
      Unreadable.push_back("what a process has recorded is lost: " +
                           Bad->Message);
      Result.IsIncomplete = true;
      continue;
    }
    fs::remove(Path, Error);
    auto &Read = std::get<ReportFile>(File);
    // "run0-4711.json"; "run0-4711.2.json" after exec.
    std::string Id = Path.stem().string().substr(Name.size() + 1);
    Id.resize(std::min(Id.find('.'), Id.size()));
    if (buildReport(Read).verdict() != Verdict::NothingChecked)
      Checked.insert(Id);
    Result.IsHeard &= !Read.Summary.IsUnheard;
    Result.SaysMore |= Id != std::to_string(Result.End.Id);
    if (!Read.Runs.empty()) {
      Replay = Replay.empty() ? Read.Runs.front().Replay : Replay;
      Result.IsIncomplete |= !Read.Runs.front().Failure.empty();
    }
    if (Result.Reports++ == 0)
      Result.File = std::move(Read);
    else
      Result.File.add(Read);
  }
  Result.File.Summary.Processes = Checked.size();
  for (std::string &Line : Unreadable)
    Result.File.Summary.Notes.push_back(std::move(Line));
  return Replay;
}

RunResult crsan::runProgram(const Program &P, uint32_t Seed,
                            const fs::path &Folder, const std::string &Name,
                            bool Capture) {
  using Clock = std::chrono::steady_clock;
  // What each process records it keeps in a file of this beginning
  // (runtime/inject/session/RunFile.cpp).
  const RunMark Mark{.Variable = fmt::format("CRSAN_RUN={}:{}",
                                             P.IsSimulated ? "sim" : "gpu",
                                             (Folder / Name).string()),
                     .IsAlone = P.IsAlone};
  ProcessStart Start{.Path = P.Path,
                     .Words = P.Words,
                     .Environment = {},
                     .Output = {},
                     .OutputToError = P.OutputToError,
                     .Timeout = P.Timeout};
  Start.Environment = {fmt::format("CRSAN_OPTIONS={}:seed={}", P.Options, Seed),
                       Mark.Variable};
  struct stat Error;
  if (Capture)
    Start.Output = outputOf(Folder, Name).string();
  else if (fstat(STDERR_FILENO, &Error) == 0)
    Start.Environment.push_back(
        fmt::format("CRSAN_RUN_STDERR={}:{}", Error.st_dev, Error.st_ino));
  RunResult Result;
  const Clock::time_point Begin = Clock::now();
  Result.End = runProcess(Start);
  std::optional<std::chrono::milliseconds> Left;
  if (P.Timeout)
    Left = std::chrono::duration_cast<std::chrono::milliseconds>(
        *P.Timeout - (Clock::now() - Begin));
  const std::vector<std::string> Behind = awaitLeftBehind(Mark, Left);
  const std::string Replay = readReports(Result, Folder, Name);
  Result.IsIncomplete |= readReasons(Result, Folder, Name, ".lost");
  Result.SaysMore |=
      readReasons(Result, Folder, Name, ".unchecked") || !Behind.empty();
  if (!Behind.empty())
    Result.File.Summary.Notes.push_back(fmt::format(
        "the program has left processes behind which still run: {}; what they "
        "may find later is not in this report",
        fmt::join(Behind, ", ")));
  Result.Failure = failureOf(Result, P.RacyExit);
  Result.File.Summary.Seed = Seed;
  Result.File.becomeOneRun(
      {.Seed = Seed,
       .Program = fmt::format("{}", fmt::join(P.Words, " ")),
       .Replay = Replay,
       .Failure = Result.Failure});
  return Result;
}
