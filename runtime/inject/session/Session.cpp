//===- Session.cpp - One run of a program, from cuInit to its end ---------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "session/Session.h"

#include "Report/Demangle.h"
#include "Report/Suppressions.h"
#include "Report/TextReport.h"
#include "common/Background.h"
#include "common/Driver.h"
#include "common/Log.h"
#include "common/Signals.h"
#include "image/Fatbin.h"
#include "session/Collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace crsan {

using namespace std::chrono_literals;

//===----------------------------------------------------------------------===//
// Code and contexts
//===----------------------------------------------------------------------===//

template <typename Bytes> void Session::addImage(Bytes Image) {
  bool IsFirst;
  {
    std::lock_guard Lock(Data);
    bool SawBefore = Code.sawInstrumented();
    IsFirst = Code.addImage(Image) && !SawBefore;
  }
  if (IsFirst && OnFirstInstrumented)
    OnFirstInstrumented();
}

void Session::imageShown(std::span<const uint8_t> Cubin) { addImage(Cubin); }

void Session::imageShown(std::span<const ImageObject> Objects) {
  addImage(Objects);
}

void Session::codeLoaded(CUlibrary Library, CUmodule Module, const void *Bytes,
                         CUcontext Ctx, uint32_t Uid) {
  uint64_t Serial;
  {
    std::lock_guard Lock(Data);
    LoadedCode New;
    New.Library = Library;
    New.Module = Module;
    New.Owner = Ctx;
    Serial = Code.addCode(New);
  }
  // Before the first context there is nothing to configure yet.
  if (!Ctx)
    return;
  configure(Ctx, Uid);

  // CUPTI showed no image: look for it ourselves.
  std::span<const uint8_t> Cubin;
  {
    std::lock_guard Lock(Data);
    std::shared_ptr<Context> C = findContext(Ctx);
    if (C && Code.lacksTables(Serial))
      Cubin = findCubin(Bytes, C->ComputeMajor, C->ComputeMinor);
  }
  if (Cubin.empty())
    return;
  theLog().detail(2, "code {}: taking the image from the program, {} bytes",
                  Serial, Cubin.size());
  imageShown(Cubin);
  configure(Ctx, Uid);
}

std::shared_ptr<Context> Session::findContext(CUcontext Handle) {
  for (const std::shared_ptr<Context> &C : Contexts)
    if (C->Handle == Handle && !C->IsDead)
      return C;
  return nullptr;
}

/// The context's data, made if it is new. After a reset the driver gives the
/// same handle to a new context; CUPTI's uid tells them apart.
std::shared_ptr<Context> Session::enterContext(CUcontext Handle, uint32_t Uid) {
  std::shared_ptr<Context> C;
  {
    std::lock_guard Lock(Data);
    C = findContext(Handle);
    if (C && (Uid == 0 || C->Uid == 0 || C->Uid == Uid))
      return C;
    if (C)
      C->IsDead = true;
    C = std::make_shared<Context>(Handle, Uid);
  }
  C->identify();
  theLog().detail(2, "context {} (uid {}) on device {}, compute {}.x",
                  static_cast<void *>(Handle), Uid, C->Device, C->ComputeMajor);
  std::lock_guard Lock(Data);
  Contexts.push_back(C);
  return C;
}

void Session::configure(CUcontext Handle, uint32_t Uid) {
  std::unique_lock Lock(Configuring);
  OwnCalls Own(Handle);
  if (!Own.ok())
    return;
  std::shared_ptr<Context> C = enterContext(Handle, Uid);
  Code.configure(*C);
  if (C->TheShadow)
    awaitGrace(Lock, *C);
}

void Session::codeUnloading(CUlibrary Library, CUmodule Module) {
  uint64_t Serial;
  ContextList Affected;
  {
    std::lock_guard Lock(Data);
    Serial = Code.find(Library, Module);
    for (const std::shared_ptr<Context> &C : Contexts)
      if (C->Configured.contains(Serial))
        Affected.push_back(C);
  }
  takeStock(Affected);
  for (const std::shared_ptr<Context> &C : Affected)
    forgetShadow(*C, Serial);
  std::lock_guard Lock(Data);
  for (const std::shared_ptr<Context> &C : Affected)
    C->forgetCode(Serial);
  Code.removeCode(Serial);
  Residencies.clear(); // Handles are reused.
}

/// Cells name sites of the code, which the device would look at.
void Session::forgetShadow(Context &C, uint64_t Serial) {
  std::lock_guard Lock(Configuring);
  std::vector<std::pair<uint64_t, MemoryRange>> Gone;
  {
    std::lock_guard DataLock(Data);
    if (!C.TheShadow || C.IsDead || C.Failure != CUDA_SUCCESS || C.IsStuck)
      return;
    auto Rest = std::partition(
        C.Variables.begin(), C.Variables.end(),
        [=](const auto &Entry) { return Entry.first != Serial; });
    Gone.assign(Rest, C.Variables.end());
    C.Variables.erase(Rest, C.Variables.end());
  }
  OwnCalls Own(C.Handle);
  if (!Own.ok())
    return;
  for (const auto &[Code, Range] : Gone)
    C.TheShadow->remove(Range);
  C.TheShadow->forgetAccesses();
}

void Session::contextEnding(CUcontext Ctx) {
  ContextList Ending;
  {
    std::lock_guard Lock(Data);
    if (std::shared_ptr<Context> C = findContext(Ctx))
      Ending.push_back(C);
  }
  takeStock(Ending);
}

void Session::deviceEnding(CUdevice Device) {
  ContextList Ending;
  {
    std::lock_guard Lock(Data);
    for (const std::shared_ptr<Context> &C : Contexts)
      if (C->Device == Device)
        Ending.push_back(C);
  }
  takeStock(Ending);
}

void Session::contextGone(CUcontext Ctx) {
  Ordering.forget(Ctx);
  std::lock_guard Lock(Data);
  Memory.forget(Ctx);
  if (std::shared_ptr<Context> C = findContext(Ctx))
    C->IsDead = true;
  Residencies.clear(); // Its functions' handles are reused.
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void Session::launching(CUcontext Ctx, uint32_t Uid,
                        const std::optional<OrderedLaunch> &Launch) {
  ++BeingLaunched;
  const std::shared_ptr<Context> C = makeReady(Ctx, Uid);
  if (C)
    C->MayRun = true;
  Ordering.launching(Ctx, C, Launch);
}

/// Switches on what the context is about to run. Returns what is kept for it,
/// or null.
std::shared_ptr<Context> Session::makeReady(CUcontext Ctx, uint32_t Uid) {
  if (!Ctx)
    return nullptr;
  if (IsResetting)
    std::lock_guard Wait(Configuring);
  {
    std::lock_guard Lock(Data);
    std::shared_ptr<Context> C = findContext(Ctx);
    const bool IsSame = C && (Uid == 0 || C->Uid == 0 || C->Uid == Uid);
    if (Code.generation() == 0 ||
        (IsSame && C->Generation == Code.generation()))
      return C;
  }
  configure(Ctx, Uid);
  std::lock_guard Lock(Data);
  return findContext(Ctx);
}

void Session::launchIsOver(CUcontext Ctx,
                           const std::optional<OrderedLaunch> &Launch) {
  --BeingLaunched;
  Ordering.launched(Ctx, Launch);
}

void Session::launched(CUcontext Ctx, const char *Kernel,
                       const std::optional<LaunchShape> &Shape) {
  std::string Name = Kernel ? Kernel : "";
  std::shared_ptr<Context> C;
  {
    std::lock_guard Lock(Data);
    C = findContext(Ctx);
    // A graph has no name: it is taken for instrumented if anything here is.
    bool IsChecked =
        C && C->isPrepared() && (Kernel ? Code.isInstrumented(Name) : true);
    if (!IsChecked) {
      ++(Kernel && Code.isSwitchedOff(Name) ? Launches.SwitchedOff
                                            : Launches.NotInstrumented);
      return;
    }
    ++Launches.Checked;
    Launches.NotShadowed += C->TheShadow && Kernel && !Code.isShadowed(Name);
    C->noteLaunch(Kernel ? Name : "a graph");
  }
  if (Kernel && Shape)
    judgeOccupancy(*C, Name, *Shape);
}

/// A grid that would run all at once but for its registers may have done so
/// before there were checks: if its blocks wait for each other, it hangs now.
void Session::judgeOccupancy(const Context &C, const std::string &Kernel,
                             const LaunchShape &Shape) {
  std::tuple Key(C.Device, Shape.Function, Shape.Threads,
                 Shape.DynamicSharedBytes);
  std::optional<Residency> Found;
  {
    std::lock_guard Lock(Data);
    if (Crowded.contains(Kernel))
      return;
    if (auto Known = Residencies.find(Key); Known != Residencies.end())
      Found = Known->second;
  }
  if (!Found)
    Found = C.askResidency(Shape);
  std::lock_guard Lock(Data);
  Residencies.emplace(Key, *Found);
  if (!Found->lacksRegisters(Shape.Blocks))
    return;
  std::string Line =
      fmt::format("kernel {}: {}", demangle(Kernel),
                  describeShortage(C.Processors, *Found, Shape.Blocks));
  if (Crowded.emplace(Kernel, Line).second)
    theLog().say("{}", Line);
}

void Session::launchFailed(const char *Kernel, const std::string &Error) {
  std::string Name = Kernel ? demangle(Kernel) : "a graph";
  std::string Line =
      fmt::format("launch of {} failed: {}; it was not checked", Name, Error);
  // What instrumentation may have to do with it.
  if (Error == "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" ||
      Error == "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")
    Line +=
        "; instrumented kernels may use more registers than others, so that "
        "fewer blocks fit: ask the occupancy API, or compile with "
        "-Xcuda-ptxas --maxrregcount=N";
  std::lock_guard Lock(Data);
  if (!speaks())
    return;
  ++Launches.Failed;
  if (Said.insert(Line).second)
    theLog().say("{}", Line);
}

void Session::synchronised(CUcontext Ctx, CUresult Result) {
  if (!isSticky(Result))
    return;
  std::lock_guard Lock(Data);
  if (std::shared_ptr<Context> C = findContext(Ctx))
    kernelFailed(*C, Result);
}

void Session::kernelFailed(Context &C, CUresult Result) {
  if (C.Failure != CUDA_SUCCESS || !C.isPrepared())
    return;
  C.Failure = Result;
  C.FailureName = theDriver().errorName(Result);
  if (Result == CUDA_ERROR_ASSERT)
    HasFailedAssertion = true;
  theLog().say("a kernel failed on device {}: {}; last launched: {}. Races "
               "seen before are reported; what runs later in this context is "
               "not checked",
               C.Device, theDriver().errorText(Result), C.lastKernels());
}

//===----------------------------------------------------------------------===//
// Memory and its shadow
//===----------------------------------------------------------------------===//

/// What(Shadow, Range) for each context that the ranges matter to, which are
/// returned. The configuration lock is held.
template <typename Change>
Session::ContextList
Session::changeShadow(const std::vector<MemoryRange> &Ranges, Change What) {
  ContextList Affected;
  {
    std::lock_guard Lock(Data);
    for (const std::shared_ptr<Context> &C : Contexts)
      if (C->TheShadow && !C->IsDead && C->Failure == CUDA_SUCCESS)
        Affected.push_back(C);
  }
  for (const MemoryRange &Range : Ranges)
    for (const std::shared_ptr<Context> &C : Affected)
      if (Range.isFor(C->Handle))
        if (OwnCalls Own(C->Handle); Own.ok())
          What(*C->TheShadow, Range);
  return Affected;
}

/// Waits until no kernel can use shadow that was taken from pages, and then
/// gives it to others. Kernels may run for ever, or wait for calls of the
/// program that need the configuration lock. So the wait is without the lock,
/// and does not last; what is left then is done as soon as the context is idle.
void Session::awaitGrace(std::unique_lock<std::timed_mutex> &Lock, Context &C) {
  constexpr auto Patience = 2s;
  while (C.TheShadow->isRetiring()) {
    if (C.MayRun) {
      // The simulated GPU's kernels run on this thread.
      if (IsSimulated)
        return;
      const bool IsNew = !C.Grace;
      if (IsNew)
        C.Grace = Background<CUresult>::start([Handle = C.Handle] {
          OwnCalls Own(Handle);
          return Own.ok() ? theDriver().cuCtxSynchronize()
                          : CUDA_ERROR_INVALID_CONTEXT;
        });
      const std::shared_ptr Grace = C.Grace;
      Lock.unlock();
      const auto Now = std::chrono::steady_clock::now();
      const bool IsOver = Grace->waitUntil(IsNew ? Now + Patience : Now);
      Lock.lock();
      if (!IsOver)
        return;
      if (C.Grace != Grace)
        continue; // Another thread was faster.
      C.Grace = nullptr;
      if (Grace->take() != CUDA_SUCCESS)
        return;
    }
    OwnCalls Own(C.Handle);
    if (!Own.ok())
      return;
    C.TheShadow->settle();
  }
}

void Session::allocated(CUcontext Owner, uint64_t Base, size_t Size,
                        const char *How) {
  Ordering.cut(); // Memory changes hands.
  std::unique_lock Lock(Configuring);
  MemoryRange Range{Owner, Base, Size, /*HasVariables=*/false, How};
  {
    std::lock_guard DataLock(Data);
    Memory.add(Range);
  }
  for (const std::shared_ptr<Context> &C : changeShadow(
           {Range}, [](Shadow &S, const MemoryRange &R) { S.add({&R, 1}); }))
    awaitGrace(Lock, *C);
}

FreeCall Session::freeing(uint64_t Base) {
  std::lock_guard Lock(Data);
  return Memory.beginFree(Base);
}

FreeCall Session::unmapping(uint64_t Base, size_t Size) {
  std::lock_guard Lock(Data);
  return Memory.beginUnmap(Base, Size);
}

void Session::freed(FreeCall Call) {
  Ordering.cut(); // Memory changes hands.
  std::lock_guard Lock(Configuring);
  std::vector<MemoryRange> Ranges;
  {
    std::lock_guard DataLock(Data);
    Ranges = Memory.endFree(Call);
  }
  changeShadow(Ranges, [](Shadow &S, const MemoryRange &R) { S.remove(R); });
}

void Session::freedByStream(FreeCall Call) {
  Ordering.cut(); // Memory changes hands.
  std::lock_guard Lock(Data);
  Memory.deferFree(Call);
}

void Session::freeFailed(FreeCall Call) {
  std::lock_guard Lock(Data);
  Memory.cancelFree(Call);
}

void Session::allocating(CUcontext Ctx, size_t Size) {
  std::unique_lock Lock(Configuring);
  const MemoryRange Room{Ctx, 0, Size};
  for (const std::shared_ptr<Context> &C : changeShadow(
           {Room}, [](Shadow &S, const MemoryRange &R) { S.makeRoom(R.Size); }))
    awaitGrace(Lock, *C);
  changeShadow({Room},
               [](Shadow &S, const MemoryRange &R) { S.release(R.Size); });
}

void Session::allocationFailed(CUcontext Ctx) {
  std::lock_guard Lock(Data);
  std::shared_ptr<Context> C = findContext(Ctx);
  if (!C || !C->TheShadow || C->TheShadow->held() == 0)
    return;
  std::string Line = fmt::format(
      "the program is out of memory on device {}, where metadata mode holds {} "
      "MiB: shadow_limit= sets a limit to that",
      C->Device, C->TheShadow->held() >> 20);
  if (Said.insert(Line).second)
    theLog().say("{}", Line);
}

void Session::becameIdle(CUcontext Ctx, uint64_t Awaited) {
  Ordering.becameIdle(Ctx, Awaited);
  std::shared_ptr<Context> C;
  {
    std::lock_guard Lock(Data);
    C = findContext(Ctx);
    if (!C || !C->TheShadow)
      return;
  }
  std::unique_lock Lock(Configuring);
  std::vector<MemoryRange> Freed;
  {
    std::lock_guard DataLock(Data);
    Freed = Memory.takeFreed(Ctx);
  }
  changeShadow(Freed, [](Shadow &S, const MemoryRange &R) { S.remove(R); });
  // Another thread may have launched something since, or be about to; then the
  // next time will do.
  IsResetting = true;
  if (BeingLaunched == 0 && Ordering.isIdle(Ctx, Awaited)) {
    C->MayRun = false;
    forgetPast(*C);
    awaitGrace(Lock, *C);
  }
  IsResetting = false;
}

/// What the device asks for. The context is idle.
void Session::forgetPast(Context &C) {
  OwnCalls Own(C.Handle);
  const Shadow::Past What =
      Own.ok() ? C.TheShadow->unwanted() : Shadow::Past::None;
  if (What == Shadow::Past::None)
    return;
  theLog().detail(2, "metadata mode: starting from zero on device {}{}",
                  C.Device,
                  What == Shadow::Past::Releases ? ", but for accesses" : "");
  C.TheShadow->forget(What);
}

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
  return Lock.try_lock_for(100ms) && !findings({}).Findings.empty();
}

/// What is found so far, without what is suppressed. The data lock is held.
Report Session::findings(RunSummary Summary) const {
  std::vector<Occurrence> Found;
  for (const std::shared_ptr<Context> &C : Contexts)
    C->collect(Found, uint32_t(Options.seed), Memory, Code.sites());
  Report R = buildReport(Found, Code.sites(), std::move(Summary));
  suppressions().apply(R);
  return R;
}

bool Session::isShuffled(const std::string &Kernel) const {
  std::lock_guard Lock(Data);
  return Code.isShuffled(Kernel);
}

bool Session::report() {
  // Somebody may be dying with a lock in hand: better a report from data that
  // stopped in mid-change, a moment later, than none.
  const BlockedSignals Blocked;
  std::unique_lock Once(Reporting, 5s);
  if (Once.owns_lock() && !HasReported) {
    HasReported = true;
    std::unique_lock Lock(Data, 1s);
    RunSummary Summary = summarise(Options, Code, Contexts, Launches);
    Summary.IsSimulated = IsSimulated;
    const Report R = findings(std::move(Summary));
    HasRaces = !R.Findings.empty();
    HasChecked = R.verdict() != Verdict::NothingChecked;
    // Who runs metadata mode waits for its word.
    bool IsQuiet = R.verdict() == Verdict::Clean && !R.hasWarnings() &&
                   !R.hasOnlyMetadata() && Options.verbosity == 0;
    if (HasRaces || (speaks() && !IsQuiet)) {
      TextOptions Text;
      Text.StripPathPrefix = Options.strip_path_prefix;
      Text.Replay = Replay;
      theLog().text(renderText(R, Text));
    }
  }
  return HasRaces || HasFailedAssertion;
}

} // namespace crsan
