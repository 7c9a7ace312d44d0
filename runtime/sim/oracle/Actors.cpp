// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who acts, and what each knows.
#include "Actors.h"

#include <algorithm>
#include <cassert>

using namespace crsan::sim;

static ActorId wholeWarps(ActorId Id) {
  return (Id + Clock::Fan - 1) / Clock::Fan * Clock::Fan;
}

ActorId Actors::addThreads(const Place &Where, uint32_t Threads) {
  ActorNote Note;
  Note.First = wholeWarps(Next);
  Note.Where = Where;
  Next = wholeWarps(Note.First + Threads);
  Notes.push_back(Note);
  return Note.First;
}

ActorId Actors::single(ActorNote Note) {
  Note.First = Next++;
  Notes.push_back(std::move(Note));
  return Notes.back().First;
}

ActorId Actors::addAsync(const Place &Where, uint32_t Thread) {
  ActorNote Note;
  Note.What = ActorNote::Kind::Async;
  Note.Where = Where;
  Note.Thread = Thread;
  return single(std::move(Note));
}

ActorId Actors::addStreamWork(std::string Operation, uint32_t MadeAt) {
  ActorNote Note;
  Note.What = ActorNote::Kind::StreamWork;
  Note.Operation = std::move(Operation);
  Note.MadeAt = MadeAt;
  return single(std::move(Note));
}

ActorId Actors::addHost() {
  ActorNote Note;
  Note.What = ActorNote::Kind::Host;
  return single(std::move(Note));
}

const ActorNote &Actors::noteOf(ActorId Id) const {
  const auto It = std::upper_bound(
      Notes.begin(), Notes.end(), Id,
      [](ActorId Wanted, const ActorNote &N) { return Wanted < N.First; });
  assert(It != Notes.begin() && "id of nobody");
  return *std::prev(It);
}

void Actors::clear() {
  Notes.clear();
  Next = 0;
}

void ProxyFences::add(const Snapshot &Fence) {
  if (Recent.size() == Most) {
    for (const Snapshot &S : Recent)
      S.joinTo(Others);
    Recent.clear();
  }
  Recent.push_back(Fence);
}

Clock ProxyFences::before(const Clock &Known) const {
  Clock All = Others;
  for (const Snapshot &S : Recent)
    if (Known.get(S.Id) >= S.Time)
      S.joinTo(All);
  return All;
}
