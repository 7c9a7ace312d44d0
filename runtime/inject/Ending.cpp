//===- Ending.cpp - A run and the end of its program ----------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ending.h"

#include "Flags.h"
#include "Log.h"
#include "Report/Suppressions.h"
#include "Signals.h"
#include "Watcher.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>
#include <mutex>

#include <unistd.h>

namespace crsan {

/// Findings that the options ask not to report. Never destroyed, either.
static const Suppressions *TheSuppressions = nullptr;

[[noreturn]] static void refuseOptions(const std::string &Why) {
  theLog().say("CRSAN_OPTIONS: {}", Why);
  _exit(1);
}

static Suppressions readSuppressions(const std::string &Path) {
  if (Path.empty())
    return {};
  auto List = Suppressions::read(Path);
  if (auto *Error = std::get_if<SuppressionsError>(&List))
    refuseOptions("suppressions: " + Error->Message);
  return std::get<Suppressions>(std::move(List));
}

const Flags &readOptions() {
  static const Flags *Options = [] {
    auto *F = new Flags;
    // -fno-sanitize-recover=cuda-race, by way of a symbol of the program's.
    F->halt_on_error = dlsym(RTLD_DEFAULT, "__crsan_halt_on_error") != nullptr;
    const char *Text = std::getenv("CRSAN_OPTIONS");
    auto Error = F->parse(Text ? Text : "");
    if (Error)
      refuseOptions(*Error);
    TheSuppressions = new Suppressions(readSuppressions(F->suppressions));
    theLog().setPath(F->log_path);
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

Run::~Run() = default;

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

static int exitCodeOf(const Run &R, bool HasRaces) {
  return HasRaces ? int(R.options().exitcode) : 0;
}

static void atExit() {
  // A kernel that hangs may keep the rest of the exit from happening.
  if (Run *R = theRun(); R && !R->takeStock())
    R->report();
}

void reportAtExit() { std::atexit(atExit); }

static void atQuickExit() {
  Run *R = theRun();
  if (!R)
    return;
  R->takeStock();
  if (int Code = exitCodeOf(*R, R->report())) {
    flushEverything();
    _exit(Code);
  }
}

void haltIfRacy() {
  Run *R = theRun();
  if (!R || !R->sawRace())
    return;
  // Never unlocked: of several threads that see the race one reports it.
  static std::mutex Halting;
  Halting.lock();
  // Other threads run: flushing could wait for their locks forever.
  int Code = exitCodeOf(*R, R->report());
  _exit(Code ? Code : 1);
}

void joinTheEnd() {
  const Flags &Options = TheRun->options();
  Watcher::start(Options.halt_on_error ? Options.poll_ms : 0, haltIfRacy, [] {
    if (Run *R = theRun())
      R->report();
  });
  installSignalHandlers();
  reportAtExit();
  std::at_quick_exit(atQuickExit);
}

int endRun() {
  Run *R = theRun();
  if (!R)
    return 0;
  // Once more: destructors and exit handlers may have run kernels since.
  R->takeStock();
  int Code = exitCodeOf(*R, R->report());
  if (Code)
    flushEverything();
  return Code;
}

} // namespace crsan
