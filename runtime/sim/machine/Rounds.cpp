// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multiprocessors side by side.
//
// Each multiprocessor is a Device of its own, with its dice, its list of
// fragments and its clock; whole clusters run on it. In a round, each executes
// some thousand instructions. What it shares with others is not touched
// meanwhile: what it writes to global memory goes to its store buffer, through
// which it reads, and atomics on global memory, fences that are sequentially
// consistent, printf and malloc wait for the end of the round. Then all buffers
// are written to memory, and what waits is executed, one after the other, in an
// order that the dice give. Which host thread runs which multiprocessor, and
// when, makes no difference to any of this.
//
// It is a memory model that PTX allows: stores become visible to the other
// multiprocessors together with all that came before them (so that release and
// acquire need nothing), those of one's own multiprocessor earlier; and after a
// sequentially consistent fence all that came before other such fences is seen.
#include "Device.h"

#include <algorithm>
#include <utility>

using namespace crsan::sim;
using Policy = Options::Policy;

/// Warp instructions of a round that takes longer than to wake host threads.
static constexpr uint64_t WorthSharing = 512;

Device::Device(Device &Whole)
    : Ordinal(Whole.Ordinal), Opt(Whole.Opt), Dice(Whole.Dice.next()),
      Now(Whole.Now), Whole(&Whole) {
  Multiprocessors.resize(Whole.Multiprocessors.size()); // %nsmid
  if (Opt.Schedule == Policy::PCT)
    NextChange = 1 + Dice.below(2000);
}

/// An observer is told of everything in the order in which it happens, so there
/// has to be one.
void Device::chooseEngine() {
  if (!Grids.empty())
    return;
  InRounds = (Opt.InRounds || Opt.Threads > 1) && !Watch;
  if (!InRounds || !Alone.empty())
    return;
  for (size_t M = 0; M < Multiprocessors.size(); ++M)
    Alone.push_back(std::make_unique<Device>(*this));
  Hands = std::make_unique<Crew>(
      Opt.Threads, uint32_t(Alone.size()),
      [this](uint32_t M) { Alone[M]->runAlone(RoundQuantum); });
}

bool Device::isAtRest() const {
  return Ready.empty() && Timers.empty() &&
         std::all_of(Alone.begin(), Alone.end(), [](const auto &D) {
           return D->Ready.empty() && D->Timers.empty();
         });
}

//===----------------------------------------------------------------------===//
// A round
//===----------------------------------------------------------------------===//

bool Device::jumpToNextTimer() {
  uint64_t Next = ~uint64_t(0);
  for (auto &D : Alone)
    if (!D->Timers.empty())
      Next = std::min(Next, D->Timers.begin()->first.first);
  if (Next == ~uint64_t(0))
    return false;
  Now = std::max(Now, Next);
  return true;
}

bool Device::runRound() {
  size_t Ready = 0, Busy = 0;
  for (auto &D : Alone) {
    Ready += D->Ready.size();
    Busy += D->Ready.empty() ? 0 : 1;
  }
  if (!Ready && !jumpToNextTimer())
    return false;
  ++Round;
  RoundQuantum =
      Opt.Schedule == Policy::RoundRobin ? 2048 : 512 + Dice.below(3072);
  for (auto &D : Alone) {
    D->Now = std::max(D->Now, Now);
    D->Round = Round;
    D->Table.follow(Table);
    D->Buffer = &D->Stores;
  }
  // For a short round nobody is woken: the last one tells.
  const uint64_t Before = std::exchange(RoundStart, Steps);
  if (Busy > 1 && Steps - Before >= WorthSharing)
    Hands->run();
  else
    for (auto &D : Alone)
      D->runAlone(RoundQuantum);
  finishRound();
  return true;
}

void Device::runAlone(uint64_t Quantum) {
  for (const uint64_t Last = Steps + Quantum; Steps < Last && !Failed;) {
    runDueEvents();
    if (Ready.empty())
      break;
    runNext();
  }
}

//===----------------------------------------------------------------------===//
// Its end
//===----------------------------------------------------------------------===//

void Device::finishRound() {
  std::vector<Device *> Order;
  for (auto &D : Alone)
    Order.push_back(D.get());
  if (Opt.Schedule != Policy::RoundRobin)
    for (size_t N = Order.size(); N > 1; --N)
      std::swap(Order[N - 1], Order[Dice.below(uint32_t(N))]);
  for (Device *D : Order) {
    D->Buffer = nullptr;
    D->Stores.commit();
    Now = std::max(Now, D->Now);
  }
  takeTurns(Order);
  takeOver();
  if (Failed || !Opt.MaxSteps || Steps <= Opt.MaxSteps)
    return;
  for (auto &D : Alone)
    if (!D->Ready.empty())
      return reportStepLimit(*D->Ready.front(), D->Ready.front()->In);
  Fragment Nobody;
  reportStepLimit(Nobody, nullptr);
}

void Device::takeTurns(const std::vector<Device *> &Order) {
  std::vector<std::pair<Device *, Fragment *>> All;
  for (Device *D : Order) {
    for (const auto &Finish : std::exchange(D->Ending, {}))
      Finish();
    for (Fragment *F : std::exchange(D->Resting, {}))
      D->setState(*F, Fragment::State::Ready);
    for (Fragment *F : std::exchange(D->Turns, {}))
      All.emplace_back(D, F);
  }
  if (Opt.Schedule != Policy::RoundRobin)
    for (size_t N = All.size(); N > 1; --N)
      std::swap(All[N - 1], All[Dice.below(uint32_t(N))]);
  for (auto [D, F] : All) {
    D->setState(*F, Fragment::State::Ready);
    if (D->Failed)
      continue;
    D->Now = std::max(D->Now, Now);
    D->Table.follow(Table);
    D->runSlice(F, 1);
  }
}

void Device::takeOver() {
  for (auto &D : Alone) {
    Steps += D->Steps - std::exchange(D->ToldSteps, D->Steps);
    ThreadSteps +=
        D->ThreadSteps - std::exchange(D->ToldThreadSteps, D->ThreadSteps);
    Now = std::max(Now, D->Now);
    for (Cluster *C : std::exchange(D->Doomed, {}))
      Doomed.push_back(C);
    if (D->Failed)
      raise(*D->Failed);
  }
}

//===----------------------------------------------------------------------===//
// What fragments wait for
//===----------------------------------------------------------------------===//

Outcome Device::takeTurn(Fragment &F) {
  setState(F, Fragment::State::Turn);
  Turns.push_back(&F);
  return Outcome::Later;
}

bool Device::shouldRest(Fragment &F) {
  constexpr uint32_t Enough = 32;
  if (std::exchange(F.Round, Round) != Round)
    F.Strong = 0;
  if (++F.Strong <= Enough)
    return false;
  setState(F, Fragment::State::Turn);
  Resting.push_back(&F);
  return true;
}

void Device::copyMemory(const Referent &To, const Referent &From, size_t Size) {
  auto Address = [](const Referent &At) {
    return reinterpret_cast<uint64_t>(At.Bytes);
  };
  const bool IsToGlobal = Buffer && To.In == Referent::Kind::Global;
  if (Buffer && From.In == Referent::Kind::Global) {
    std::vector<uint8_t> Data(Size);
    Buffer->read(Data.data(), Address(From), Size);
    if (IsToGlobal)
      Buffer->write(Address(To), Data.data(), Size);
    else
      std::memcpy(To.Bytes, Data.data(), Size);
    return;
  }
  if (IsToGlobal)
    Buffer->write(Address(To), From.Bytes, Size);
  else
    std::memmove(To.Bytes, From.Bytes, Size);
}
