// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Release, acquire, and the pairs that race.
//
// A write that may end a release pattern leaves, at its location, what it
// offers to whom (a SyncPoint); a strong read of exactly that location that the
// scopes allow takes it, at once if it acquires, or keeps it for an acquire
// that completes the pattern later.
#include "Oracle.h"

#include <algorithm>
#include <utility>

using namespace crsan::sim;

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// The write whose value a strong access reads, if they are morally strong.
SyncPoint *Oracle::observed(Granule &G, const Op &O, uint16_t Mask,
                            bool &Missed) {
  if (!G.Strong || !(O.A.reads() || O.A.isAtomic()))
    return nullptr;
  for (SyncPoint &P : G.Strong->Points) {
    if (!(P.Range & Mask))
      continue;
    const bool SameBytes = P.Range == Mask || P.MayBeWider || O.A.MayBeWider;
    if (SameBytes && (P.Writer == O.Id ||
                      scopesMeet(P.Where, P.Within, O.Where, O.A.Within)))
      return &P;
    Missed = true;
  }
  return nullptr;
}

/// Remembers for explanations what scopes or sizes kept from synchronising.
void Oracle::noteMissed(const Op &O, const Granule &G, uint16_t Mask) {
  for (const SyncPoint &P : G.Strong->Points)
    if (P.Range & Mask) {
      P.Releases.ignoreScopes(O.Block->Narrow);
      O.Block->Unfenced.raise(P.Writer, P.Time);
    }
}

void Oracle::acquire(const Op &O, const SyncPoint &Seen, const Location &At) {
  O.Block->Unfenced.raise(Seen.Writer, Seen.Time);
  unsigned From = 0;
  if (isAcquire(O.A.Order)) {
    Seen.Releases.acquire(O.Where, O.A.Within, O.Thread->Known);
    From = indexOf(O.A.Within) + 1;
  }
  if (Seen.Releases.empty())
    return;
  const unsigned Scopes = Seen.Releases.scopesFor(O.Where);
  if (Seen.Releases.isNarrow() || (From && From < Scopes))
    Seen.Releases.ignoreScopes(O.Block->Narrow);
  if (From >= Scopes)
    return;
  PatternState &P = O.Thread->patterns();
  P.noteRead({O.A.Instruction, O.A.isAtomic()}, O.Time);
  Seen.Releases.demand(O.Where, From, P.Pending);
  Seen.Releases.demand(O.Where, From, P.PendingAt[At]);
}

/// "A strong read on M followed by an acquire operation on M."
void Oracle::acquirePending(const Op &O, const Location &At) {
  if (!isAcquire(O.A.Order) || !O.Thread->Patterns)
    return;
  auto &PendingAt = O.Thread->Patterns->PendingAt;
  const auto It = PendingAt.find(At);
  if (It == PendingAt.end())
    return;
  for (unsigned I = 0; I <= indexOf(O.A.Within); ++I) {
    O.Thread->Known.join(It->second[I]);
    It->second[I] = {};
  }
  if (std::all_of(It->second.begin(), It->second.end(),
                  [](const Clock &C) { return C.empty(); }))
    PendingAt.erase(It);
}

/// What a write offers: by scope, the latest of the thread's release fences, of
/// its release operations on the same location, and of the write itself.
Offer Oracle::offerOf(const Op &O, const Location &At) const {
  Offer Result;
  if (const PatternState *P = O.Thread->Patterns.get()) {
    Result = P->Fences;
    if (const auto It = P->ReleasedAt.find(At); It != P->ReleasedAt.end())
      for (unsigned I = 0; I < NumScopes; ++I)
        if (It->second[I].Time > Result[I].Time)
          Result[I] = It->second[I];
  }
  if (isRelease(O.A.Order))
    for (unsigned I = 0; I <= indexOf(O.A.Within); ++I)
      Result[I] = {O.Thread->Known, O.Id, O.Time};
  return Result;
}

/// Leaves the write as the last one at its location.
void Oracle::publish(Granule &G, const Op &O, const Location &At,
                     SyncPoint *Seen, const std::shared_ptr<Chain> &Link,
                     uint32_t Position) {
  SyncPoint New;
  // Only through read-modify-writes does observation order go on.
  if (Seen && O.A.isAtomic())
    New.Releases = std::move(Seen->Releases);
  New.Range = At.second;
  New.MayBeWider = O.A.MayBeWider;
  New.Writer = O.Id;
  New.Time = O.Time;
  New.Where = O.Where;
  New.Within = O.A.Within;
  New.Position = Position;
  New.Link = Link;
  New.Releases.add(O.Where, offerOf(O, At));
  std::vector<SyncPoint> &Points = G.Strong->Points;
  std::erase_if(Points,
                [&](const SyncPoint &P) { return P.Range & At.second; });
  Points.push_back(std::move(New));
  if (!isRelease(O.A.Order))
    return;
  Offer &Released = O.Thread->patterns().ReleasedAt[At];
  for (unsigned I = 0; I <= indexOf(O.A.Within); ++I)
    Released[I] = {O.Thread->Known, O.Id, O.Time};
  ++O.Thread->Time;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Remembers that a thread writes where it has read.
void Oracle::noteUpdate(const Op &O) {
  if (!O.A.writes())
    return;
  const Page &P = Memory.page(O.A.Address);
  const Granule &G = P.Granules[O.A.Address % PageBytes / GranuleBytes];
  const std::vector<WeakRecord> &Reads = G.Reads.Records;
  const uint16_t Mask = maskOf(O.A.Address, O.A.Size);
  // It is among the last ones as a rule.
  const size_t First = Reads.size() - std::min(Reads.size(), WeakList::Short);
  for (size_t I = First; I < Reads.size(); ++I)
    if (Reads[I].Warp == O.Id / Clock::Fan && Reads[I].Mask == Mask &&
        (Reads[I].Lanes >> O.Id % Clock::Fan & 1))
      Updates.emplace(Reads[I].Instruction, O.A.Instruction);
}

void Oracle::threadAccess(Op &O) {
  if (!O.isStrong()) {
    noteUpdate(O);
    return Check.access(O);
  }
  Page &P = Memory.page(O.A.Address);
  const unsigned Index = unsigned(O.A.Address % PageBytes / GranuleBytes);
  Granule &G = P.Granules[Index];
  const Location At{O.A.Address / GranuleBytes, maskOf(O.A.Address, O.A.Size)};
  bool Missed = false;
  SyncPoint *Seen = observed(G, O, At.second, Missed);
  if (O.A.reads()) { // Reductions acquire nothing.
    if (Seen)
      acquire(O, *Seen, At);
    acquirePending(O, At);
    if (Missed)
      noteMissed(O, G, At.second);
  }
  const bool IsHosts =
      O.A.Within == Scope::System && isHostVisible(O.A.Address);
  if (IsHosts && O.A.reads())
    askHost(O);
  if (IsHosts && O.A.writes())
    tellHost(O);
  std::shared_ptr<Chain> Link;
  uint32_t Position = 0;
  if (Seen && O.A.isAtomic() && O.A.writes()) {
    Link = Seen->Link;
    Position = Seen->Position + 1;
  } else if (O.A.writes()) {
    Link = std::make_shared<Chain>();
  }
  Check.access(O, Link, Position);
  if (Seen)
    Seen->Link->observe(O.Id, O.Time, Seen->Position);
  if (O.A.writes())
    publish(G, O, At, Seen, Link, Position);
}

/// The parts of an access that the model takes for operations: a strong vector
/// access is as many as it has elements; a weak one is cut as the shadow is.
template <typename Function>
static void forEachPart(const Access &A, Function Do) {
  Access Part = A;
  const uint64_t End = A.Address + A.Size;
  const uint32_t Element = A.Order != MemoryOrder::Weak && A.Elements > 1
                               ? A.Size / A.Elements
                               : A.Size;
  while (Part.Address < End) {
    const uint64_t Next =
        std::min({End, Part.Address + Element,
                  Part.Address / GranuleBytes * GranuleBytes + GranuleBytes});
    Part.Size = uint32_t(Next - Part.Address);
    Do(Part);
    Part.Address = Next;
  }
}

void Oracle::access(const ThreadRef &T, const Access &A) {
  BlockState *B;
  ThreadState &State = threadOf(T, B);
  if (State.IsBenign && A.Order == MemoryOrder::Weak) {
    ++Counts.Exempt;
    return;
  }
  ++Counts.Accesses;
  if (A.IsAsync)
    return asyncAccess(*B, A);
  Op O;
  O.Id = idOf(T, *B);
  O.Note = B->Note;
  O.Where = B->Where;
  O.Known = &State.Known;
  O.GridStart = &B->GridStart;
  O.Thread = &State;
  O.Block = B;
  forEachPart(A, [&](const Access &Part) {
    O.Time = State.Time;
    O.A = Part;
    // "Equivalent to a relaxed operation with system scope."
    if (Part.IsVolatile) {
      O.A.Within = Scope::System;
      if (Options.VolatileIsWeak)
        O.A.Order = MemoryOrder::Weak;
    }
    threadAccess(O);
  });
}

/// A host thread may have read whatever kernels have told by now, and one clock
/// stands for all host threads.
void Oracle::hostAccess(const Access &A, bool IsOfFunction) {
  ++Counts.HostAccesses;
  Host.join(ToldHost);
  if (!HostAsActor)
    HostAsActor = {Who.addHost(), Who.lastNote(), 1};
  const HostActor &By = IsOfFunction ? LastWork : *HostAsActor;
  Op O;
  O.Id = By.Id;
  O.Note = By.Note;
  O.Time = By.Time;
  O.Known = IsOfFunction ? &Streams[LastWorkIn].Known : &Host;
  O.A = A;
  constexpr uint32_t Long = 4 * GranuleBytes;
  if (A.Size > Long)
    return Check.stretch(O);
  forEachPart(A, [&](const Access &Part) {
    O.A = Part;
    Check.access(O);
  });
}

void Oracle::asyncAccess(BlockState &B, const Access &A) {
  const auto It = Asyncs.find(A.Async);
  if (It == Asyncs.end())
    return;
  const AsyncState &Copy = It->second;
  Op O;
  O.Id = A.writes() ? Copy.Writes : Copy.Reads;
  O.Note = A.writes() ? Copy.WritesNote : Copy.ReadsNote;
  O.Time = Copy.Time;
  O.Where = B.Where;
  O.Known = &Copy.Known;
  O.Block = &B;
  O.A = A;
  if (Copy.By != Completion::Group && !A.writes())
    Check.proxies(O, Copy.Fenced);
  const bool IsOnePart =
      A.Address / GranuleBytes == (A.Address + A.Size - 1) / GranuleBytes;
  if (A.Order == MemoryOrder::Weak && !IsOnePart)
    return Check.stretch(O);
  forEachPart(A, [&](const Access &Part) {
    O.A = Part;
    // A reduction writes with no release, and nothing follows it.
    if (Part.writes() && O.isStrong()) {
      Granule &G = Memory.page(Part.Address)
                       .Granules[Part.Address % PageBytes / GranuleBytes];
      bool Missed = false;
      const uint16_t Mask = maskOf(Part.Address, Part.Size);
      SyncPoint *Seen = observed(G, O, Mask, Missed);
      if (Seen) {
        Seen->Link->observe(O.Id, O.Time, Seen->Position);
        return Check.access(O, Seen->Link, ++Seen->Position);
      }
      if (G.Strong)
        std::erase_if(G.Strong->Points,
                      [&](const SyncPoint &S) { return S.Range & Mask; });
    }
    Check.access(O);
  });
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

/// What an acquire fence has completed by location, too, if nothing but that
/// was pending.
static void forgetPending(PatternState &P, unsigned Level) {
  if (Level < indexOf(Scope::Device))
    return;
  if (P.Pending.back().empty()) {
    P.PendingAt.clear();
    P.ReadAt.clear();
    return;
  }
  for (auto &[At, Pending] : P.PendingAt)
    for (unsigned I = 0; I <= Level; ++I)
      Pending[I] = {};
}

void Oracle::fence(const ThreadRef &T, MemoryOrder Order, Scope Within) {
  BlockState *B;
  ThreadState &State = threadOf(T, B);
  ++Counts.Fences;
  PatternState &P = State.patterns();
  const unsigned Level = indexOf(Within);
  const bool IsSc =
      Order == MemoryOrder::SequentiallyConsistent && Options.FencesSynchronise;
  if (isAcquire(Order)) {
    for (unsigned I = 0; I <= Level; ++I) {
      State.Known.join(P.Pending[I]);
      P.Pending[I] = {};
    }
    if (Within == Scope::System)
      State.Known.join(std::exchange(P.PendingHost, {}));
    for (unsigned I = Level + 1; I < NumScopes; ++I)
      B->Narrow.join(P.Pending[I]);
    forgetPending(P, Level);
  }
  if (IsSc)
    ScFences.acquire(B->Where, Within, State.Known);
  if (!isRelease(Order))
    return;
  const Snapshot Now{State.Known, idOf(T, *B), State.Time++};
  for (unsigned I = 0; I <= Level; ++I)
    P.Fences[I] = Now;
  // The fence serves as well.
  if (Within >= Scope::Device)
    std::erase_if(P.ReleasedAt, [&](const auto &Entry) {
      return Within == Scope::System || !Entry.second.back().Time;
    });
  if (IsSc)
    ScFences.add(B->Where, Now, Within);
}

void Oracle::proxyFence(const ThreadRef &T) {
  BlockState *B;
  ThreadState &State = threadOf(T, B);
  ++Counts.Fences;
  Grids[T.Grid].Fences.add({State.Known, idOf(T, *B), State.Time++});
}
