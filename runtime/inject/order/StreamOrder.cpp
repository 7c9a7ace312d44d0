// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which launches the host has ordered.

#include "order/StreamOrder.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

namespace crsan {

StreamId StreamId::of(CUstream Stream, bool IsPerThread) {
  static std::atomic<uint64_t> NextThread{1};
  // Not the thread's id, which another one may have later.
  static thread_local const uint64_t Thread = NextThread++;
  if (Stream == CU_STREAM_PER_THREAD || (!Stream && IsPerThread))
    return StreamId(uint64_t(1) << 63 | Thread);
  if (!Stream || Stream == CU_STREAM_LEGACY)
    return legacy();
  return StreamId(reinterpret_cast<uint64_t>(Stream));
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

static void raise(StreamOrder::Clocks &To, const StreamOrder::Clocks &From) {
  for (size_t I = 0; I < To.size(); ++I)
    To[I] = std::max(To[I], From[I]);
}

void StreamOrder::join(Known &To, const Known &From) {
  raise(To.Before, From.Before);
  raise(To.Waited, From.Waited);
}

void StreamOrder::learn(const Known &What) {
  raise(Host.Waited, What.Waited);
  noteKnown(What.Before);
}

/// The host may know of these runs.
void StreamOrder::noteKnown(const Clocks &What) {
  raise(Host.Before, What);
  // A run that the host knows to be done gets no more launches.
  for (auto &[Id, S] : Streams)
    if (S.IsOpen && What[S.Number] == Sequence[S.Number])
      S.IsOpen = false;
}

void StreamOrder::cutLocked() {
  learn(all());
  SinceCut = {};
}

void StreamOrder::loseLocked() {
  ++Doings;
  IsLost = true;
  if (Shared)
    __atomic_store_n(&Shared->IsOff, 1, __ATOMIC_RELEASE);
}

//===----------------------------------------------------------------------===//
// What a run says of its launches, while the device may read it
//===----------------------------------------------------------------------===//

static void setAll(uint64_t (&Bits)[4], uint64_t To) {
  for (uint64_t &Word : Bits)
    __atomic_store_n(&Word, To, __ATOMIC_SEQ_CST);
}

/// None: all of them.
static void setBit(uint64_t (&Bits)[4], std::optional<uint32_t> Bit) {
  if (Bit)
    __atomic_fetch_or(&Bits[*Bit / 64], uint64_t(1) << *Bit % 64,
                      __ATOMIC_SEQ_CST);
  else
    setAll(Bits, ~uint64_t(0));
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

StreamOrder::Stream *StreamOrder::find(StreamId Id) {
  auto Found = Streams.find(Id);
  return Found == Streams.end() ? nullptr : &Found->second;
}

const StreamOrder::Stream *StreamOrder::find(StreamId Id) const {
  auto Found = Streams.find(Id);
  return Found == Streams.end() ? nullptr : &Found->second;
}

/// Finds the stream, and gives it a number if it has none. Null: no number is
/// left, or the order is unknown anyway.
StreamOrder::Stream *StreamOrder::enter(StreamId Id) {
  if (!Shared || IsLost)
    return nullptr;
  if (Stream *Known = find(Id))
    return Known;
  auto Kind = Blocking.find(Id);
  const bool IsKnown =
      Id.isLegacy() || Id.isThreads() || Kind != Blocking.end();
  if (!IsKnown || NextNumber == abi::NumStreams) {
    loseLocked();
    return nullptr;
  }
  Stream &New = Streams[Id];
  New.Number = NextNumber++;
  New.IsBlocking = Kind == Blocking.end() || Kind->second;
  New.Knows = Host;
  return &New;
}

/// Orders work that the stream is about to be given: the legacy default stream
/// and blocking streams wait for each other.
StreamOrder::Known &StreamOrder::touch(StreamId Id, Stream &S) {
  const Clocks Had = S.Knows.Before;
  join(S.Knows, Host);
  if (Id.isLegacy()) {
    for (auto &[OtherId, Other] : Streams)
      if (Other.IsBlocking && OtherId != Id) {
        join(S.Knows, Other.Knows);
        Other.IsOpen = false;
      }
  } else if (S.IsBlocking) {
    if (Stream *Legacy = find(StreamId::legacy())) {
      join(S.Knows, Legacy->Knows);
      Legacy->IsOpen = false;
    }
  }
  if (S.Knows.Before != Had)
    S.IsOpen = false;
  return S.Knows;
}

bool StreamOrder::mayBeHeldUp() const {
  std::lock_guard Guard(Lock);
  return MayBeHeldUp;
}

void StreamOrder::want() {
  if (!IsWanted)
    IsWanted = true;
}

bool StreamOrder::isWanted() const { return IsWanted && !IsFollowing; }

bool StreamOrder::isFollowing() const { return IsFollowing; }

void StreamOrder::begin(abi::StreamOrder *New) {
  std::lock_guard Guard(Lock);
  Shared = New;
  IsFollowing = true;
  if (IsLost || HasUntoldElsewhere)
    return loseLocked();
  if (!HasUntold)
    return;
  // One run stands for all earlier launches, of kernels that are not known,
  // into the default stream.
  __atomic_store_n(&Shared->HasToldHost, 1, __ATOMIC_RELEASE);
  Stream &Legacy = *enter(StreamId::legacy());
  abi::StreamRun &Run = writeRun(Legacy, {});
  Run.Launches = 2;
  setAll(Run.Kernels, ~uint64_t(0));
  setAll(Run.Arguments, ~uint64_t(0));
  __atomic_store_n(&Shared->Current[Legacy.Number], Legacy.Run,
                   __ATOMIC_RELEASE);
  // Events and waits before begin() were not recorded.
  cutLocked();
}

void StreamOrder::created(StreamId Id, bool IsBlocking) {
  std::lock_guard Guard(Lock);
  IsWanted = true;
  Blocking[Id] = IsBlocking;
  // One blocking stream and the legacy default stream wait for each other.
  if (std::exchange(HasCreated, true) || !IsBlocking)
    HasOverlaps = true;
}

void StreamOrder::destroyed(StreamId Id) {
  std::lock_guard Guard(Lock);
  Blocking.erase(Id);
  // Work of the stream may still run, and the handle may be given to another
  // stream. The number is used again when the context was idle.
  if (Ever.First == Id)
    HasOverlaps = true;
  if (Stream *Gone = find(Id)) {
    if (Gone->IsBlocking)
      cutLocked(); // The default stream waits for it.
    Streams.erase(Id);
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Begins a new run of the stream.
abi::StreamRun &StreamOrder::writeRun(Stream &S, const Clocks &Before) {
  const uint32_t Number = NextRun++;
  abi::StreamRun &Run = Shared->Runs[Number % abi::NumRuns];
  __atomic_store_n(&Run.Number, 0, __ATOMIC_SEQ_CST);
  Run.Stream = S.Number;
  Run.Sequence = ++Sequence[S.Number];
  Run.Launches = 0;
  setAll(Run.Kernels, 0);
  setAll(Run.Arguments, 0);
  std::copy(Before.begin(), Before.end(), Run.Before);
  S.Run = Number;
  S.IsOpen = true;
  S.Knows.Before[S.Number] = S.Knows.Waited[S.Number] = Run.Sequence;
  __atomic_store_n(&Run.Number, S.Run, __ATOMIC_SEQ_CST);
  return Run;
}

std::optional<StreamOrder::Mark>
StreamOrder::launching(StreamId Id, std::optional<uint32_t> KernelBit,
                       bool TellsHost, std::optional<uint32_t> ArgumentsBit,
                       uint32_t NewestNote) {
  std::lock_guard Guard(Lock);
  ++InFlight;
  ++Doings;
  Ever.note(Id);
  if (Ever.AreSeveral && !HasOverlaps)
    HasOverlaps = true;
  if (Id.isThreads())
    want();
  if (!Shared) {
    (Id.isLegacy() ? HasUntold : HasUntoldElsewhere) = true;
    return std::nullopt;
  }
  constexpr uint32_t LastRun = ~0u / 2;
  Stream *S = enter(Id);
  // Two threads launch into one stream at the same time: which launch comes
  // first is not known.
  if (S && (S->InFlight != 0 || NextRun >= LastRun)) {
    loseLocked();
    S = nullptr;
  }
  if (!S)
    return std::nullopt;
  ++S->InFlight;
  SinceCut.note(Id);
  const Clocks Before = touch(Id, *S).Before;
  const bool IsNew = !S->IsOpen || SinceCut.AreSeveral || S->Run < NewestNote;
  abi::StreamRun &Run =
      IsNew ? writeRun(*S, Before) : Shared->Runs[S->Run % abi::NumRuns];
  __atomic_fetch_add(&Run.Launches, 1, __ATOMIC_SEQ_CST);
  setBit(Run.Kernels, KernelBit);
  setBit(Run.Arguments, ArgumentsBit);
  if (TellsHost)
    noteKnown(S->Knows.Before);
  if (!IsNew)
    return std::nullopt;
  return Mark{S->Number, S->Run};
}

uint32_t StreamOrder::lastRun(StreamId Id) const {
  std::lock_guard Guard(Lock);
  const Stream *S = IsLost ? nullptr : find(Id);
  return S ? S->Run : 0;
}

void StreamOrder::launched(StreamId Id) {
  std::lock_guard Guard(Lock);
  InFlight -= InFlight != 0; // The context may have been reset since.
  if (Stream *S = find(Id); S && S->InFlight)
    --S->InFlight;
}

void StreamOrder::launchingAnywhere() { HasOverlaps = true; }

bool StreamOrder::hasOverlaps() const { return HasOverlaps; }

//===----------------------------------------------------------------------===//
// What orders them
//===----------------------------------------------------------------------===//

/// A wait for an event that was never recorded orders nothing.
void StreamOrder::created(CUevent Event) {
  std::lock_guard Guard(Lock);
  Events[Event] = {};
}

void StreamOrder::recorded(CUevent Event, StreamId Id) {
  std::lock_guard Guard(Lock);
  Stream *S = enter(Id);
  Events[Event] = S ? touch(Id, *S) : all();
  if (S)
    S->IsOpen = false;
}

void StreamOrder::forget(CUevent Event) {
  std::lock_guard Guard(Lock);
  Events.erase(Event);
}

bool StreamOrder::knows(CUevent Event) const {
  std::lock_guard Guard(Lock);
  return Events.contains(Event);
}

void StreamOrder::waits(StreamId Id, CUevent Event) {
  std::lock_guard Guard(Lock);
  auto Found = Events.find(Event);
  Stream *S = enter(Id);
  if (!S || Found == Events.end())
    return;
  const Clocks Had = touch(Id, *S).Before;
  join(S->Knows, Found->second);
  if (S->Knows.Before != Had)
    S->IsOpen = false;
}

void StreamOrder::enqueued(StreamId Id) {
  std::lock_guard Guard(Lock);
  if (Stream *S = enter(Id))
    touch(Id, *S);
}

void StreamOrder::tellsHostBehind(CUevent Event, StreamId Id) {
  std::lock_guard Guard(Lock);
  Stream *S = enter(Id);
  const Known &Tells = Awaited[Event] = S ? touch(Id, *S) : all();
  HasAwaited = true;
  // Where host code had to learn of it, it did so at any time from now on.
  raise(Host.Waited, Tells.Waited);
}

std::vector<CUevent> StreamOrder::awaited() const {
  if (!HasAwaited)
    return {};
  std::lock_guard Guard(Lock);
  std::vector<CUevent> All;
  for (const auto &[Event, What] : Awaited)
    All.push_back(Event);
  return All;
}

bool StreamOrder::happened(CUevent Event) {
  std::lock_guard Guard(Lock);
  auto Found = Awaited.extract(Event);
  if (Found.empty())
    return false;
  HasAwaited = !Awaited.empty();
  learn(Found.mapped());
  return true;
}

void StreamOrder::streamDone(StreamId Id) {
  std::lock_guard Guard(Lock);
  if (Stream *S = enter(Id))
    learn(touch(Id, *S));
}

void StreamOrder::eventDone(CUevent Event) {
  std::lock_guard Guard(Lock);
  if (auto Found = Events.find(Event); Found != Events.end())
    learn(Found->second);
}

std::optional<StreamOrder::Known> StreamOrder::before(CUevent Event) const {
  std::lock_guard Guard(Lock);
  const auto Found = Events.find(Event);
  return Found == Events.end() ? std::nullopt : std::optional(Found->second);
}

void StreamOrder::done(const Known &What) {
  std::lock_guard Guard(Lock);
  learn(What);
}

StreamOrder::Clocks StreamOrder::waited() const {
  std::lock_guard Guard(Lock);
  return Host.Waited;
}

/// Whether the clock has the last run of each stream.
static bool isAll(const StreamOrder::Clocks &Sequence,
                  const StreamOrder::Clocks &Has) {
  return std::ranges::equal(Sequence, Has, std::less_equal());
}

bool StreamOrder::hasWaited() const {
  std::lock_guard Guard(Lock);
  return isAll(Sequence, Host.Waited);
}

bool StreamOrder::isRestBefore(StreamId Id) {
  std::lock_guard Guard(Lock);
  Stream *S = enter(Id);
  return S && isAll(Sequence, touch(Id, *S).Waited);
}

void StreamOrder::mayTellHost(StreamId Id) {
  std::lock_guard Guard(Lock);
  if (Stream *S = enter(Id))
    raise(Host.Waited, touch(Id, *S).Waited);
}

void StreamOrder::cut() {
  std::lock_guard Guard(Lock);
  cutLocked();
}

void StreamOrder::lose() {
  std::lock_guard Guard(Lock);
  MayBeHeldUp = true;
  loseLocked();
}

void StreamOrder::launchingUnfollowed() {
  std::lock_guard Guard(Lock);
  loseLocked();
}

uint64_t StreamOrder::beforeIdle() const {
  std::lock_guard Guard(Lock);
  return InFlight ? NeverIdle : Doings;
}

bool StreamOrder::isIdle(uint64_t Before) const {
  std::lock_guard Guard(Lock);
  return !InFlight && Doings == Before;
}

void StreamOrder::launchingOwn() {
  std::lock_guard Guard(Lock);
  ++Doings;
}

void StreamOrder::becameIdle(uint64_t Before) {
  std::lock_guard Guard(Lock);
  cutLocked();
  // Another thread may have launched something since.
  if (InFlight || Doings != Before)
    return;
  HasUntold = HasUntoldElsewhere = IsLost = MayBeHeldUp = false;
  if (!Shared)
    return;
  Streams.clear();
  NextNumber = 0;
  for (uint32_t &Run : Shared->Current)
    __atomic_store_n(&Run, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&Shared->HasSignalled, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&Shared->HasToldHost, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&Shared->IsOff, 0, __ATOMIC_RELEASE);
}

} // namespace crsan
