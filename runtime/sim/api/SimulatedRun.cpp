// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run on the simulated GPU found.

#include "SimulatedRun.h"

#include "Grafts.h"
#include "HostCode.h"
#include "Report/Demangle.h"
#include "Report/ReportFile.h"
#include "Report/TextReport.h"
#include "Report/Words.h"
#include "common/CallSites.h"
#include "common/CommandLine.h"
#include "common/Flags.h"
#include "common/Log.h"
#include "common/Watcher.h"
#include "crsan/abi/BlockOrder.h"
#include "host/Endings.h"
#include "session/Ending.h"
#include "session/HostNote.h"
#include "session/KernelFaults.h"
#include "session/LiveFindings.h"
#include "session/RunFile.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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
  Flags Default;
  Default.parse(SimulatedDefaults);
  std::string Text = fmt::format("seed={}:schedule={}", F.seed, F.schedule);
  auto Add = [&](std::string_view Name, bool IsDefault, const auto &Value) {
    // What `effort` sets is written one by one.
    if (!IsDefault && !isAboutReporting(Name) && Name != "seed" &&
        Name != "schedule" && Name != "effort")
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
  return HasRaces;
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
  if (Locked)
    P.unlock();
  // Without a detector, faults are all that there is to know.
  if (!File && kernelFaults().count()) {
    File.emplace().Runs = {runInfo()};
    File->Summary.IsSimulated = true;
  }
  // A session has added them.
  if (File && !Collider)
    kernelFaults().addTo(*File);
  if (File)
    File->Summary.Notes.insert(File->Summary.Notes.end(), Lacks.begin(),
                               Lacks.end());
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
  return kernelFaults().count() || OracleSaw ||
         (Collider && Collider->sawRace());
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

std::vector<std::string> SimulatedRun::lastKernels() {
  return Collider ? Collider->lastKernels() : std::vector<std::string>();
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

void SimulatedRun::launched(const Launch &L) {
  auto [Known, IsNew] =
      Shapes.try_emplace(L.Kernel->Name, Shape{L.Grid, L.Cluster, L.Block});
  if (!IsNew &&
      !(Known->second.Grid == L.Grid && Known->second.Cluster == L.Cluster &&
        Known->second.Block == L.Block))
    Known->second = {L.Grid, L.Cluster, L.Block, false};
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
  IsExact = !Collider || !Collider->isShuffled(F.Kernel) ||
            !abi::isGridPermuted(uint32_t(Options.seed), F.Grid);
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

static Index3 indexOf(const Dim3 &I) { return {I.X, I.Y, I.Z}; }

/// "Write to 4 bytes at 0x10.", of a line without the end.
static std::string sentence(std::string Line) {
  if (!Line.empty())
    Line.front() = char(std::toupper((unsigned char)Line.front()));
  return Line + ".";
}

RunInfo SimulatedRun::runInfo() const {
  return {.Seed = uint32_t(Options.seed),
          .Program = commandLine(),
          .Replay = Replay,
          .Failure = {}};
}

Occurrence SimulatedRun::occurrenceOf(const Device &D, const Fault &F) const {
  Occurrence O;
  O.Device = D.Ordinal;
  O.Fault = name(F.What);
  O.Explanation = sentence(F.Message);
  O.Rec.Address = F.Address;
  if (F.Kernel.empty())
    return O;
  bool IsExact = true;
  const Dim3 Block = blockOf(F, IsExact), &T = F.Thread;
  if (!IsExact)
    O.Explanation += " The index of the block is the one before shuffling; run "
                     "with shuffle=0 for the program's.";
  std::ranges::copy(indexOf(Block), O.Rec.Block);
  O.Rec.Thread = T.X | T.Y << 10 | T.Z << 20;
  O.Rec.Lanes = 1;
  if (const auto Found = Shapes.find(F.Kernel);
      Found != Shapes.end() && Found->second.IsOne) {
    const Dim3 &Extent = Found->second.Block;
    O.Grid = indexOf(Found->second.Grid);
    O.BlockShape = indexOf(Extent);
    O.Rec.Lanes = 1u << ((T.Z * Extent.Y + T.Y) * Extent.X + T.X) % 32;
  }
  return O;
}

void SimulatedRun::faultFound(const Device &D, const Fault &F) {
  SiteInfo Site;
  Site.Kernel = F.Kernel.empty() ? "" : demangle(F.Kernel);
  for (const SourceLine &L : F.Where)
    Site.Frames.push_back({demangle(L.Function), L.File, L.Line, L.Column});
  if (!isMistake(F.What)) {
    Lacks.push_back(fmt::format(
        "simulated GPU: {}: {}{}{}", name(F.What), F.Message,
        Site.Frames.empty()
            ? ""
            : " at " + position(Site.Frames.front(), Options.strip_path_prefix),
        Site.Kernel.empty() ? "" : " in " + Site.Kernel));
    return theLog().say("{}; replay: {}", Lacks.back(), Replay);
  }
  // The program may never come to its report, and another thread may write the
  // fault to a file as soon as it is known.
  callSites().lookUp();
  kernelFaults().add(
      occurrenceOf(D, F), std::move(Site),
      [this, Kernel = F.Kernel] { return P.launchedAt(Kernel); });
  ReportFile Now;
  kernelFaults().addTo(Now);
  Now.Runs = {runInfo()};
  printFindings(liveFindings().takeNew(buildReport(Now), textOptions(Options)));
}

//===----------------------------------------------------------------------===//
// The library's start and end
//===----------------------------------------------------------------------===//

static pid_t Starter;

/// The exit code that the program shall have, 0 to leave it as it is: what
/// `End` of its run says, if it has one.
static int exitCode(int (*End)()) {
  if (theRun() && (Process::get().user() || !crsanChildHasRun())) {
    if (Process::get().user())
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
  graftEndings();
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
