// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run has found.

#include "session/Session.h"

#include "Report/Suppressions.h"
#include "Report/TextReport.h"
#include "common/Background.h"
#include "common/Driver.h"
#include "common/Log.h"
#include "common/Signals.h"
#include "session/Collector.h"
#include "session/Recording.h"

#include <algorithm>
#include <chrono>

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

bool Session::sawRace() {
  // A thread may be dying with the lock, and wait for the watcher to report for
  // it: the watcher looks once more later.
  std::unique_lock Lock(Data, 100ms);
  if (!Lock.owns_lock())
    return false;
  std::vector<const abi::RecordBuffer *> All;
  for (const std::shared_ptr<Context> &C : Contexts)
    if (C->records())
      All.push_back(C->records());
  Lock.unlock();
  if (std::none_of(All.begin(), All.end(),
                   [](const auto *Records) { return hasRecords(*Records); }))
    return false;
  if (suppressions().isEmpty())
    return true;
  return Lock.try_lock_for(100ms) &&
         !findings(occurrences(), {}).Findings.empty();
}

/// What was found so far. The caller holds the data lock.
std::vector<Occurrence> Session::occurrences() const {
  std::vector<Occurrence> Found;
  for (const std::shared_ptr<Context> &C : Contexts)
    C->collect(Found, uint32_t(Options.seed), Memory, Code.sites());
  return Found;
}

/// The findings that these make and that are not suppressed. The caller holds
/// the data lock.
Report Session::findings(const std::vector<Occurrence> &Found,
                         RunSummary Summary) const {
  Report R = buildReport(Found, Code.sites(), std::move(Summary),
                         {{.Seed = uint32_t(Options.seed),
                           .Program = {},
                           .Replay = Replay,
                           .Failure = {}}});
  suppressions().apply(R);
  return R;
}

bool Session::isShuffled(const std::string &Kernel) const {
  std::lock_guard Lock(Data);
  return Code.isShuffled(Kernel);
}

void Session::reopen() {
  theRecording().clear();
  HasReported = false;
}

bool Session::report() {
  // A thread that dies of a signal may hold a lock. After a second the report
  // is made without the lock, from data that may be half changed.
  const BlockedSignals Blocked;
  std::unique_lock Once(Reporting, 5s);
  if (Once.owns_lock() && !HasReported) {
    HasReported = true;
    std::unique_lock Lock(Data, 1s);
    RunSummary Summary = summarise(Options, Code, Contexts, Launches);
    Summary.IsSimulated = IsSimulated;
    const std::vector<Occurrence> Found = occurrences();
    const Report R = findings(Found, std::move(Summary));
    theRecording().add(Found, Code.sites(), R);
    theRecording().write();
    HasRaces = !R.Findings.empty();
    HasChecked = R.verdict() != Verdict::NothingChecked;
    // A program with metadata mode alone gets a summary even if it is clean.
    bool IsQuiet = R.verdict() == Verdict::Clean && !R.hasWarnings() &&
                   !R.hasOnlyMetadata() && Options.verbosity == 0;
    if (HasRaces || (speaks() && !IsQuiet)) {
      TextOptions Text;
      Text.StripPathPrefix = Options.strip_path_prefix;
      theLog().text(renderText(R, Text));
    }
  }
  return HasRaces || HasFailedAssertion;
}

} // namespace crsan
