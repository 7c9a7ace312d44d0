// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run has found.

#include "session/Session.h"

#include "Report/Demangle.h"
#include "Report/ReportFile.h"
#include "Report/RunFilter.h"
#include "Report/Suppressions.h"
#include "Report/TextReport.h"
#include "Report/Words.h"
#include "common/Background.h"
#include "common/CallSites.h"
#include "common/CommandLine.h"
#include "common/Driver.h"
#include "common/Log.h"
#include "common/Signals.h"
#include "host/HostChecks.h"
#include "session/Collector.h"
#include "session/KernelFaults.h"
#include "session/LiveFindings.h"
#include "session/RunFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

namespace crsan {

using namespace std::chrono_literals;

//===----------------------------------------------------------------------===//
// Reading back
//===----------------------------------------------------------------------===//

namespace {
/// One context that is read in the background: while a kernel hangs, so does
/// every driver call that waits for it.
struct ReadBackJob {
  std::shared_ptr<Context> C;
  ReadBackPlan Plan;
  uint64_t Launches = 0;
  std::shared_ptr<Background<ReadBack>> Reading;

  explicit ReadBackJob(std::shared_ptr<Context> Read)
      : C(std::move(Read)), Plan(C->plan()), Launches(C->UnreadLaunches),
        Reading(Background<ReadBack>::start(
            [Plan = this->Plan] { return readBack(Plan); })) {}
};
} // namespace

bool Session::takeStock() {
  ContextList All;
  {
    std::lock_guard Lock(Data);
    All = Contexts;
  }
  return takeStock(All);
}

bool Session::takeStock(const ContextList &List) {
  std::lock_guard OneAtATime(Stocktaking);
  const bool AllDone = readBackAll(List);
  return AllDone && judgeHostAtEnd(List) ? readBackAll(List) : AllDone;
}

bool Session::readBackAll(const ContextList &List) {
  std::vector<ReadBackJob> Jobs;
  {
    std::lock_guard Lock(Data);
    for (const std::shared_ptr<Context> &C : List)
      if (!C->IsDead && C->isPrepared() && C->UnreadLaunches != 0 &&
          C->Failure == CUDA_SUCCESS && !C->IsStuck)
        Jobs.emplace_back(C);
  }
  auto Deadline = std::chrono::steady_clock::now() +
                  std::chrono::milliseconds(Options.exit_timeout_ms);
  bool AllDone = true;
  for (const auto &[C, Plan, Launched, Reading] : Jobs) {
    if (Reading->waitUntil(Deadline)) {
      finishReadBack(*C, Launched, Plan, Reading->take());
      continue;
    }
    AllDone = false;
    std::lock_guard DataLock(Data);
    C->IsStuck = true;
    theLog().say(
        "kernels on device {} still run after {} ms (exit_timeout_ms); "
        "what they do from now on is not checked, last launched: {}",
        C->Device, Options.exit_timeout_ms, C->lastKernels());
    for (const auto &[Kernel, Line] : Crowded)
      if (C->launchedLately(Kernel))
        theLog().say("{}", Line);
  }
  return AllDone;
}

bool Session::finishReadBack(Context &C, uint64_t Launches,
                             const ReadBackPlan &Plan, ReadBack Back) {
  theLog().detail(2, "read back device {}: {}, {}", C.Device,
                  theDriver().errorName(Back.Result),
                  Back.Complete ? "complete" : "incomplete");
  std::lock_guard Lock(Data);
  if (isSticky(Back.Result))
    kernelFailed(C, Back.Result);
  if (!Back.Complete)
    return false;
  C.accept(Plan, std::move(Back));
  C.UnreadLaunches -= Launches;
  return true;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

std::optional<size_t> Session::countRecorded() {
  // A thread may be dying with the lock, and wait for the watcher to report for
  // it: the watcher looks once more later.
  std::unique_lock Lock(Data, 100ms);
  if (!Lock.owns_lock())
    return std::nullopt;
  std::vector<const abi::RecordBuffer *> All;
  for (const std::shared_ptr<Context> &C : Contexts)
    if (C->records())
      All.push_back(C->records());
  Lock.unlock();
  size_t Count = hostChecks().countRecorded();
  for (const abi::RecordBuffer *Records : All)
    Count += countRecords(*Records);
  return Count;
}

std::vector<std::string> Session::lastKernels() {
  std::unique_lock Lock(Data, 100ms);
  std::vector<std::string> All;
  for (const std::shared_ptr<Context> &C : Contexts)
    if (Lock.owns_lock() && !C->IsDead && C->UnreadLaunches)
      for (const std::string &Kernel : C->lateKernels())
        All.push_back(demangle(Kernel));
  return All;
}

bool Session::sawRace() {
  if (countRecorded().value_or(0) == 0)
    return false;
  if (suppressions().isEmpty() && runFilter().isEmpty())
    return true;
  std::unique_lock Lock(Data, 100ms);
  return Lock.owns_lock() && buildReport(collect()).hasRaces();
}

/// Copies the sites that a reader of the file needs: those that the records
/// name, and those that may have read what an earlier thread told.
static void copySites(ReportFile &File, const SiteTable &All,
                      const OperationSites &Places) {
  const auto Copy = [&](uint64_t Id) {
    if (const SiteInfo *Site = All.find(Id))
      File.Sites.add(*Site);
    else if (std::optional<SiteInfo> Operation = Places.find(Id))
      File.Sites.add(std::move(*Operation));
    else if (std::optional<SiteInfo> OfHost = hostChecks().find(Id))
      File.Sites.add(std::move(*OfHost));
  };
  for (const Occurrence &O : File.Occurrences) {
    Copy(O.Rec.Site);
    Copy(O.Rec.Other);
    const SiteInfo *Site = All.find(O.Rec.Site);
    if (Site && (O.Rec.Flags & abi::TwoSided) &&
        (O.Rec.After & abi::LaterUnfenced))
      for (const SiteInfo *Told : All.strongReadsOf(Site->Kernel))
        File.Sites.add(*Told);
  }
}

/// Of a later access by an operation or by the host: the threads of the kernel
/// that checked it are nobody's.
static void forgetThread(Occurrence &O, const SiteTable &Sites) {
  const SiteInfo *Site = Sites.find(O.Rec.Site);
  if (!Site || (Site->Operation.empty() && !Site->IsHost))
    return;
  std::ranges::fill(O.Rec.Block, 0);
  O.Rec.Thread = O.Rec.Lanes = 0;
  O.Grid = O.BlockShape = {};
  if ((O.Rec.Flags & abi::TwoSided) && !Site->IsHost)
    O.Rec.Size = uint8_t(std::min(Site->Size, 255u));
}

Coverage Session::coverage() const {
  Coverage All, Omitted;
  for (const std::shared_ptr<Context> &C : Contexts)
    C->addTo(All, Code.sites());
  for (const OmissionInfo &O : Code.sites().omissions())
    if (!O.Frames.empty())
      Omitted.push_back({.Place = frameToName(O.Frames),
                         .Kernel = O.Kernel,
                         .NotChecked = describe(O.Why)});
  addCoverage(All, std::move(Omitted));
  return All;
}

/// Where a kernel (mangled) was launched, and where it writes, if these are few
/// places.
std::string Session::describeKernel(const std::string &Kernel) const {
  std::string Text;
  const std::string Name = demangle(Kernel);
  if (const auto Found = LaunchedAt.find(Kernel); Found != LaunchedAt.end())
    if (const std::string At = Found->second.text(Name); !At.empty())
      Text = "launched at " + At;
  std::set<std::string> Places;
  Code.sites().forEach([&](const SiteInfo &Site) {
    if (Site.Kernel == Name && Site.Access != abi::AccessKind::Load &&
        Site.Access != abi::AccessKind::Barrier &&
        Site.Space != abi::Space::Shared && !Site.Frames.empty())
      Places.insert(position(frameToName(Site.Frames), ""));
  });
  constexpr size_t Most = 3;
  if (!Places.empty() && Places.size() <= Most)
    Text += fmt::format("{}which writes at {}", Text.empty() ? "" : ", ",
                        fmt::join(Places, ", "));
  return Text;
}

/// Adds what checks of host code have found, and what they know of what kernels
/// have found. The caller holds the data lock.
void Session::collectOfHost(ReportFile &File) const {
  const size_t First = File.Occurrences.size();
  for (Occurrence &O : File.Occurrences)
    if ((O.Rec.Kind == abi::RaceKind::ClobberedRead ||
         O.Rec.Kind == abi::RaceKind::LostUpdate) &&
        O.Rec.MemorySpace == abi::Space::Global)
      O.HostWroteAt = hostChecks().whereWritten(O.Rec.Address, O.Rec.Size);
  hostChecks().collect(
      File, [&](const std::string &Kernel) { return describeKernel(Kernel); });
  for (size_t I = First; I < File.Occurrences.size(); ++I) {
    Occurrence &O = File.Occurrences[I];
    const PlaceInMemory Place = Memory.describe(nullptr, O.Rec.Address);
    O.Memory = Place.Words;
    O.AllocatedAt = callSites().text(Place.MadeAt);
  }
}

void Session::note(std::string Line) {
  std::lock_guard Lock(Data);
  if (std::ranges::find(Notes, Line) == Notes.end())
    Notes.push_back(std::move(Line));
}

/// What is recorded so far and not suppressed. The caller holds the data lock.
ReportFile Session::collect() const {
  ReportFile File;
  for (const std::shared_ptr<Context> &C : Contexts)
    C->collect(File.Occurrences, uint32_t(Options.seed), Memory, Code.sites());
  std::map<std::string, std::string> At;
  for (const auto &[Kernel, Sites] : LaunchedAt)
    if (!File.Occurrences.empty())
      At[demangle(Kernel)] = Sites.text(demangle(Kernel));
  for (Occurrence &O : File.Occurrences)
    if (const SiteInfo *Site = Code.sites().find(
            O.Rec.Kind == abi::RaceKind::HostAccess ? O.Rec.Other : O.Rec.Site))
      if (const auto Found = At.find(Site->Kernel); Found != At.end())
        O.LaunchedAt = Found->second;
  copySites(File, Code.sites(), Places);
  collectOfHost(File);
  for (Occurrence &O : File.Occurrences)
    forgetThread(O, File.Sites);
  File.Summary = summarise(Options, Code, Contexts, Launches, Operations);
  File.Summary.Host = hostChecks().summarise();
  for (const std::shared_ptr<Context> &C : Contexts)
    if (File.Summary.Host)
      File.Summary.Host->Judged += C->LastMetadata.HostNotes;
  File.Summary.DroppedRecords += hostChecks().countDropped();
  File.Summary.IsSimulated = IsSimulated;
  File.Summary.AddsChecks = addsChecks();
  std::ranges::copy(Notes, std::back_inserter(File.Summary.Notes));
  File.Runs = {{.Seed = uint32_t(Options.seed),
                .Program = commandLine(),
                .Replay = Replay,
                .Failure = {}}};
  if (Options.coverage)
    File.Checked = coverage();
  runFilter().apply(File);
  suppressions().apply(File);
  kernelFaults().addTo(File);
  return File;
}

std::optional<ReportFile> Session::recorded() {
  const BlockedSignals Blocked;
  std::unique_lock Lock(Data, 1s);
  if (!speaks())
    return std::nullopt;
  return collect();
}

bool Session::isShuffled(const std::string &Kernel) const {
  std::lock_guard Lock(Data);
  return Code.isShuffled(Kernel);
}

bool Session::print() {
  // A thread that dies of a signal may hold a lock. After a second the report
  // is made without the lock, from data that may be half changed.
  const BlockedSignals Blocked;
  std::unique_lock Once(Reporting, 5s);
  if (Once.owns_lock() && !HasReported) {
    HasReported = true;
    std::unique_lock Lock(Data, 1s);
    Report R = buildReport(collect());
    // The symbolizer may take a while, and needs nothing that is locked.
    if (Lock.owns_lock())
      Lock.unlock();
    if (!R.Findings.empty() && callSites().lookUp()) {
      std::ignore = Lock.try_lock_for(1s);
      R = buildReport(collect());
    }
    HasRaces = R.hasRaces();
    HasChecked = R.verdict() != Verdict::NothingChecked;
    // A program with metadata mode alone gets a summary even if it is clean.
    bool IsQuiet = R.verdict() == Verdict::Clean && !R.hasWarnings() &&
                   !R.hasOnlyMetadata() && R.Checked.empty() &&
                   Options.verbosity == 0;
    if (!R.Findings.empty() || (speaks() && !IsQuiet)) {
      printFindings(
          liveFindings().rest(R, textOptions(Options), Options.print_again));
    }
  }
  return HasRaces;
}

} // namespace crsan
