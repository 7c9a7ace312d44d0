// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run's launches.

#include "session/Session.h"

#include "Report/Demangle.h"
#include "Report/RunFilter.h"
#include "common/Background.h"
#include "common/Driver.h"
#include "common/Log.h"
#include "crsan/abi/BlockOrder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <utility>

namespace crsan {

using namespace std::chrono_literals;

/// The number of the launch that this thread is making, from 1.
static thread_local uint64_t ThisLaunch = 0;

void Session::launching(CUcontext Ctx, uint32_t Uid,
                        const std::optional<OrderedLaunch> &Launch,
                        CUstream Stream) {
  ++BeingLaunched;
  countLaunch();
  if (!Launch)
    prepareForGraphs();
  const std::shared_ptr<Context> C = makeReady(Ctx, Uid);
  if (C) {
    if (ThisLaunch == 1 && !isCapturing(Stream))
      loadTwins(*C, /*NumMine=*/1);
    prepareForOverlaps(*C);
    if (Launch)
      judgeHostBefore(*C, Launch->Stream, Launch->Handle);
    C->MayRun = true;
    noteWaiting(*C, Launch, Stream);
  }
  Ordering.launching(Ctx, C, Launch);
  if (C && Launch && Options.launch_delay_us)
    holdBack(*C, *Launch);
}

/// The random number below `Bound` that belongs to `Index`.
static uint32_t randomBelow(uint32_t Seed, uint64_t Index, uint64_t Bound) {
  const uint32_t Number = abi::mix(abi::mix(abi::mix(Seed) ^ uint32_t(Index)) ^
                                   uint32_t(Index >> 32));
  return uint32_t(Number * Bound >> 32);
}

/// Whether member `Index` of a series, counted from 0, is drawn: one of each
/// `OneIn` consecutive ones, the first `First`, and of later ones Index with a
/// probability of First in Index + 1.
static bool isDrawn(uint32_t Seed, uint64_t Index, uint32_t OneIn,
                    uint32_t First) {
  return randomBelow(~Seed, Index, Index + 1) < First ||
         Index % OneIn == randomBelow(Seed, Index / OneIn, OneIn);
}

/// For `launch_delay_us`: has the launch wait, or not. What waits is one thread
/// that waits for nothing else, so it ends wherever the kernel would begin.
void Session::holdBack(Context &C, const OrderedLaunch &Launch) {
  if (!Launch.IsPlain || !C.Operations.isLoaded() ||
      !Ordering.of(C.Handle)->hasOverlaps())
    return;
  const uint32_t Ns =
      randomBelow(Options.seed, ThisLaunch, Options.launch_delay_us * 2000ull);
  if (Ns >= Options.launch_delay_us * 1000u)
    return; // One of the other half.
  OwnCalls Own(C.Handle);
  if (Own.ok() && !isCapturing(Launch.Handle))
    C.Operations.pause(Launch.Handle, Ns);
}

void Session::countLaunch() {
  ThisLaunch = ++NumLaunches;
  const RunFilter &Filter = runFilter();
  if (!Filter.hasLaunches())
    return;
  if (ThisLaunch == Filter.firstLaunch() && ThisLaunch > 1)
    setPaused(false);
  else if (ThisLaunch == Filter.lastLaunch() + 1)
    setPaused(true);
}

/// Waits until the kernels that were launched so far have ended, but not long,
/// since a kernel may wait for a later one.
void Session::awaitKernels(const ContextList &List) {
  if (IsSimulated)
    return RunOn();
  constexpr auto Patience = 5s;
  const auto Deadline = std::chrono::steady_clock::now() + Patience;
  for (const std::shared_ptr<Context> &C : List)
    Background<CUresult>::start([Handle = C->Handle] {
      OwnCalls Own(Handle);
      return Own.ok() ? theDriver().cuCtxSynchronize()
                      : CUDA_ERROR_INVALID_CONTEXT;
    })->waitUntil(Deadline);
}

/// The option `launches` begins or ends. Kernels that were launched before are
/// waited for: what each launch does is checked as a whole or not at all.
void Session::setPaused(bool Paused) {
  ContextList All;
  {
    std::lock_guard Lock(Data);
    IsPaused = Paused;
    for (const std::shared_ptr<Context> &C : Contexts)
      if (!C->IsDead && C->isPrepared() && C->Failure == CUDA_SUCCESS)
        All.push_back(C);
  }
  awaitKernels(All);
  std::lock_guard Lock(Configuring);
  for (const std::shared_ptr<Context> &C : All)
    if (OwnCalls Own(C->Handle); Own.ok())
      if (const CUresult Result = C->setPaused(Paused))
        theLog().say("checks cannot be {} for launches={}: {}",
                     Paused ? "ended" : "begun", Options.launches,
                     theDriver().errorText(Result));
}

/// All launches of a graph's node share their %gridid, and so would find the
/// lasting watchpoints of earlier ones.
void Session::prepareForGraphs() {
  if (HasGraphs || !Options.lasting_watchpoints)
    return;
  std::lock_guard Lock(Configuring);
  if (HasGraphs)
    return;
  ContextList All;
  {
    std::lock_guard DataLock(Data);
    std::copy_if(
        Contexts.begin(), Contexts.end(), std::back_inserter(All),
        [](const auto &C) { return !C->IsDead && C->Failure == CUDA_SUCCESS; });
  }
  for (const std::shared_ptr<Context> &C : All) {
    OwnCalls Own(C->Handle);
    const CUresult Result = C->setGraphs();
    if (Result != CUDA_SUCCESS)
      theLog().say("lasting watchpoints cannot be switched off for a graph: "
                   "{}; set CRSAN_OPTIONS=lasting_watchpoints=0",
                   theDriver().errorText(Result));
  }
  HasGraphs = true;
}

/// Whether `launch_pause_us` permits that a launch which has been drawn, of
/// this group, is checked. `Share`: the launches of a group, or the kernels
/// that share the time. The time of the simulated GPU says nothing of what
/// checks cost. The caller holds the data lock.
bool Session::isAfterPause(LaunchPause &Pause, uint64_t Group, size_t Share) {
  const std::chrono::microseconds Length(Options.launch_pause_us);
  return IsSimulated || Length.count() == 0 ||
         Pause.permits(Group, Share * Length, LaunchPause::Clock::now());
}

bool Session::leavesToTwin(CUcontext Ctx, const std::string &Kernel) {
  uint32_t OneIn = Options.launch_one_in, First = Options.launch_first;
  // The option `launches` names launches that are to be checked.
  if (OneIn == 1 || runFilter().hasLaunches())
    return false;
  const bool Overlaps = Ordering.of(Ctx)->hasOverlaps();
  std::lock_guard Lock(Data);
  const std::shared_ptr<Context> C = findContext(Ctx);
  if (!C || !C->hasCheckedCode() || !Code.isInstrumented(Kernel) ||
      Code.isShadowed(Kernel))
    return false;
  Context::DrawnLaunches &Of = C->LaunchesOf[Kernel];
  const uint64_t Index = Of.Count++;
  // Two kernels meet only if both are checked, so all contexts draw alike; and
  // only while both run, so they meet in few of the launches that are checked.
  constexpr unsigned Together = 8;
  constexpr uint32_t More = 2;
  if (Overlaps) {
    OneIn = std::max(OneIn / More, 1u);
    First *= More;
    const uint64_t Group = (ThisLaunch - 1) / Together;
    return Index >= First &&
           !(isDrawn(Contexts.front()->Salt, Group, OneIn, First) &&
             isAfterPause(GroupPause, Group, Together));
  }
  const uint32_t Hash = uint32_t(std::hash<std::string>()(Kernel));
  return Index >= First &&
         !(isDrawn(C->Salt ^ Hash, Index, OneIn, First) &&
           isAfterPause(Of.Pause, ThisLaunch, C->LaunchesOf.size()));
}

CUfunction Session::findTwin(CUcontext Ctx, const std::string &Kernel,
                             const LaunchShape &Shape, CUstream Stream) {
  std::shared_ptr<Context> C;
  LaunchShape Asked = Shape;
  {
    std::lock_guard Lock(Data);
    C = findContext(Ctx);
    Asked.IsTogether |= Code.mayWait(Kernel);
  }
  return C ? Twins.find(*C, Kernel, Asked, Stream) : nullptr;
}

/// Loads the native twins of all code of the context that is switched on. To
/// load code, the driver may wait for kernels that run, and these for what the
/// program does next: so it is done before anything is launched but what this
/// thread is about to launch (`NumMine`), and nothing is launched meanwhile
/// (makeReady).
void Session::loadTwins(Context &C, unsigned NumMine) {
  if (Options.launch_one_in == 1 || runFilter().hasLaunches())
    return;
  std::lock_guard Lock(Configuring);
  IsResetting = true;
  std::vector<NativeTwins::CodeWithKernels> All;
  {
    std::lock_guard DataLock(Data);
    if (NumLaunches == NumMine && BeingLaunched == NumMine &&
        std::exchange(C.TwinsGeneration, C.Generation) != C.Generation)
      All = Code.kernelsOfCollider();
  }
  if (!All.empty())
    if (OwnCalls Own(C.Handle); Own.ok())
      Twins.load(C, All);
  IsResetting = false;
}

void Session::prepare(CUcontext Ctx, uint32_t Uid) {
  if (!Ctx)
    return;
  bool IsTodo;
  {
    std::lock_guard Lock(Data);
    const std::shared_ptr<Context> C = findContext(Ctx);
    IsTodo = !C || (!C->isPrepared() && C->CanCheck);
  }
  if (IsTodo) {
    std::lock_guard Lock(Configuring);
    OwnCalls Own(Ctx);
    if (!Own.ok())
      return;
    Code.makeReady(*enterContext(Ctx, Uid));
  }
  const std::shared_ptr<Context> C = makeReady(Ctx, Uid);
  if (!C || hasLaunched())
    return;
  loadTwins(*C, /*NumMine=*/0);
  prepareForOverlaps(*C);
}

/// Switches on code that the context is about to run. Returns the context's
/// data, or null.
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
                       const std::optional<LaunchShape> &Shape, bool IsTwin) {
  std::string Name = Kernel ? Kernel : "";
  std::shared_ptr<Context> C;
  {
    std::lock_guard Lock(Data);
    C = findContext(Ctx);
    // A graph has no name: it counts as instrumented if any code is.
    bool IsChecked =
        C && C->hasCheckedCode() && (!Kernel || Code.isInstrumented(Name));
    if (!IsChecked) {
      ++(Kernel && Code.isSwitchedOff(Name) ? Launches.SwitchedOff
                                            : Launches.NotInstrumented);
      return;
    }
    LaunchedAt[Name].note(IsTwin);
    const RunFilter &Filter = runFilter();
    if (!Filter.takesLaunch(ThisLaunch) ||
        (Kernel && !Filter.takesKernel(Name))) {
      ++Launches.LeftOut;
      C->noteLaunch(Kernel ? Name : "a graph");
      return;
    }
    if (IsTwin) {
      ++Launches.ByTwins;
      C->noteLaunch(Name);
      return;
    }
    ++Launches.Checked;
    Launches.NotShadowed += C->TheShadow && Kernel && !Code.isShadowed(Name);
    C->noteLaunch(Kernel ? Name : "a graph");
  }
  if (Kernel && Shape)
    judgeOccupancy(*C, Name, *Shape);
}

/// Warns of a grid whose blocks cannot all run at once, only because of the
/// registers that they need with checks: blocks that wait for each other hang.
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
  // Errors that the registers of checks may cause.
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

} // namespace crsan
