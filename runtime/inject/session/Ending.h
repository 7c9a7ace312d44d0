// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run and the end of its program.
//
// An exit handler reads the results back while CUDA still works. The report is
// printed as late as possible, because destructors of the program may run
// kernels. Other ends of the program (_exit, quick_exit, exec, a signal, a
// kernel that hangs) print the report earlier.
#ifndef CRSAN_INJECT_SESSION_ENDING_H
#define CRSAN_INJECT_SESSION_ENDING_H

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace crsan {

struct Flags;
struct ReportFile;
class RunFilter;
class Suppressions;

/// What the end of a program needs of a run. On hardware, a Session is the run.
class Run {
public:
  virtual ~Run();

  virtual const Flags &options() const = 0;
  /// Waits for kernels and reads what they found. False: some kernels still run
  /// when the time is over.
  virtual bool takeStock() = 0;
  /// Prints the report, unless it was printed before. Does not wait for
  /// kernels. Returns whether there are races.
  virtual bool print() = 0;
  /// What is recorded so far and not suppressed; nothing if the program has no
  /// instrumented code.
  virtual std::optional<ReportFile> recorded() = 0;
  /// print(), and saves what is recorded in the file that the options ask for.
  bool report();
  /// After report(): whether anything was checked, or checks were not wanted.
  virtual bool hasChecked() const = 0;
  /// Lets report() print again: the program goes on.
  virtual void reopen() = 0;
  /// For halt_on_error: whether there is any finding so far.
  virtual bool sawRace() = 0;
  /// "a()", "b()": the kernels that were launched last; empty: not known.
  virtual std::vector<std::string> lastKernels() { return {}; }
  /// How many races are recorded so far, suppressed ones too; nothing if that
  /// cannot be told right now.
  virtual std::optional<size_t> countRecorded() = 0;

  /// Whether the program uses CUDA, as far as that can be told.
  virtual bool hasBegun() const { return true; }
  /// A kernel or a graph has been launched, or is about to be.
  virtual bool hasLaunched() const { return true; }

  /// While the program runs: prints new findings (print_live) and saves what is
  /// recorded.
  void reportNew();
  /// After report(): the program does not end after all.
  void goOn() {
    HasEnded = false;
    reopen();
  }

private:
  static constexpr size_t None = ~size_t(0);
  /// What was shown last: as countRecorded(), and faults. None: nothing yet.
  std::atomic<size_t> Reported{None};
  /// Held while findings are printed and saved.
  std::timed_mutex Showing;
  /// The report of the end is made; what a file has is complete.
  std::atomic<bool> HasEnded{false};
  /// When reportNew() may take its time again.
  std::atomic<std::chrono::steady_clock::time_point> NextReport{};
};

/// The options, read from CRSAN_OPTIONS once; ends the program if they are
/// wrong.
const Flags &readOptions();
/// What the options ask not to report.
const Suppressions &suppressions();
/// What the options ask about.
const RunFilter &runFilter();

/// The process's run from now on. Never destroyed: it is needed after the
/// destructors have run.
void setRun(Run *R);

/// Null in a forked child, which has a copy of the run, but neither CUDA nor
/// findings.
Run *theRun();

/// Prints findings, with or without a summary, and hands them to the program if
/// it wants them.
void printFindings(const std::string &Text);
/// crsan_set_report_callback (crsan/crsan.h).
using ReportCallback = void(const char *Text);
void setReportCallback(ReportCallback *Callback);
/// crsan_race_count (crsan/crsan.h).
size_t countFindings();

/// Ends the program with a report if there are findings (halt_on_error).
void haltIfRacy();

/// Registers the exit handler. The host part asks for the report.
void reportAtExit();
/// Likewise, of a program without a host part: the handler makes the report.
/// The exit code stays, since `crsan run` has its own.
void reportLastAtExit();

/// Takes part in other ends of the program too: signals, halt_on_error. Not
/// before instrumented code is there: in a program that only inherited the
/// environment, nothing is touched.
void joinTheEnd();
/// The same of a child that was forked after joinTheEnd(), and has inherited
/// all but a thread.
void joinTheEndOfChild();

/// The last thing that happens: reports, and returns the exit code that the
/// program shall have, or 0 to leave it as it is.
int endRun();

/// The program ends without exit handlers (_exit, quick_exit): reports, and
/// returns as endRun does. May be called in a signal handler. In a child that
/// has no run, nothing happens.
int endRunEarly();

/// The program is about to be replaced by another (exec): reports, unless there
/// is no run. Returns whether continueRun is to be called if that fails.
bool reportReplacement(const char *Program);
void continueRun(const char *Program);

/// Writes what streams still hold, before _exit.
void flushEverything();

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_ENDING_H
