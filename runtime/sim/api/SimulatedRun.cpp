// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run on the simulated GPU found.

#include "SimulatedRun.h"

#include "HostCode.h"
#include "Report/Demangle.h"
#include "common/CommandLine.h"
#include "common/Flags.h"
#include "common/Log.h"
#include "common/Watcher.h"
#include "crsan/abi/BlockOrder.h"
#include "host/Endings.h"
#include "session/Ending.h"
#include "session/HostNote.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <unistd.h>

namespace crsan::api {

//===----------------------------------------------------------------------===//
// The line that replays the run
//===----------------------------------------------------------------------===//

/// Options that change what is said or when, not what happens.
static bool isAboutReporting(std::string_view Name) {
  static constexpr std::string_view Names[] = {
      "help",      "halt_on_error",     "exitcode",    "require_checked",
      "log_path",  "print_live",        "print_again", "format",
      "verbosity", "strip_path_prefix", "coverage",    "source",
      "color",     "exit_timeout_ms",   "poll_ms"};
  return std::find(std::begin(Names), std::end(Names), Name) != std::end(Names);
}

static std::string optionsText(const Flags &F) {
  const Flags Default;
  std::string Text = fmt::format("seed={}:schedule={}", F.seed, F.schedule);
  auto Add = [&](std::string_view Name, bool IsDefault, const auto &Value) {
    if (!IsDefault && !isAboutReporting(Name) && Name != "seed" &&
        Name != "schedule")
      Text += fmt::format(":{}={}", optionName(Name), Value);
  };
#define CRSAN_BOOL(Name, Default_, Description)                                \
  Add(#Name, F.Name == Default.Name, int(F.Name));
#define CRSAN_UINT(Name, Default_, Least, Greatest, Description)               \
  Add(#Name, F.Name == Default.Name, F.Name);
#define CRSAN_STRING(Name, Default_, Description)                              \
  Add(#Name, F.Name == Default.Name, F.Name);
#define CRSAN_CHOICE(Name, Default_, Choices, Description)                     \
  Add(#Name, F.Name == Default.Name, F.Name);
#include "common/Flags.inc"
#undef CRSAN_BOOL
#undef CRSAN_UINT
#undef CRSAN_STRING
#undef CRSAN_CHOICE
  return Text;
}

std::string replayLine(const Flags &Options) {
  return fmt::format("CRSAN_OPTIONS={} crsan run --device=sim {}",
                     optionsText(Options), commandLine());
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

SimulatedRun::SimulatedRun(Process &P, const Flags &Options)
    : P(P), Options(Options), Replay(replayLine(Options)) {
  if (!Options.enabled || Options.detector == "none")
    return;
  hostChecks().begin(new SimulatedPace(P, Options.seed),
                     /*Samples=*/Options.budget != 0,
                     /*Looks=*/Options.detector != "oracle");
  if (Options.detector != "oracle") {
    Collider =
        std::make_unique<Session>(Options, /*IsInstrumentedProgram=*/true);
    Collider->setSimulated(Replay, [&P] { P.runOn(); });
  }
  if (Options.detector != "oracle" && Options.detector != "both")
    return;
  Oracle = makeOracle(P, Options, Replay);
  if (Options.sim_threads > 1)
    theLog().say(
        "sim_threads={} means nothing with detector={}, which needs one "
        "order of everything",
        Options.sim_threads, Options.detector);
}

bool SimulatedRun::takeStock() {
  {
    std::lock_guard Lock(P);
    IsTakingStock = true;
    P.drain();
    IsTakingStock = false;
  }
  return Collider ? Collider->takeStock() : true;
}

bool SimulatedRun::print() {
  bool HasRaces = Collider && Collider->print();
  if (Oracle) {
    bool Locked = P.tryLock(std::chrono::seconds(1));
    HasRaces |= Oracle->print();
    if (Locked)
      P.unlock();
  }
  return HasRaces || Faults != 0;
}

std::optional<ReportFile> SimulatedRun::recorded() {
  std::optional<ReportFile> File;
  if (Collider)
    File = Collider->recorded();
  const bool Locked = P.tryLock(std::chrono::seconds(1));
  if (Oracle && File) {
    File->add(Oracle->recorded());
    File->becomeOneRun(RunInfo(File->Runs.front()));
  } else if (Oracle) {
    File = Oracle->recorded();
  }
  if (File)
    File->Summary.Notes.insert(File->Summary.Notes.end(), FaultLines.begin(),
                               FaultLines.end());
  if (Locked)
    P.unlock();
  return File;
}

bool SimulatedRun::hasChecked() const {
  const bool IsWanted = Collider || Oracle;
  return !IsWanted || (Collider && Collider->hasChecked()) ||
         (Oracle && Oracle->hasChecked());
}

void SimulatedRun::reopen() {
  if (Collider)
    Collider->reopen();
  if (Oracle)
    Oracle->reopen();
}

bool SimulatedRun::sawRace() {
  return Faults != 0 || OracleSaw || (Collider && Collider->sawRace());
}

void SimulatedRun::noteProgress() {
  if (Oracle && !OracleSaw)
    OracleSaw = Oracle->sawRace();
  // On hardware a thread of its own looks; here the kernels run on this one,
  // and the program must not get to see what they did.
  reportNew();
  if (Options.halt_on_error && !IsTakingStock)
    haltIfRacy();
}

std::optional<size_t> SimulatedRun::countRecorded() {
  std::optional<size_t> Count = Collider ? Collider->countRecorded() : 0;
  if (!Oracle || !Count)
    return Count;
  if (!P.tryLock(std::chrono::milliseconds(0)))
    return std::nullopt;
  *Count += Oracle->countRaces();
  P.unlock();
  return Count;
}

std::string SimulatedRun::lastKernels() {
  return Collider ? Collider->lastKernels() : std::string();
}

/// The program's own, not what the simulated GPU lacks.
static bool isMistake(Fault::Kind What) {
  switch (What) {
  case Fault::Kind::InvalidAddress:
  case Fault::Kind::Misaligned:
  case Fault::Kind::BarrierDivergence:
  case Fault::Kind::Deadlock:
  case Fault::Kind::UninitialisedShared:
  case Fault::Kind::StepLimit:
  case Fault::Kind::Trap:
  case Fault::Kind::Assert:
    return true;
  case Fault::Kind::UnknownInstruction:
  case Fault::Kind::Unsupported:
    return false;
  }
  return true;
}

static std::string place(const SourceLine &L, std::string_view Prefix) {
  std::string_view File = L.File;
  if (File.starts_with(Prefix))
    File.remove_prefix(Prefix.size());
  std::string Text =
      L.Function.empty() ? "an unknown function" : demangle(L.Function);
  if (File.empty())
    return Text + " at an unknown line (compile with -gline-tables-only or -g; "
                  "with nvcc: -lineinfo)";
  Text += fmt::format(" at {}:{}", File, L.Line);
  return L.Column ? Text + fmt::format(":{}", L.Column) : Text;
}

void SimulatedRun::launched(const Launch &L) {
  auto [Known, IsNew] =
      Shapes.try_emplace(L.Kernel->Name, Shape{L.Grid, L.Cluster});
  if (!IsNew &&
      !(Known->second.Grid == L.Grid && Known->second.Cluster == L.Cluster))
    Known->second = {L.Grid, L.Cluster, false};
}

void SimulatedRun::launchFailed(const char *Kernel, const std::string &Error) {
  if (Collider)
    return Collider->launchFailed(Kernel ? Kernel : "a kernel", Error);
  if (Oracle)
    theLog().say("launch of {} failed: {}; it was not checked",
                 Kernel ? demangle(Kernel) : "a kernel", Error);
}

/// The block's index as the program saw it: the collider permutes indices.
Dim3 SimulatedRun::blockOf(const Fault &F, bool &IsExact) const {
  IsExact = !Collider || !Collider->isShuffled(F.Kernel);
  auto Found = Shapes.find(F.Kernel);
  if (IsExact || Found == Shapes.end() || !Found->second.IsOne)
    return F.Block;
  IsExact = true;
  const Dim3 &G = Found->second.Grid, &C = Found->second.Cluster;
  const uint32_t Seed = Options.seed;
  return {abi::permuteBlock(Seed, 0, F.Block.X, G.X, C.X),
          abi::permuteBlock(Seed, 1, F.Block.Y, G.Y, C.Y),
          abi::permuteBlock(Seed, 2, F.Block.Z, G.Z, C.Z)};
}

void SimulatedRun::faultFound(const Device &D, const Fault &F) {
  Faults += isMistake(F.What);
  std::string Text = "==================\n";
  std::string_view What = F.Message, Kind = name(F.What);
  const std::string Line =
      What.starts_with(Kind) ? fmt::format("simulated GPU: {}", What)
                             : fmt::format("simulated GPU: {}: {}", Kind, What);
  FaultLines.push_back(Line);
  Text += fmt::format("CRSan: {}\n", Line);
  for (size_t I = 0; I < F.Where.size(); ++I)
    Text += fmt::format("    #{} {}{}\n", I, I ? "inlined in " : "",
                        place(F.Where[I], Options.strip_path_prefix));
  if (!F.Kernel.empty()) {
    Text += fmt::format("  kernel: {}\n", demangle(F.Kernel));
    bool IsExact = true;
    Dim3 Block = blockOf(F, IsExact);
    Text += fmt::format(
        "  where: {}block ({},{},{}){} thread ({},{},{})\n",
        P.deviceCount() > 1 ? fmt::format("device {} ", D.Ordinal) : "",
        Block.X, Block.Y, Block.Z,
        IsExact ? "" : " (before shuffling; run with shuffle=0)", F.Thread.X,
        F.Thread.Y, F.Thread.Z);
  }
  Text += fmt::format("  replay: {}\n==================\n", Replay);
  theLog().text(Text);
}

//===----------------------------------------------------------------------===//
// The library's start and end
//===----------------------------------------------------------------------===//

static pid_t Starter;

/// The exit code that the program shall have, 0 to leave it as it is: what
/// `End` of its run says, if it has one.
static int exitCode(int (*End)()) {
  if (theRun()) {
    crsanNoteRun();
    return End();
  }
  // What a forked child found, it has said itself.
  const Flags &Options = readOptions();
  if (getpid() != Starter || crsanChildHasRun() || !Options.enabled ||
      Options.detector == "none")
    return 0;
  static std::atomic<bool> WasSaid{false};
  if (!WasSaid.exchange(true))
    theLog().say("nothing was checked: the program did not use CUDA");
  return Options.require_checked ? CRSAN_NOTHING_CHECKED : 0;
}

/// Registered before anything of the program, so that it runs last.
static void finish() {
  if (int Code = exitCode(endRun)) {
    flushEverything();
    crsanLeave(Code);
  }
}

/// Likewise; what streams hold is lost, as quick_exit wants it.
static void finishQuickly() {
  if (int Code = exitCode(endRunEarly))
    crsanLeave(Code);
}

__attribute__((constructor)) static void start() {
  Starter = getpid();
  // Wrong options end the program here, before it has done anything.
  readOptions();
  std::atexit(finish);
  std::at_quick_exit(finishQuickly);
}

} // namespace crsan::api

//===----------------------------------------------------------------------===//
// Ends without handlers (runtime/host/Endings.c)
//===----------------------------------------------------------------------===//

int crsanEnding(int Code) {
  const int Wanted = crsan::api::exitCode(crsan::endRunEarly);
  return Wanted ? Wanted : Code;
}

int crsanReplacing(const char *Program) {
  return crsan::reportReplacement(Program);
}

void crsanMainThreadEnds() { crsan::Watcher::mainThreadEnds(); }

void crsanNotReplaced(const char *Program) { crsan::continueRun(Program); }

/// By this the host part of an instrumented program knows that there is nothing
/// for it to do (runtime/host).
CRSAN_API void crsan_simulated_gpu() {}

/// For crsan/crsan.h.
CRSAN_API unsigned crsan_findings_so_far() {
  return unsigned(crsan::countFindings());
}
CRSAN_API void crsan_report_callback(crsan::ReportCallback *Callback) {
  crsan::setReportCallback(Callback);
}
