//===- Ending.h - A run and the end of its program --------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An exit handler takes stock while CUDA still works; the report is printed as
// late as possible, because destructors of the program may run kernels.
// Whatever else ends the program (_exit, quick_exit, exec, a signal, a kernel
// that hangs) prints earlier.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_SESSION_ENDING_H
#define CRSAN_INJECT_SESSION_ENDING_H

namespace crsan {

struct Flags;
class Suppressions;

/// What the end of a program asks of the run: of a Session, on hardware.
class Run {
public:
  virtual ~Run();

  virtual const Flags &options() const = 0;
  /// Waits for kernels and reads what they found. False: some still run, and
  /// are not waited for any longer.
  virtual bool takeStock() = 0;
  /// Prints the report unless that has been done, without waiting for anything.
  /// Returns whether there are findings.
  virtual bool report() = 0;
  /// Whether the report, which has been printed, is about anything at all, or
  /// nobody wanted anything to be checked.
  virtual bool hasChecked() const = 0;
  /// Lets report() print once more: the program goes on.
  virtual void reopen() = 0;
  /// For halt_on_error: whether there is any finding so far.
  virtual bool sawRace() = 0;
};

/// The options, read from CRSAN_OPTIONS once; ends the program if they are
/// wrong.
const Flags &readOptions();
/// What the options ask not to report.
const Suppressions &suppressions();

/// The process's run from now on. Never destroyed: it is needed after the
/// destructors have run.
void setRun(Run *R);

/// Null in a forked child, which has a copy of the run, but neither CUDA nor
/// findings.
Run *theRun();

/// Ends the program with a report if there are findings (halt_on_error).
void haltIfRacy();

/// Registers the exit handler.
void reportAtExit();

/// Takes part in other ends of the program too: signals, halt_on_error. Not
/// before instrumented code is there: in a program that only inherited the
/// environment, nothing is touched.
void joinTheEnd();

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
