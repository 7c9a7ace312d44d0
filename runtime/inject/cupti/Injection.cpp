// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the driver and the program come in.
//
// The driver calls InitializeInjection during cuInit, because
// CUDA_INJECTION64_PATH names this library. The host part of an instrumented
// program calls crsan_check_options before main if there are options,
// crsan_host_code_loaded if its host code is instrumented, crsan_launching
// before its launches if a debugger is there, which keeps the driver from
// loading this library, crsan_launch_refused, and crsan_exit_code after
// everything else; the other entries where the program ends by a shorter way.

#include "common/CallSites.h"
#include "common/Driver.h"
#include "common/Flags.h"
#include "common/Log.h"
#include "common/Watcher.h"
#include "cupti/Callbacks.h"
#include "cupti/Cupti.h"
#include "host/Endings.h"
#include "host/HostChecks.h"
#include "session/DebuggedRun.h"
#include "session/Ending.h"
#include "session/HostNote.h"
#include "session/Session.h"

#include <atomic>
#include <utility>

#include <unistd.h>

#define CRSAN_EXPORT extern "C" __attribute__((visibility("default")))

namespace crsan {

/// InitializeInjection was called.
static bool WasInjected = false;
/// The process in which it found instrumented code, whatever came of it.
static pid_t InjectedProcess = 0;
/// The session that the host parts tell of launches that the run-time library
/// refuses; null: CUPTI tells of them.
static std::atomic<Session *> ToldOfRefusals = nullptr;
/// In place of a session, under a debugger.
static DebuggedRun *TheDebuggedRun = nullptr;

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

/// Ends the program's run, if it has one, by `End`. Returns the exit code, as
/// crsan_exit_code() does.
static int endBy(int (*End)()) {
  if (TheDebuggedRun)
    return 0;
  if (InjectedProcess == 0)
    return -1;
  if (theRun())
    return End();
  // What kept the run from being has been said.
  const Flags &Options = readOptions();
  return InjectedProcess == getpid() && Options.enabled &&
                 Options.require_checked
             ? CRSAN_NOTHING_CHECKED
             : 0;
}

static void inject() {
  // A program without instrumented code has only inherited the environment. It
  // may use CUPTI itself, which has one subscriber.
  const HostParts Parts = findHostParts();
  if (!Parts.Exist && !isRunByTool())
    return;
  InjectedProcess = getpid();
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
  auto *S = new Session(Options, /*IsInstrumentedProgram=*/Parts.Exist);
  S->OnFirstInstrumented = joinTheEnd;
  setRun(S);
  CUptiResult Result = subscribe(*Api, *S, Parts.AllTellRefusals);
  if (Result != CUPTI_SUCCESS) {
    setRun(nullptr);
    theLog().say("races are not reported: {} ({}, {})", cuptiRemedy(Result),
                 Api->resultText(Result), Api->Path);
    return;
  }
  if (Parts.AllTellRefusals)
    ToldOfRefusals = S;
  hostChecks().begin(new HostSleep(uint64_t(Options.host_wait_us) * 1000),
                     /*Samples=*/Options.budget != 0, /*Looks=*/true);
  callSites(); // Makes them, before the first launch.
  uint32_t Version = 0;
  if (Api->GetVersion)
    Api->GetVersion(&Version);
  theLog().detail(2, "subscribed to {}, version {}", Api->Path, Version);
  if (Parts.Exist)
    reportAtExit();
  else
    reportLastAtExit();
}

} // namespace crsan

using namespace crsan;

/// CUPTI's contract with injection libraries; 1 is success.
CRSAN_EXPORT int InitializeInjection() {
  if (!std::exchange(WasInjected, true))
    inject();
  return 1;
}

CRSAN_EXPORT void crsan_check_options() { readOptions(); }

/// The host part has code that is instrumented (abi/Host.h), and is about to be
/// unloaded.
CRSAN_EXPORT void crsan_host_code_loaded(abi::HostGate *Gate,
                                         const abi::HostUnit *Begin,
                                         const abi::HostUnit *End) {
  hostChecks().loaded(*Gate, {Begin, End});
}
CRSAN_EXPORT void crsan_host_code_unloading(abi::HostGate *Gate) {
  hostChecks().unloading(*Gate);
}

/// For crsan/crsan.h.
CRSAN_EXPORT unsigned crsan_findings_so_far() {
  return unsigned(countFindings());
}
CRSAN_EXPORT void crsan_report_callback(ReportCallback *Callback) {
  setReportCallback(Callback);
}

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
  if (theRun())
    return 0;
  if (Result == 0)
    debuggedRun(Options).launching(static_cast<CUfunction>(Function));
  return 1;
}

/// A launch has failed with this error of CUDA's run-time library. `Kernel`:
/// its mangled name, or null.
CRSAN_EXPORT void crsan_launch_refused(const char *Kernel, int Error) {
  if (Session *S = ToldOfRefusals)
    launchRefused(*S, Kernel, Error);
}

/// Whether nothing has been launched so far, so that no kernel can be running
/// that waits for what the program does next.
CRSAN_EXPORT int crsan_may_load_kernels() {
  const Run *R = theRun();
  return R && !R->hasLaunched();
}

/// The last thing that happens: the exit code that the program shall have, 0 to
/// leave it as it is, or -1 if CUDA never called in this process.
CRSAN_EXPORT int crsan_exit_code() { return endBy(endRun); }

/// The exit code where the program ends without exit handlers.
CRSAN_EXPORT int crsan_early_exit_code() { return endBy(endRunEarly); }

/// The program is about to be replaced by another. Returns whether
/// crsan_not_replaced is to be called if that fails.
CRSAN_EXPORT int crsan_replacing(const char *Program) {
  return reportReplacement(Program);
}

CRSAN_EXPORT void crsan_main_thread_ends() { Watcher::mainThreadEnds(); }

CRSAN_EXPORT void crsan_not_replaced(const char *Program) {
  continueRun(Program);
}
