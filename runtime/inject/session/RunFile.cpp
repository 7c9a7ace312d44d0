// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file that a run is saved in.

#include "session/RunFile.h"

#include "Report/ReportFile.h"
#include "Report/SarifReport.h"
#include "common/CommandLine.h"
#include "common/Log.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace crsan {

using namespace std::chrono_literals;

LogFormat logFormat(const Flags &Options) {
  const std::string_view Path = Options.log_path;
  if (Options.format == "json" ||
      (Options.format == "auto" && Path.ends_with(".json")))
    return LogFormat::JSON;
  if (Options.format == "sarif" ||
      (Options.format == "auto" && Path.ends_with(".sarif")))
    return LogFormat::SARIF;
  return LogFormat::Text;
}

std::optional<std::string> checkLogPath(const Flags &Options) {
  const std::string &Path = Options.log_path;
  if (logFormat(Options) == LogFormat::Text ||
      !(Path.empty() || Path == "stdout" || Path == "stderr"))
    return std::nullopt;
  return fmt::format("format={} is for a file: name one, such as "
                     "log_path=races-%p.{}",
                     Options.format, Options.format);
}

/// When this process began, by the clock of files. A process that runs another
/// program (exec) stays the same.
static std::optional<timespec> startOfProcess() {
  std::ifstream In("/proc/self/stat");
  std::string Line;
  std::getline(In, Line);
  // "1 (name) S ...": the name may have parentheses, and the start is the 20th
  // field after the state.
  const size_t Name = Line.rfind(')');
  if (Name == Line.npos)
    return std::nullopt;
  unsigned long long Start = 0;
  if (std::sscanf(Line.c_str() + Name + 1,
                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
                  "%*d %*d %*d %*d %*d %llu",
                  &Start) != 1)
    return std::nullopt;
  const long Ticks = sysconf(_SC_CLK_TCK);
  timespec SinceBoot, Now;
  if (Ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &SinceBoot) != 0 ||
      clock_gettime(CLOCK_REALTIME, &Now) != 0)
    return std::nullopt;
  const auto Nanoseconds = [](const timespec &T) {
    return T.tv_sec * 1000000000LL + T.tv_nsec;
  };
  const long long Began = Nanoseconds(Now) - Nanoseconds(SinceBoot) +
                          (long long)(Start) * (1000000000LL / Ticks);
  return timespec{time_t(Began / 1000000000LL), long(Began % 1000000000LL)};
}

/// Whether a program that ran in this process before wrote the file.
static bool isOfThisProcess(const std::string &Path) {
  struct stat Info;
  if (stat(Path.c_str(), &Info) != 0)
    return false;
  const std::optional<timespec> Start = startOfProcess();
  return Start && std::pair(Info.st_mtim.tv_sec, Info.st_mtim.tv_nsec) >
                      std::pair(Start->tv_sec, Start->tv_nsec);
}

/// The process's file. The programs that one process runs, one after the other,
/// have a file each: "races-7.json", "races-7.2.json".
static std::string choosePath(const std::string &LogPath) {
  const std::string First = pathOfProcess(LogPath);
  std::string Path = First;
  for (unsigned Number = 2; isOfThisProcess(Path); ++Number) {
    const size_t Name = First.find_last_of('/') + 1;
    const size_t Dot = std::min(First.rfind('.'), First.size());
    const size_t Where = Dot > Name ? Dot : First.size();
    Path = fmt::format("{}.{}{}", First.substr(0, Where), Number,
                       First.substr(Where));
  }
  return Path;
}

/// Returns what went wrong, or 0.
static int replaceFile(const std::string &Path, std::string_view Text) {
  const std::string New = Path + ".new";
  const int Descriptor =
      open(New.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
           S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  if (Descriptor < 0)
    return errno;
  errno = 0;
  const bool IsWritten = writeAll(Descriptor, Text);
  const bool IsDone = close(Descriptor) == 0 && IsWritten &&
                      rename(New.c_str(), Path.c_str()) == 0;
  const int Error = IsDone ? 0 : errno ? errno : EIO;
  if (Error)
    unlink(New.c_str());
  return Error;
}

TextOptions textOptions(const Flags &Options) {
  TextOptions Text;
  Text.StripPathPrefix = Options.strip_path_prefix;
  Text.ShowsSource = Options.source;
  Text.HasColour = wantsColour(Options.color, theLog().isTerminal());
  return Text;
}

static std::string render(LogFormat Format, const Flags &Options,
                          const ReportFile &Recorded) {
  const Report R = buildReport(Recorded);
  if (Format == LogFormat::JSON)
    return writeReportFile(Recorded, R);
  return renderSARIF(R, textOptions(Options));
}

/// With %p; empty: crsan run has not started the program.
static std::string *RunnersPath = nullptr;
/// The device and the inode of the runner's standard error; 0: not known.
static unsigned long RunnersDevice = 0, RunnersInode = 0;

void rememberRunner() {
  if (const char *Error = std::getenv("CRSAN_RUN_STDERR"))
    std::sscanf(Error, "%lu:%lu", &RunnersDevice, &RunnersInode);
  // "sim:/tmp/crsan-run-2h4Zt9/run0" (tools/crsan/ProgramRun.cpp)
  const char *Said = std::getenv("CRSAN_RUN");
  const std::string_view Text = Said ? Said : "";
  const size_t Begin = Text.find(":/");
  RunnersPath = new std::string;
  if (Begin != Text.npos)
    *RunnersPath = fmt::format("{}-%p.json", Text.substr(Begin + 1));
}

/// Whether the runner's reader does not see what this process prints: it goes
/// to another file than the runner's standard error, or to none.
static bool isUnheard() {
  if (theLog().isUnheard())
    return true;
  struct stat Mine;
  return RunnersInode && theLog().isStderr() &&
         (fstat(STDERR_FILENO, &Mine) != 0 || Mine.st_dev != RunnersDevice ||
          Mine.st_ino != RunnersInode);
}

namespace {
/// A file of the process.
struct Target {
  LogFormat Format;
  std::string Pattern; ///< With %p, perhaps.
  std::string Path;    ///< Of this process; empty: none could be written.
};
} // namespace

static std::vector<Target> targetsOf(const Flags &Options) {
  std::vector<Target> Targets;
  if (const LogFormat Format = logFormat(Options); Format != LogFormat::Text)
    Targets.push_back({Format, Options.log_path, {}});
  if (RunnersPath && !RunnersPath->empty())
    Targets.push_back({LogFormat::JSON, *RunnersPath, {}});
  return Targets;
}

bool isSaved(const Flags &Options) { return !targetsOf(Options).empty(); }

/// A reader of the file shall know that more may have happened.
static void markUnfinished(ReportFile &File) {
  const std::string Who =
      fmt::format("process {} ({})", getpid(), commandLine());
  File.Summary.Notes.push_back(fmt::format(
      "the report of {} is not complete: the process was killed, has ended "
      "without the C library, or still runs",
      Who));
  if (!File.Runs.empty())
    File.Runs.front().Failure = Who + " has not reported its end";
}

void saveRun(const Flags &Options, ReportFile Recorded, bool IsWhole) {
  if (!isSaved(Options))
    return;
  // A thread that a signal has ended may hold the lock.
  static auto *Saving = new std::timed_mutex;
  std::unique_lock Lock(*Saving, 5s);
  if (!Lock.owns_lock())
    return;
  static pid_t Owner = 0; // A child that is forked writes files of its own.
  static auto *Targets = new std::vector<Target>;
  if (Owner != getpid()) {
    Owner = getpid();
    *Targets = targetsOf(Options);
    for (Target &T : *Targets)
      T.Path = choosePath(T.Pattern);
  }
  Recorded.Summary.IsUnheard = isUnheard();
  if (!IsWhole)
    markUnfinished(Recorded);
  for (Target &T : *Targets) {
    if (T.Path.empty())
      continue;
    if (const int Error =
            replaceFile(T.Path, render(T.Format, Options, Recorded))) {
      theLog().say("cannot write {} '{}': {}; set {} to a writable place",
                   T.Pattern == Options.log_path ? "log_path" : "the file",
                   T.Path, std::strerror(Error),
                   T.Pattern == Options.log_path ? "log_path" : "TMPDIR");
      T.Path.clear();
    }
  }
}

} // namespace crsan
