// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the GPUs were given and the host has not waited for.

#include "order/PendingWork.h"

#include <algorithm>

namespace crsan {

/// What was given before this thread's call began has smaller numbers.
static thread_local uint64_t CallBegan = 0;

void PendingWork::beginCall() { CallBegan = NextNumber; }

/// The caller holds the lock.
void PendingWork::changed() {
  size_t Number = 0;
  for (const auto &[S, G] : Streams)
    if (G.Kernel && Number < Shown.size())
      Shown[Number++] = G.Kernel;
  while (Number < Shown.size())
    Shown[Number++] = nullptr;
  const bool IsAny = !Streams.empty() || !Anywhere.empty();
  if (IsAny != HasAny)
    OnChange(HasAny = IsAny);
}

void PendingWork::given(Stream S, const char *Kernel) {
  std::lock_guard Guard(Lock);
  Given &G = Streams[S];
  G.Last = NextNumber++;
  if (Kernel)
    G.Kernel = &*Names.insert(Kernel).first;
  changed();
}

void PendingWork::givenAnywhere(CUcontext Ctx) {
  std::lock_guard Guard(Lock);
  Anywhere[Ctx] = NextNumber++;
  changed();
}

void PendingWork::createdUnblocking(Stream S) {
  std::lock_guard Guard(Lock);
  Unblocking.insert(S);
}

void PendingWork::destroyed(Stream S) {
  std::lock_guard Guard(Lock);
  Unblocking.erase(S);
  if (const auto Found = Streams.find(S); Found != Streams.end()) {
    uint64_t &Last = Anywhere[S.first];
    Last = std::max(Last, Found->second.Last);
    Streams.erase(Found);
    changed();
  }
}

void PendingWork::recorded(CUevent Event, Stream S) {
  std::lock_guard Guard(Lock);
  Events.insert_or_assign(Event, std::pair(S, NextNumber.load()));
}

/// Forgets work of the streams that was given before.
template <typename Predicate>
void PendingWork::done(uint64_t Before, Predicate IsOf) {
  std::erase_if(Streams, [&](const auto &Entry) {
    return IsOf(Entry.first) && Entry.second.Last < Before;
  });
  changed();
}

void PendingWork::streamDone(Stream S) {
  std::lock_guard Guard(Lock);
  done(CallBegan, [&](const Stream &Other) { return Other == S; });
}

void PendingWork::eventDone(CUevent Event) {
  std::lock_guard Guard(Lock);
  const auto Found = Events.find(Event);
  if (Found == Events.end())
    return;
  const auto [S, Before] = Found->second;
  done(std::min(Before, CallBegan),
       [&](const Stream &Other) { return Other == S; });
}

void PendingWork::defaultDone(CUcontext Ctx) {
  std::lock_guard Guard(Lock);
  done(CallBegan, [&](const Stream &Other) {
    return Other.first == Ctx && !Unblocking.contains(Other);
  });
}

void PendingWork::contextDone(CUcontext Ctx) {
  std::lock_guard Guard(Lock);
  if (const auto Found = Anywhere.find(Ctx);
      Found != Anywhere.end() && Found->second < CallBegan)
    Anywhere.erase(Found);
  done(CallBegan, [&](const Stream &Other) { return Other.first == Ctx; });
}

void PendingWork::forget(CUevent Event) {
  std::lock_guard Guard(Lock);
  Events.erase(Event);
}

void PendingWork::forget(CUcontext Ctx) {
  std::lock_guard Guard(Lock);
  Anywhere.erase(Ctx);
  std::erase_if(Events, [&](const auto &Entry) {
    return Entry.second.first.first == Ctx;
  });
  std::erase_if(Unblocking, [&](const Stream &S) { return S.first == Ctx; });
  done(~uint64_t(0), [&](const Stream &Other) { return Other.first == Ctx; });
}

PendingWork::Kernels PendingWork::kernels() const {
  Kernels Names{};
  for (size_t I = 0; I < Names.size(); ++I)
    Names[I] = Shown[I];
  return Names;
}

} // namespace crsan
