// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queues of operations, and events.
#include "Device.h"

#include <algorithm>
#include <utility>

using namespace crsan::sim;

bool Device::isHidden(std::string_view Name) const {
  return !Opt.Hidden.empty() && Name.starts_with(Opt.Hidden);
}

void Device::push(Stream S, Operation Op) {
  Op.Sequence = NextOperation++;
  Op.IsHidden =
      (Op.What == Operation::Kind::Launch && isHidden(Op.Code.Kernel->Name)) ||
      (Op.What == Operation::Kind::Host && isHidden(Op.Host.Name));
  bool IsSeen = !Op.IsHidden;
  if (Op.What == Operation::Kind::Record || Op.What == Operation::Kind::Wait) {
    EventState &E = Events[Op.Event];
    Op.Generation =
        Op.What == Operation::Kind::Record ? ++E.Recorded : E.Recorded;
    IsSeen =
        Op.Generation != 0; // A wait for what was never recorded is nothing.
    if (!IsSeen)
      return;
  }
  if (Watch && IsSeen)
    Watch->hostEnqueue(S);
  Streams[S].Queue.push_back(std::move(Op));
}

/// One kernel at most overlaps with the one before it.
const Device::Operation *Device::nextOf(const StreamState &State) const {
  if (State.Queue.empty())
    return nullptr;
  const Operation &First = State.Queue.front();
  if (!First.IsRunning)
    return &First;
  if (First.What != Operation::Kind::Launch || State.Queue.size() < 2)
    return nullptr;
  const Operation &Second = State.Queue[1];
  const bool MayOverlap = Second.What == Operation::Kind::Launch &&
                          !Second.IsRunning && Second.Code.MayOverlap;
  return MayOverlap && letsDependentsStart(First.Grid) ? &Second : nullptr;
}

/// The default stream waits for what was enqueued before in all blocking
/// streams, and they for it.
bool Device::canStart(Stream S, const StreamState &State) const {
  const Operation *Next = nextOf(State);
  if (!Next)
    return false;
  const Operation &Op = *Next;
  auto HasEarlier = [&](const StreamState &Other) {
    return !Other.Queue.empty() && Other.Queue.front().Sequence < Op.Sequence;
  };
  if (S == 0) {
    for (auto &[Id, Other] : Streams)
      if (Id != 0 && Other.IsBlocking && HasEarlier(Other))
        return false;
  } else if (State.IsBlocking && HasEarlier(Streams.at(0))) {
    return false;
  }
  if (Op.What == Operation::Kind::Wait) {
    auto E = Events.find(Op.Event);
    return E == Events.end() || E->second.Reached >= Op.Generation;
  }
  if (Op.What == Operation::Kind::Outside)
    return Op.Other->isEventDone(Op.Event);
  return !Op.Host.Ready || Op.Host.Ready();
}

bool Device::startOperations(bool Instantly) {
  bool Any = false;
  // Who goes first among independent streams is up to the schedule.
  std::vector<Stream> Able;
  for (auto &[Id, S] : Streams)
    if (canStart(Id, S))
      Able.push_back(Id);
  if (Able.empty())
    return false;
  if (Opt.Schedule != Options::Policy::RoundRobin)
    for (size_t N = Able.size(); N > 1; --N)
      std::swap(Able[N - 1], Able[Dice.below(uint32_t(N))]);
  // A round is as long as many slices.
  const uint32_t Patience = InRounds ? 2 : 16;
  for (Stream Id : Able) {
    bool MayWait = !Instantly && Opt.Schedule != Options::Policy::RoundRobin;
    if (MayWait && !Dice.oneIn(Patience))
      continue;
    StreamState &S = Streams.at(Id);
    if (!canStart(Id, S))
      continue; // What has just started comes before it.
    start(Id, S);
    Any = true;
    if (Failed || Instantly)
      break;
  }
  return Any;
}

/// Earlier operations of other streams that this one had to wait for.
static void tellOrder(Device &D, Stream S, const Device::StreamState &State) {
  if (!D.Watch || !State.IsBlocking)
    return;
  if (S != 0) {
    D.Watch->streamOrder(0, S);
    return;
  }
  for (auto &[Id, Other] : D.Streams)
    if (Id != 0 && Other.IsBlocking)
      D.Watch->streamOrder(Id, 0);
}

void Device::start(Stream S, StreamState &State) {
  const Operation &First = State.Queue.front();
  const uint64_t Overlaps = First.IsRunning ? First.Grid : 0;
  Operation &Op = State.Queue[Overlaps ? 1 : 0];
  Op.IsRunning = true;
  if (!Op.IsHidden)
    tellOrder(*this, S, State);
  switch (Op.What) {
  case Operation::Kind::Launch:
    startGrid(S, Op, Overlaps);
    return; // It ends with its last block.
  case Operation::Kind::Host: {
    if (Op.Host.Prepare)
      std::exchange(Op.Host.Prepare, nullptr)();
    if (Watch && !Op.IsHidden)
      Watch->streamOp(S, Op.Host.Name, Op.Host.Reads, Op.Host.Writes,
                      Op.Host.MadeAt);
    if (Op.Host.Run) {
      // It may enqueue, which must not move what runs.
      std::function<void()> Run = std::move(Op.Host.Run);
      const bool IsFunction = Op.Host.IsFunction;
      Run();
      if (Watch && IsFunction)
        Watch->hostFunctionEnd(S);
    }
    break;
  }
  case Operation::Kind::Record: {
    if (Watch)
      Watch->eventRecord(Op.Event, S);
    if (auto E = Events.find(Op.Event); E != Events.end()) {
      E->second.Reached = std::max(E->second.Reached, Op.Generation);
      E->second.Time = Now;
      if (E->second.IsDoomed && E->second.Reached >= E->second.Recorded)
        Events.erase(E);
    }
    break;
  }
  case Operation::Kind::Wait:
    if (Watch)
      Watch->eventWait(Op.Event, S);
    break;
  case Operation::Kind::Outside:
    if (Watch)
      Watch->eventWaitElsewhere(Op.Other->ordinal(), Op.Event, S);
    break;
  }
  finishFront(S);
}

void Device::finishFront(Stream S) {
  auto It = Streams.find(S);
  if (It == Streams.end() || It->second.Queue.empty())
    return;
  It->second.Queue.pop_front();
  if (It->second.IsDoomed && It->second.Queue.empty())
    endStream(S);
}

/// A stream that was destroyed has done all that it was given. What the default
/// stream has not begun by now comes after that.
void Device::endStream(Stream S) {
  if (Watch && Streams.at(S).IsBlocking)
    Watch->streamOrder(S, 0);
  Streams.erase(S);
}

bool Device::isIdle() const {
  return std::all_of(Streams.begin(), Streams.end(),
                     [](auto &S) { return S.second.Queue.empty(); });
}
