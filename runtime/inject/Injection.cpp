//===- Injection.cpp - Where the driver and the program come in -----------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four entries. The driver calls InitializeInjection during cuInit, because
// CUDA_INJECTION64_PATH names this library. The host part of an instrumented
// program calls crsan_check_options before main if there are options,
// crsan_launching before its launches if a debugger is there, which keeps the
// driver from loading this library, and crsan_exit_code after everything else.
//
// The program's end: an exit handler takes stock while CUDA still works; the
// report is printed as late as possible, from crsan_exit_code, because
// destructors of the program may run kernels. Whatever else ends the program
// (quick_exit, a signal, a kernel that hangs) prints earlier.
//
//===----------------------------------------------------------------------===//

#include "Callbacks.h"
#include "Cupti.h"
#include "DebuggedRun.h"
#include "Driver.h"
#include "Flags.h"
#include "HostNote.h"
#include "Log.h"
#include "Session.h"
#include "Signals.h"
#include "Watcher.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>

#include <unistd.h>

#define CRSAN_EXPORT extern "C" __attribute__((visibility("default")))

namespace crsan {

/// Never destroyed: needed after the destructors have run.
static Session *TheSession = nullptr;
static pid_t SessionOwner = 0;
/// In place of a session, under a debugger.
static DebuggedRun *TheDebuggedRun = nullptr;
/// InitializeInjection was called, whatever came of it.
static bool WasInjected = false;

/// The options, read once; ends the program if they are wrong.
static const Flags &readOptions() {
  static const Flags *Options = [] {
    auto *F = new Flags;
    // -fno-sanitize-recover=cuda-race, by way of a symbol of the program's.
    F->halt_on_error = dlsym(RTLD_DEFAULT, "__crsan_halt_on_error") != nullptr;
    const char *Text = std::getenv("CRSAN_OPTIONS");
    auto Error = F->parse(Text ? Text : "");
    if (Error) {
      theLog().say("CRSAN_OPTIONS: {}", *Error);
      _exit(1);
    }
    theLog().setPath(F->log_path);
    theLog().setVerbosity(F->verbosity);
    if (F->help)
      theLog().text(Flags::helpText());
    return F;
  }();
  return *Options;
}

/// A forked child has a copy of the session, but neither CUDA nor findings.
static Session *session() {
  return SessionOwner == getpid() ? TheSession : nullptr;
}

static void flushEverything() {
  std::cout.flush();
  std::wcout.flush();
  std::clog.flush();
  std::wclog.flush();
  std::fflush(nullptr);
}

static int exitCodeOf(const Session &S, bool HasRaces) {
  return HasRaces ? int(S.options().exitcode) : 0;
}

static void atExit() {
  // A kernel that hangs may keep the rest of the exit from happening.
  if (Session *S = session(); S && !S->takeStock())
    S->report();
}

static void atQuickExit() {
  Session *S = session();
  if (!S)
    return;
  S->takeStock();
  if (int Code = exitCodeOf(*S, S->report())) {
    flushEverything();
    _exit(Code);
  }
}

static void haltIfRacy() {
  Session *S = session();
  if (!S || !S->sawRace())
    return;
  // Other threads run: flushing could wait for their locks forever.
  int Code = exitCodeOf(*S, S->report());
  _exit(Code ? Code : 1);
}

/// Takes part in the program's end. Not before instrumented code is there: in a
/// program that only inherited the environment, nothing is touched.
static void joinTheEnd() {
  const Flags &Options = TheSession->options();
  Watcher::start(Options.halt_on_error ? Options.poll_ms : 0, haltIfRacy, [] {
    if (Session *S = session())
      S->report();
  });
  installSignalHandlers();
  std::atexit(atExit);
  std::at_quick_exit(atQuickExit);
}

static DebuggedRun &debuggedRun(const Flags &Options) {
  static DebuggedRun *Run = TheDebuggedRun = new DebuggedRun(Options);
  return *Run;
}

static const char *cuptiRemedy(CUptiResult Result) {
  switch (Result) {
  case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    return "a profiler or debugger uses CUPTI already; run without it to look "
           "for races";
  case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    return "ask the administrator for access to GPU performance counters";
  default:
    return "check that CUPTI and the driver belong together";
  }
}

static void inject() {
  WasInjected = true;
  // A program without instrumented code merely inherited the environment: its
  // own use of CUPTI must not find the place taken.
  if (!isInstrumentedProgram())
    return;
  const Flags &Options = readOptions();
  if (!Options.enabled)
    return;
  if (std::string Missing = theDriver().load(); !Missing.empty())
    return theLog().say("the CUDA driver lacks {}; races are not reported, "
                        "install a driver for CUDA 12 or newer",
                        Missing);
  static Cupti *Api = new Cupti;
  if (!Api->load())
    return theLog().say("libcupti.so.13 was not found; races are not reported. "
                        "Install CUPTI (it comes with the CUDA toolkit) or set "
                        "CUDA_HOME or LD_LIBRARY_PATH to where it is");
  auto *S = new Session(Options, /*IsInstrumentedProgram=*/true);
  S->OnFirstInstrumented = joinTheEnd;
  TheSession = S;
  SessionOwner = getpid();
  CUptiResult Result = subscribe(*Api, *S);
  if (Result != CUPTI_SUCCESS) {
    TheSession = nullptr;
    theLog().say("races are not reported: {} ({}, {})", cuptiRemedy(Result),
                 Api->resultText(Result), Api->Path);
    return;
  }
  uint32_t Version = 0;
  if (Api->GetVersion)
    Api->GetVersion(&Version);
  theLog().detail(2, "subscribed to {}, version {}", Api->Path, Version);
  std::atexit(atExit);
}

} // namespace crsan

using namespace crsan;

/// CUPTI's contract with injection libraries; 1 is success.
CRSAN_EXPORT int InitializeInjection() {
  if (!WasInjected)
    inject();
  return 1;
}

CRSAN_EXPORT void crsan_check_options() { readOptions(); }

/// A kernel is about to be launched by a program that is being debugged.
/// FunctionOf is cudaGetFuncBySymbol. Returns 0 if there is no need to tell of
/// other launches.
CRSAN_EXPORT int crsan_launching(const void *Kernel,
                                 int (*FunctionOf)(void **, const void *)) {
  const Flags &Options = readOptions();
  if (!Options.enabled || !Options.trap)
    return 0;
  // Initialises CUDA, if nothing has: now the driver has loaded this library,
  // or will not.
  void *Function = nullptr;
  int Result = FunctionOf(&Function, Kernel);
  if (TheSession)
    return 0;
  if (Result == 0)
    debuggedRun(Options).launching(static_cast<CUfunction>(Function));
  return 1;
}

/// The last thing that happens: the exit code that the program shall have, 0 to
/// leave it as it is, or -1 if CUDA never called in this process.
CRSAN_EXPORT int crsan_exit_code() {
  if (TheDebuggedRun)
    return 0;
  if (!WasInjected)
    return -1;
  Session *S = session();
  if (!S)
    return 0;
  // Once more: destructors and exit handlers may have run kernels since.
  S->takeStock();
  int Code = exitCodeOf(*S, S->report());
  if (Code)
    flushEverything();
  return Code;
}
