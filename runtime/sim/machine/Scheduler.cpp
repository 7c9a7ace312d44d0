// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who runs next, and when.
#include "Device.h"

#include <algorithm>
#include <fmt/format.h>

using namespace crsan::sim;
using Policy = Options::Policy;

Device::Device(int Ordinal, Options O)
    : Ordinal(Ordinal), Opt(std::move(O)), Dice(Opt.Seed),
      DeviceMemory(Ordinal) {
  Multiprocessors.resize(std::max(Opt.Multiprocessors, 1u));
  Streams[0];
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Warps run side by side on the real thing: time passes by what one of them
/// does.
void Device::passTime(uint64_t WarpInstructions) {
  constexpr uint64_t NanosecondsEach = 4;
  NowFraction += WarpInstructions * NanosecondsEach * 256 /
                 std::max<size_t>(Ready.size(), 1);
  Now += NowFraction / 256;
  NowFraction %= 256;
}

void Device::at(uint64_t Time, std::function<void()> What) {
  Timers.emplace(std::pair(Time, NextTimer++), std::move(What));
}

void Device::sleep(Fragment &F, uint64_t Nanoseconds) {
  uint64_t Number = ++F.Wake, Id = F.Id;
  setState(F, Fragment::State::Sleeping);
  at(Now + Nanoseconds, [this, Fr = &F, Number, Id] {
    if (Fr->Id == Id && Fr->Wake == Number &&
        Fr->Is == Fragment::State::Sleeping)
      setState(*Fr, Fragment::State::Ready);
  });
}

bool Device::runDueEvents() {
  bool Any = false;
  while (!Timers.empty() && Timers.begin()->first.first <= Now && !Failed) {
    auto What = std::move(Timers.begin()->second);
    Timers.erase(Timers.begin());
    What();
    Any = true;
  }
  return Any;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

Fragment *Device::pick() {
  switch (Opt.Schedule) {
  case Policy::Random:
    return Ready[Dice.below(uint32_t(Ready.size()))];
  case Policy::RoundRobin: {
    // The one that ran longest ago: Priority is when.
    auto It = std::min_element(
        Ready.begin(), Ready.end(), [](const Fragment *A, const Fragment *B) {
          return std::pair(A->Priority, A->Id) < std::pair(B->Priority, B->Id);
        });
    (*It)->Priority = Steps + 1;
    return *It;
  }
  case Policy::PCT:
    return *std::max_element(
        Ready.begin(), Ready.end(), [](const Fragment *A, const Fragment *B) {
          return std::pair(A->Priority, B->Id) < std::pair(B->Priority, A->Id);
        });
  }
  return Ready.front();
}

bool Device::shouldYield(const Instruction &I) {
  return Opt.Schedule == Policy::Random &&
         Dice.oneIn(I.How.Order == MemoryOrder::Weak ? 8 : 2);
}

namespace {
/// PCT: what a fragment runs before its priority is lowered (see Warp::Steps).
constexpr uint32_t PatiencePCT = 4096;

/// How many warp instructions a fragment runs at most before another is picked.
uint32_t quantum(Policy P, Random &Dice) {
  switch (P) {
  case Policy::Random:
    return 16 + Dice.below(256);
  case Policy::RoundRobin:
    return 64;
  case Policy::PCT:
    return 128;
  }
  return 64;
}
} // namespace

void Device::runSlice(Fragment *F, uint32_t Quantum) {
  Execution X(*this);
  X.bind(F);
  Warp &W = *F->In;
  uint32_t Ran = 0, Strong = 0;
  uint64_t Threads = 0, Id = F->Id;
  for (Outcome Out = Outcome::Next; Ran < Quantum;) {
    if (F->Meets && F->Pc == F->Meets->Pc && F->Top == F->Meets->In)
        [[unlikely]] {
      if (!meet(*F))
        break;
      continue;
    }
    const Instruction &I = F->Top->Fn->Code[F->Pc];
    if (I.IsVisible) {
      if (Ran && shouldYield(I))
        break;
      if (I.How.Order != MemoryOrder::Weak) {
        if (Buffer && shouldRest(*F))
          break;
        ++Strong;
      }
    }
    ++Ran;
    X.Mask = F->Lanes;
    if (I.HasGuard) {
      X.Mask &= I.GuardIsNegated ? ~X.bits(I.Guard) : X.bits(I.Guard);
      if (!X.Mask) {
        ++F->Pc;
        continue;
      }
      // The lanes that pass stay; the others go on, to be met after it.
      if (I.NeedsWholeFragment && X.Mask != F->Lanes)
        diverge(X, F->Lanes & ~X.Mask, F->Pc + 1, F->Pc, I.Reconverge);
    }
    Threads += std::popcount(X.Mask);
    Out = I.Run(X, I);
    if (Out == Outcome::Next) [[likely]] {
      ++F->Pc;
      continue;
    }
    if (Out == Outcome::Later) {
      --Ran;
      Threads -= std::popcount(X.Mask);
    }
    if (Out != Outcome::Moved)
      break;
  }
  // The warp outlives its last lane until finishBlock's caller is done.
  W.Steps += Ran + Strong * 31;
  Steps += Ran;
  ThreadSteps += Threads;
  passTime(Ran);
  if (Opt.Schedule == Policy::PCT && F->Id == Id &&
      (F->RanSince += Ran + Strong * 31) >= PatiencePCT) {
    F->RanSince = 0;
    // It may be waiting for a thread of lower priority.
    F->Priority = --LowPriority;
  }
}

//===----------------------------------------------------------------------===//
// Driving
//===----------------------------------------------------------------------===//

/// Nobody can run: lets one fragment go on that waits for others of its warp,
/// who cannot come.
bool Device::freeSomebody() {
  for (auto &[Id, G] : Grids)
    for (auto &C : G->Resident)
      for (auto &B : C->Blocks)
        for (auto &W : B->Warps)
          for (Fragment *F : W->Fragments)
            if (F->Is == Fragment::State::Meeting) {
              C->Home->goOnAlone(*F);
              return true;
            }
  return false;
}

/// Fragments of the warp that have waited long enough, or whose partners are
/// all blocked.
static void releaseLateOnes(Device &D, Warp &W) {
  for (size_t N = 0; N < W.Fragments.size(); ++N) {
    Fragment *F = W.Fragments[N];
    if (F->Is == Fragment::State::Meeting &&
        (W.Running == 0 || F->ReleaseAt <= W.Steps))
      D.goOnAlone(*F);
  }
}

void Device::raise(Fault F) {
  if (!Failed)
    Failed = std::move(F);
}

void Device::runNext() {
  Fragment *F = pick();
  Warp *W = F->In;
  runSlice(F, quantum(Opt.Schedule, Dice));
  if (W->Fragments.size() > 1 || W->Running == 0)
    releaseLateOnes(*this, *W);
  if (Opt.Schedule == Policy::PCT && Steps >= NextChange) {
    if (!Ready.empty())
      pick()->Priority = --LowPriority;
    // The depth is how many changes a stretch of the run has.
    NextChange = Steps + 1 + Dice.below(8000 / std::max(Opt.PCTDepth, 1u));
  }
  if (Opt.MaxSteps && Steps > Opt.MaxSteps && !Whole && !Failed)
    reportStepLimit(*F, W);
}

bool Device::runSomething() {
  runDueEvents();
  if (!Doomed.empty())
    return true; // The last copies of a block that has exited.
  if (!Ready.empty()) {
    runNext();
    return true;
  }
  if (Timers.empty())
    return false;
  Now = std::max(Now, Timers.begin()->first.first);
  return true;
}

/// Whether another machine may have to do something before it begins.
static bool mayWaitForOthers(const Device::Operation &Op) {
  return Op.What == Device::Operation::Kind::Outside || Op.Host.Ready;
}

std::optional<Fault> Device::drive(const std::function<bool()> &IsDone,
                                   uint64_t MaxSteps) {
  chooseEngine();
  const uint64_t Last = MaxSteps ? Steps + MaxSteps : ~uint64_t(0);
  if (Opt.Schedule == Policy::PCT && !NextChange)
    NextChange = Steps + 1 + Dice.below(2000);
  while (!Failed && !IsDone() && Steps < Last) {
    if (!Doomed.empty())
      buryClusters();
    startOperations(isAtRest());
    if (MayDispatch)
      dispatch();
    if (IsDone())
      break;
    if (InRounds ? runRound() : runSomething())
      continue;
    if (startOperations(true) || freeSomebody())
      continue;
    if (Idle &&
        std::any_of(Streams.begin(), Streams.end(),
                    [](auto &S) {
                      return !S.second.Queue.empty() &&
                             mayWaitForOthers(S.second.Queue.front());
                    }) &&
        Idle())
      continue;
    if (isIdle())
      break;
    reportDeadlock();
  }
  if (Failed)
    dropAll();
  return Failed;
}

//===----------------------------------------------------------------------===//
// Ends that nobody wants
//===----------------------------------------------------------------------===//

static std::string_view waitsFor(Fragment::State S) {
  switch (S) {
  case Fragment::State::Collective:
    return "at a warp collective whose other lanes do not come";
  case Fragment::State::WarpBarrier:
    return "at bar.warp.sync whose other lanes do not come";
  case Fragment::State::Barrier:
    return "at a barrier";
  case Fragment::State::Cluster:
    return "at a cluster barrier";
  case Fragment::State::Grid:
    return "for the grid that its own depends on";
  default:
    return "for something";
  }
}

static const Fragment *firstWaiting(Device &D, Block *&Where) {
  for (auto &[Id, G] : D.Grids)
    for (auto &C : G->Resident)
      for (auto &B : C->Blocks)
        for (auto &W : B->Warps)
          for (Fragment *F : W->Fragments)
            return Where = B.get(), F;
  return nullptr;
}

void Device::reportDeadlock() {
  Block *B = nullptr;
  const Fragment *F = firstWaiting(*this, B);
  if (!F) {
    Fault Bad;
    Bad.What = Fault::Kind::Deadlock;
    Bad.Message = Grids.empty()
                      ? "a stream waits for something that never happens"
                      : "no block of a kernel can become resident";
    raise(std::move(Bad));
    return;
  }
  bool AtBarriers = true;
  unsigned Waiting = 0;
  for (auto &W : B->Warps)
    for (const Fragment *Other : W->Fragments) {
      Waiting += std::popcount(Other->Lanes);
      AtBarriers &= Other->Is == Fragment::State::Barrier;
    }
  Execution X(*this);
  X.bind(const_cast<Fragment *>(F));
  const Instruction &I = F->Top->Fn->Code[F->Pc];
  std::string Text =
      AtBarriers ? fmt::format("barrier divergence: {} threads of the block "
                               "wait at barriers that the "
                               "others do not reach (this one at barrier {})",
                               Waiting, F->Barrier)
                 : fmt::format("deadlock: every thread waits; this one {}",
                               waitsFor(F->Is));
  X.fault(I, std::countr_zero(F->Lanes),
          AtBarriers ? Fault::Kind::BarrierDivergence : Fault::Kind::Deadlock,
          Text);
}

void Device::reportStepLimit(Fragment &F, Warp *W) {
  bool IsThere = F.In == W && F.Is != Fragment::State::Gone && F.Lanes;
  std::string Text = fmt::format(
      "the run has taken more than {} warp instructions", Opt.MaxSteps);
  if (IsThere) {
    Execution X(*this);
    X.bind(&F);
    X.fault(F.Top->Fn->Code[F.Pc], std::countr_zero(F.Lanes),
            Fault::Kind::StepLimit, Text);
    return;
  }
  Fault Bad;
  Bad.What = Fault::Kind::StepLimit;
  Bad.Message = Text;
  raise(std::move(Bad));
}
