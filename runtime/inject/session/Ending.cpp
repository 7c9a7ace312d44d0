// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run and the end of its program.

#include "session/Ending.h"

#include "Report/ReportFile.h"
#include "Report/RunFilter.h"
#include "Report/Suppressions.h"
#include "common/Flags.h"
#include "common/KernelWait.h"
#include "common/Log.h"
#include "common/Signals.h"
#include "common/Watcher.h"
#include "host/Endings.h"
#include "session/KernelFaults.h"
#include "session/LiveFindings.h"
#include "session/RunFile.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>
#include <mutex>
#include <string_view>

#include <unistd.h>

namespace crsan {

/// Findings that the options ask not to report. Never destroyed, either.
static const Suppressions *TheSuppressions = nullptr;
static const RunFilter *TheFilter = nullptr;

[[noreturn]] static void refuseOptions(const std::string &Why,
                                       const char *Source = "CRSAN_OPTIONS") {
  theLog().say("{}: {}", Source, Why);
  crsanLeave(1);
}

static Suppressions readSuppressions(const std::string &Path) {
  if (Path.empty())
    return {};
  auto List = Suppressions::read(Path);
  if (auto *Error = std::get_if<SuppressionsError>(&List))
    refuseOptions("suppressions: " + Error->Message);
  return std::get<Suppressions>(std::move(List));
}

static RunFilter makeFilter(const Flags &Options) {
  auto Made = RunFilter::parse(Options.kernels, Options.launches);
  if (auto *Error = std::get_if<std::string>(&Made))
    refuseOptions("launches: " + *Error);
  return std::get<RunFilter>(std::move(Made));
}

const Flags &readOptions() {
  static const Flags *Options = [] {
    auto *F = new Flags;
    // -fno-sanitize-recover=cuda-race, by way of a symbol of the program's.
    F->halt_on_error = dlsym(RTLD_DEFAULT, "__crsan_halt_on_error") != nullptr;
    using OptionsFunction = const char *();
    auto *Default = reinterpret_cast<OptionsFunction *>(
        dlsym(RTLD_DEFAULT, "__crsan_default_options"));
    const char *Defaults = Default ? Default() : nullptr;
    if (auto Error = F->parse(Defaults ? Defaults : ""))
      refuseOptions(*Error, "__crsan_default_options");
    const char *Text = std::getenv("CRSAN_OPTIONS");
    if (auto Error = F->parse(Text ? Text : ""))
      refuseOptions(*Error);
    TheSuppressions = new Suppressions(readSuppressions(F->suppressions));
    TheFilter = new RunFilter(makeFilter(*F));
    if (auto Mistake = checkLogPath(*F))
      refuseOptions(*Mistake);
    rememberRunner();
    F->log_path = wholePath(F->log_path);
    theLog().setPath(logFormat(*F) == LogFormat::Text ? F->log_path : "");
    theLog().setVerbosity(F->verbosity);
    if (F->help)
      theLog().text(Flags::helpText());
    return F;
  }();
  return *Options;
}

const Suppressions &suppressions() {
  readOptions();
  return *TheSuppressions;
}

const RunFilter &runFilter() {
  readOptions();
  return *TheFilter;
}

static std::atomic<ReportCallback *> TheCallback = nullptr;

void printFindings(const std::string &Text) {
  theLog().text(Text);
  if (ReportCallback *Callback = TheCallback)
    Callback(Text.c_str());
}

void setReportCallback(ReportCallback *Callback) { TheCallback = Callback; }

size_t countFindings() {
  Run *R = theRun();
  const std::optional<ReportFile> Recorded =
      R ? R->recorded() : std::optional<ReportFile>();
  return Recorded ? buildReport(*Recorded).Findings.size() : 0;
}

Run::~Run() = default;

bool Run::report() {
  const bool HasRaces = print();
  HasEnded = true;
  if (isSaved(options()))
    if (std::optional<ReportFile> Recorded = recorded())
      saveRun(options(), std::move(*Recorded), /*IsWhole=*/true);
  return HasRaces;
}

void Run::reportNew() {
  const bool IsSaved = isSaved(options());
  using Clock = std::chrono::steady_clock;
  const Clock::time_point Before = Clock::now();
  if ((!options().print_live && !IsSaved) || Before < NextReport.load() ||
      !hasBegun())
    return;
  const std::optional<size_t> Races = countRecorded();
  const size_t Count = Races.value_or(0) + kernelFaults().count();
  if (!Races || Reported == Count)
    return;
  std::optional<ReportFile> Recorded = recorded();
  if (!Recorded)
    return;
  // Another thread may be about to show the same, or more: the program does not
  // go on before that has been shown.
  const std::unique_lock Guard(Showing, std::chrono::seconds(1));
  if (!Guard.owns_lock() || (Reported != None && Reported > Count))
    return;
  if (options().print_live) {
    const std::string New =
        liveFindings().takeNew(buildReport(*Recorded), textOptions(options()));
    if (!New.empty())
      printFindings(New);
  }
  saveRun(options(), std::move(*Recorded), HasEnded);
  Reported = Count;
  // Of the program's time, a tenth is enough. The first finding does not wait.
  const Clock::time_point After = Clock::now();
  if (Count != 0)
    NextReport = After + 9 * (After - Before);
}

static Run *TheRun = nullptr;
static pid_t RunOwner = 0;

void setRun(Run *R) {
  TheRun = R;
  RunOwner = getpid();
}

Run *theRun() { return RunOwner == getpid() ? TheRun : nullptr; }

void flushEverything() {
  std::cout.flush();
  std::wcout.flush();
  std::clog.flush();
  std::wclog.flush();
  std::fflush(nullptr);
}

/// The exit code that the program shall have after its report, 0 to leave it as
/// it is.
static int exitCodeFor(const Run &R, bool HasRaces) {
  const Flags &Options = R.options();
  if (HasRaces)
    return int(Options.exitcode);
  if (kernelFaults().count())
    return Options.exitcode ? CRSAN_KERNEL_FAILED : 0;
  return Options.require_checked && !R.hasChecked() ? CRSAN_NOTHING_CHECKED : 0;
}

/// The program has come to its end: suppressions that matched nothing may be
/// out of date. A run that prints no report does not name them.
static void sayUnmatched(const Run &R, bool HasRaces) {
  const Suppressions &List = suppressions();
  if (!R.hasChecked() ||
      !(HasRaces || List.hasMatched() || R.options().verbosity >= 1))
    return;
  if (const std::string Lines = List.unmatched(); !Lines.empty())
    theLog().say("suppressions that matched nothing: {}", Lines);
}

/// Reports at the end of the program, and returns as exitCodeFor does.
static int reportLast(Run &R) {
  const bool IsWhole = R.takeStock();
  const bool HasRaces = R.report();
  if (IsWhole)
    sayUnmatched(R, HasRaces);
  return exitCodeFor(R, HasRaces);
}

static void atExit() {
  // A kernel that hangs may keep the rest of the exit from happening.
  if (Run *R = theRun(); R && !R->takeStock())
    R->report();
}

void reportAtExit() { std::atexit(atExit); }

void reportLastAtExit() {
  std::atexit([] {
    if (Run *R = theRun())
      reportLast(*R);
  });
}

/// Locked by the thread that ends the program, and never unlocked: of several
/// threads that see a race one reports it.
static std::mutex Halting;

void haltIfRacy() {
  Run *R = theRun();
  if (!R || !R->sawRace())
    return;
  Halting.lock();
  // Other threads run: flushing could wait for their locks forever.
  const int Code = exitCodeFor(*R, R->report());
  crsanLeave(Code ? Code : 1);
}

/// Ends the program with a report if it has been waiting for a kernel for too
/// long (timeout).
static void endIfHung(Run &R) {
  const std::chrono::seconds Patience(R.options().timeout);
  if (Patience.count() == 0 || KernelWait::longest() < Patience)
    return;
  Halting.lock();
  const std::vector<std::string> Kernels = R.lastKernels();
  Occurrence O;
  SiteInfo Site;
  O.Fault = "time limit";
  O.Explanation = fmt::format(
      "A kernel has not ended after {} s (timeout); the program was ended.",
      Patience.count());
  if (Kernels.size() == 1)
    Site.Kernel = Kernels.front();
  else if (!Kernels.empty())
    O.Explanation +=
        fmt::format(" Last launched: {}.", fmt::join(Kernels, ", "));
  kernelFaults().add(std::move(O), std::move(Site));
  theLog().say(
      "a kernel has not ended after {} s (timeout); {}{}the program is "
      "ended",
      Patience.count(), Kernels.empty() ? "" : "last launched: ",
      Kernels.empty() ? "" : fmt::format("{}; ", fmt::join(Kernels, ", ")));
  const int Code = exitCodeFor(R, R.report());
  crsanLeave(Code && Code != CRSAN_NOTHING_CHECKED ? Code
                                                   : CRSAN_KERNEL_FAILED);
}

/// The exit code that the watcher's report asks for.
static std::atomic<int> EarlyExitCode{0};

static void startWatcher() {
  const Flags &Options = TheRun->options();
  Watcher::Tasks Tasks;
  Tasks.Poll = [] {
    Run *R = theRun();
    if (!R)
      return;
    R->reportNew();
    if (R->options().halt_on_error)
      haltIfRacy();
    endIfHung(*R);
  };
  Tasks.Dying = [] {
    if (Run *R = theRun())
      R->report();
  };
  Tasks.Ending = [] {
    if (Run *R = theRun())
      EarlyExitCode = reportLast(*R);
  };
  const bool Polls = Options.halt_on_error || Options.print_live ||
                     Options.timeout || isSaved(Options);
  Watcher::start(Polls ? Options.poll_ms : 0, std::move(Tasks));
}

void joinTheEndOfChild() { startWatcher(); }

void joinTheEnd() {
  startWatcher();
  installSignalHandlers();
  reportAtExit();
}

int endRunEarly() {
  Run *R = theRun();
  if (!R)
    return 0;
  if (!Watcher::canEnd())
    return reportLast(*R);
  constexpr unsigned MoreMs = 10000;
  if (Watcher::reportEnding(R->options().exit_timeout_ms + MoreMs))
    return EarlyExitCode;
  // The thread may hold the lock of the allocator.
  constexpr std::string_view Line = "CRSan: the program ended by _exit in the "
                                    "middle of a CUDA call: what was "
                                    "found cannot be reported\n";
  // A failure cannot be reported either.
  [[maybe_unused]] ssize_t Written =
      write(STDERR_FILENO, Line.data(), Line.size());
  return 0;
}

bool reportReplacement(const char *Program) {
  Run *R = theRun();
  if (!R)
    return false;
  R->takeStock();
  if (R->report())
    theLog().say("the program is about to be replaced by '{}': the races above "
                 "are those found until now, and the exit status will be that "
                 "of '{}'",
                 Program, Program);
  return true;
}

void continueRun(const char *Program) {
  Run *R = theRun();
  if (!R)
    return;
  if (R->report())
    theLog().say(
        "'{}' could not be run: this program goes on, and reports once "
        "more when it ends",
        Program);
  R->goOn();
}

int endRun() {
  Run *R = theRun();
  if (!R)
    return 0;
  // Once more: destructors and exit handlers may have run kernels since.
  const int Code = reportLast(*R);
  if (Code)
    flushEverything();
  return Code;
}

} // namespace crsan
