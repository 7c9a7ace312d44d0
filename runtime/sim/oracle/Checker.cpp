//===- Checker.cpp - Which accesses race ----------------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An earlier access A may be forgotten once a later one B stands for it: A is
// ordered before B, B touches all of its bytes, and whatever access Y races
// with A races with B too. For then Y is not after B, or it would be after A,
// and it is left to see that Y conflicts with B and is not morally strong with
// it:
//   - B is a weak write, or A and B are reads and B is weak: nothing is morally
//     strong with B.
//   - A and B are strong, of one thread, of the same bytes and kind, and B's
//     scope is not the wider one: what is morally strong with B is so with A.
//   - A and B are strong, both of device scope or wider, of the same bytes, and
//     A is known to B's grid from its start: what is morally strong with B is
//     so with A or of B's grid and therefore after A.
// Nothing else is forgotten before the host has seen the end of everything.
//
//===----------------------------------------------------------------------===//
#include "Checker.h"

#include <algorithm>
#include <bit>

using namespace crsan::sim;

//===----------------------------------------------------------------------===//
// Order and moral strength
//===----------------------------------------------------------------------===//

bool Checker::isOrdered(ActorId Id, uint32_t Time, const Op &O) const {
  return Id == O.Id || O.Known->get(Id) >= Time;
}

/// Lanes, the own one included, that the clock does not cover.
static uint32_t unknownLanes(const WeakRecord &R, const Clock &Known) {
  const uint32_t *Times = Known.warp(R.Warp);
  if (!Times)
    return R.Lanes;
  uint32_t Unknown = 0;
  for (uint32_t Left = R.Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = unsigned(std::countr_zero(Left));
    if (Times[Lane] < R.Time)
      Unknown |= uint32_t(1) << Lane;
  }
  return Unknown;
}

/// The actor's own lane, if it has one in this warp.
static uint32_t ownLane(uint64_t Warp, const Op &O) {
  return O.Id / Clock::Fan == Warp ? uint32_t(1) << O.Id % Clock::Fan : 0;
}

bool Checker::isMorallyStrong(const StrongRecord &S, const Op &O,
                              uint16_t Mask) const {
  const bool SameBytes = S.Range == Mask || S.MayBeWider || O.A.MayBeWider;
  return O.isStrong() && SameBytes &&
         scopesMeet(Who.note(S.Note).Where, S.Within, O.Where, O.A.Within);
}

/// With every record of the list.
bool Checker::isMorallyStrong(const StrongList &L, const Op &O,
                              uint16_t Mask) const {
  if (!O.isStrong() || L.Range != Mask)
    return false;
  if (L.Least >= Scope::Device && O.A.Within >= Scope::Device)
    return true;
  return L.Block && *L.Block == O.Where.blockKey();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {

/// Hands races on, those in a row with one instruction together.
class Reporter {
public:
  Reporter(RaceSink &Sink, const Op &O) : Sink(Sink), O(O) {}
  ~Reporter() { flush(); }

  void add(const EarlierAccess &E, uint64_t At, uint64_t N) {
    if (N == 0)
      return;
    if (Count == 0 || E.Instruction != First.Instruction || E.Instruction < 0) {
      flush();
      First = E;
      Address = At;
    }
    Count += N;
  }

private:
  void flush() {
    if (Count)
      Sink.race(First, O, Address, Count);
    Count = 0;
  }

  RaceSink &Sink;
  const Op &O;
  EarlierAccess First;
  uint64_t Address = 0, Count = 0;
};

} // namespace

static EarlierAccess earlier(const WeakRecord &R, uint32_t Lanes,
                             bool IsWrite) {
  EarlierAccess E;
  E.Id = R.Warp * Clock::Fan + unsigned(std::countr_zero(Lanes));
  E.Time = R.Time;
  E.Instruction = R.Instruction;
  E.Flags = IsWrite ? WritesMemory : ReadsMemory;
  E.Size = uint32_t(std::popcount(R.Mask));
  return E;
}

/// Decides whether the walk about to start is to find out anew what those have
/// in common that are unordered with one clock: not often where clocks differ.
static bool startsAnew(Unordered &U, const Op &O) {
  if (U.Misses++ % 16)
    return false;
  U.clear();
  U.By = *O.Known;
  return true;
}

/// Puts a record to those of one instruction and mask that are unordered.
static void extend(Unordered &U, const std::vector<WeakRecord> &Records,
                   size_t Index, uint32_t Unknown, uint16_t Mask) {
  const WeakRecord &R = Records[Index];
  // The last ones may get more lanes.
  if (Index != U.Count || Index + WeakList::Short >= Records.size() ||
      Unknown != R.Lanes || R.Mask != Mask ||
      R.Instruction != Records[0].Instruction)
    return;
  ++U.Count;
  U.Lanes += unsigned(std::popcount(R.Lanes));
  U.LanesOf[R.Warp] |= R.Lanes;
}

void Checker::checkWeak(WeakList &List, bool IsWrites, const Op &O,
                        uint64_t Base, uint16_t Mask) {
  // What a weak write finds ordered before it, it stands for.
  const bool Forgets = O.A.writes() && !O.isStrong() && !KeepsAll;
  std::vector<WeakRecord> &Records = List.Records;
  if (Records.size() > 2 * WeakList::Short && !List.Cuts)
    List.Cuts = std::make_unique<WeakList::Shortcuts>();
  WeakList::Shortcuts *Cuts = List.Cuts.get();
  Reporter Found(Sink, O);
  size_t In = 0;
  bool Extends = false;
  if (Cuts && !Forgets)
    In = Cuts->Before.known(*O.Known);
  if (Cuts && !In) {
    Unordered &U = Cuts->Racing;
    if (U.Count && U.By.same(*O.Known) && Records[0].Mask == Mask) {
      Extends = true;
      In = U.Count;
      const auto Own = U.LanesOf.find(O.Id / Clock::Fan);
      const bool HasOwn =
          Own != U.LanesOf.end() && (Own->second & ownLane(Own->first, O)) != 0;
      const uint32_t Others = Records[0].Lanes & ~ownLane(Records[0].Warp, O);
      if (Others)
        Found.add(earlier(Records[0], Others, IsWrites),
                  Base + unsigned(std::countr_zero(Mask)), U.Lanes - HasOwn);
      else
        In = 0;
    } else {
      Extends = startsAnew(U, O);
    }
  }
  bool All = !Extends || In == 0, Changed = false;
  size_t Out = In;
  for (; In < Records.size(); ++In) {
    WeakRecord R = Records[In];
    const uint16_t Common = R.Mask & Mask;
    const uint32_t Unknown = Common ? unknownLanes(R, *O.Known) : 0;
    const uint32_t Others = Unknown & ~ownLane(R.Warp, O);
    All &= Common && !Unknown;
    if (Others)
      Found.add(earlier(R, Others, IsWrites),
                Base + unsigned(std::countr_zero(Common)),
                uint64_t(std::popcount(Others)));
    if (Extends && !Changed)
      extend(Cuts->Racing, Records, In, Unknown, Mask);
    if (Forgets && Common) {
      if (Common == R.Mask)
        R.Lanes = Others;
      else if (!Others)
        R.Mask &= ~Mask;
      Changed |= R.Lanes != Records[In].Lanes || R.Mask != Records[In].Mask;
    }
    if (R.Lanes)
      Records[Out++] = R;
  }
  Records.resize(Out);
  if (Changed)
    List.changed();
  else if (Cuts && All)
    Cuts->Before = {*O.Known, Records.size()};
}

void Checker::checkStrong(StrongList &List, const Op &O, uint64_t Base,
                          uint16_t Mask) {
  if (List.Records.empty() || isMorallyStrong(List, O, Mask))
    return;
  const bool Forgets = O.A.writes() && !O.isStrong() && !KeepsAll;
  // What the thread has learnt through one chain, asked for once a chain.
  const Chain *Last = nullptr;
  std::optional<uint32_t> SeenTo;
  Reporter Found(Sink, O);
  bool All = true, Dead = false;
  const size_t Passed = List.Before.known(*O.Known);
  for (size_t I = Passed; I < List.Records.size(); ++I) {
    StrongRecord &S = List.Records[I];
    if (!(S.Mask & Mask) || isMorallyStrong(S, O, Mask)) {
      All = false;
      continue;
    }
    bool Ordered = O.Known->get(S.Id) >= S.Time;
    All &= Ordered;
    Ordered |= S.Id == O.Id;
    if (!Ordered && S.Link) {
      if (S.Link.get() != Last) {
        Last = S.Link.get();
        SeenTo = Last->knownTo(O.Id, *O.Known);
      }
      Ordered = SeenTo && *SeenTo >= S.Position;
    }
    if (!Ordered) {
      EarlierAccess E;
      E.Id = S.Id;
      E.Time = S.Time;
      E.Instruction = S.Instruction;
      E.Flags = S.Flags;
      E.IsVolatile = S.IsVolatile;
      E.Order = S.Order;
      E.Within = S.Within;
      E.Size = uint32_t(std::popcount(S.Range));
      E.OverlapsCompletely = S.Range == Mask;
      const uint16_t Common = S.Mask & Mask;
      Found.add(E, Base + unsigned(std::countr_zero(Common)), 1);
    } else if (Forgets) {
      S.Mask &= ~Mask;
      Dead |= S.Mask == 0;
    }
  }
  if (All)
    List.Before = {*O.Known, List.Records.size()};
  for (size_t I = 0; Forgets && I < Passed; ++I) {
    List.Records[I].Mask &= ~Mask;
    Dead |= List.Records[I].Mask == 0;
  }
  if (Dead)
    List.eraseIf([](const StrongRecord &S) { return S.Mask == 0; });
}

void Checker::checkStretches(Page &P, const Op &O, uint64_t PageBase,
                             uint32_t Begin, uint32_t End) {
  for (const StretchRecord &S : P.Stretches) {
    if (S.End <= Begin || End <= S.Begin || !(S.IsWrite || O.A.writes()) ||
        isOrdered(S.Id, S.Time, O))
      continue;
    EarlierAccess E;
    E.Id = S.Id;
    E.Time = S.Time;
    E.Instruction = S.Instruction;
    E.Flags = S.IsWrite ? WritesMemory : ReadsMemory;
    E.Size = S.End - S.Begin;
    Sink.race(E, O, PageBase + std::max(S.Begin, Begin), 1);
  }
}

void Checker::checkGranule(Granule &G, const Op &O, uint64_t Base,
                           uint16_t Mask) {
  if (!G.Writes.empty())
    checkWeak(G.Writes, true, O, Base, Mask);
  if (O.A.writes() && !G.Reads.empty())
    checkWeak(G.Reads, false, O, Base, Mask);
  if (!G.Strong)
    return;
  checkStrong(G.Strong->Writes, O, Base, Mask);
  if (O.A.writes())
    checkStrong(G.Strong->Reads, O, Base, Mask);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static WeakRecord recordOf(const Op &O, uint16_t Mask) {
  return {O.Id / Clock::Fan, O.Time, uint32_t(1) << O.Id % Clock::Fan,
          O.A.Instruction, Mask};
}

static bool isMergeable(const WeakRecord &A, const WeakRecord &B) {
  return A.Warp == B.Warp && A.Time == B.Time &&
         A.Instruction == B.Instruction && A.Mask == B.Mask;
}

/// A record among the last ones that the access joins.
static WeakRecord *findMergeable(std::vector<WeakRecord> &Records,
                                 const WeakRecord &New) {
  const size_t First =
      Records.size() - std::min(Records.size(), WeakList::Short);
  for (size_t I = Records.size(); I-- > First;)
    if (isMergeable(Records[I], New))
      return &Records[I];
  return nullptr;
}

static void join(WeakList &List, const WeakRecord &New) {
  WeakRecord *Old = findMergeable(List.Records, New);
  if (!Old) {
    List.Records.push_back(New);
    return;
  }
  if (List.Cuts)
    List.Cuts->Before.changed(size_t(Old - List.Records.data()));
  Old->Lanes |= New.Lanes;
}

void Checker::rememberWrite(Granule &G, const Op &O, uint16_t Mask) {
  join(G.Writes, recordOf(O, Mask));
}

void Checker::rememberRead(Granule &G, const Op &O, uint16_t Mask) {
  const WeakRecord New = recordOf(O, Mask);
  std::vector<WeakRecord> &Records = G.Reads.Records;
  join(G.Reads, New);
  if (KeepsAll)
    return;
  // The thread's earlier reads of these bytes have nothing to add.
  bool Dead = false, Changed = false;
  const size_t First =
      Records.size() - std::min(Records.size(), WeakList::Short);
  for (size_t I = First; I < Records.size(); ++I) {
    WeakRecord &R = Records[I];
    if (R.Warp != New.Warp || isMergeable(R, New) || !(R.Lanes & New.Lanes) ||
        (R.Mask & ~Mask))
      continue;
    R.Lanes &= ~New.Lanes;
    Changed = true;
    Dead |= !R.Lanes;
  }
  const bool Prunes = Records.size() >= G.Reads.PruneAt;
  for (size_t I = 0; Prunes && I < Records.size(); ++I) {
    WeakRecord &R = Records[I];
    if ((R.Mask & ~Mask) || isMergeable(R, New))
      continue;
    const uint32_t Lanes = unknownLanes(R, *O.Known) & ~ownLane(R.Warp, O);
    Changed |= Lanes != R.Lanes;
    R.Lanes = Lanes;
    Dead |= !R.Lanes;
  }
  if (Dead)
    std::erase_if(Records, [](const WeakRecord &R) { return !R.Lanes; });
  if (Changed)
    G.Reads.changed();
  if (Prunes)
    G.Reads.PruneAt = uint32_t(std::max<size_t>(16, 2 * Records.size()));
}

void Checker::pruneStrong(StrongList &L, bool IsWrites, const Op &O,
                          uint16_t Mask) {
  if (KeepsAll || L.Records.size() < L.PruneAt || !O.GridStart ||
      O.A.MayBeWider || O.A.Within < Scope::Device ||
      (IsWrites && !O.A.writes()))
    return;
  L.eraseIf([&](const StrongRecord &S) {
    return S.Range == Mask && S.Within >= Scope::Device &&
           O.GridStart->get(S.Id) >= S.Time;
  });
  L.PruneAt = std::max<size_t>(64, 2 * L.Records.size());
}

void Checker::rememberStrong(Granule &G, const Op &O, uint16_t Mask,
                             std::shared_ptr<Chain> Link, uint32_t Position) {
  if (!G.Strong)
    G.Strong = std::make_unique<StrongPart>();
  StrongRecord S;
  S.Id = O.Id;
  S.Time = O.Time;
  S.Note = O.Note;
  S.Instruction = O.A.Instruction;
  S.Mask = S.Range = Mask;
  S.Order = O.A.Order;
  S.Within = O.A.Within;
  S.Flags = O.A.Flags;
  S.IsVolatile = O.A.IsVolatile;
  S.MayBeWider = O.A.MayBeWider;
  S.Position = Position;
  S.Link = std::move(Link);
  StrongList &L = O.A.writes() ? G.Strong->Writes : G.Strong->Reads;
  pruneStrong(L, O.A.writes(), O, Mask);
  L.add(std::move(S), O.Where);
}

void Checker::access(const Op &O, std::shared_ptr<Chain> Link,
                     uint32_t Position) {
  const uint64_t Base = O.A.Address / GranuleBytes * GranuleBytes;
  const uint16_t Mask = maskOf(O.A.Address, O.A.Size);
  Page &P = Memory.page(Base);
  const uint32_t InPage = uint32_t(O.A.Address % PageBytes);
  Granule &G = P.Granules[InPage / GranuleBytes];
  P.touch(InPage / GranuleBytes);
  if (!P.Stretches.empty())
    checkStretches(P, O, Base / PageBytes * PageBytes, InPage,
                   InPage + O.A.Size);
  checkGranule(G, O, Base, Mask);
  if (O.isStrong())
    return rememberStrong(G, O, Mask, std::move(Link), Position);
  if (O.A.writes()) {
    // From now on the location holds what nobody has released.
    if (G.Strong)
      std::erase_if(G.Strong->Points,
                    [&](const SyncPoint &S) { return S.Range & Mask; });
    rememberWrite(G, O, Mask);
  } else {
    rememberRead(G, O, Mask);
  }
}

void Checker::stretchOfPage(const Op &O, uint64_t PageBase, uint32_t Begin,
                            uint32_t End) {
  Page &P = Memory.page(PageBase);
  checkStretches(P, O, PageBase, Begin, End);
  for (unsigned I = Begin / GranuleBytes; I * GranuleBytes < End; ++I) {
    if (!P.isTouched(I))
      continue;
    const uint32_t At = I * GranuleBytes;
    const uint32_t Low = std::max(Begin, At) - At;
    const uint32_t High = std::min(End, At + GranuleBytes) - At;
    const uint16_t Mask =
        uint16_t(((uint32_t(1) << High) - 1) & ~((uint32_t(1) << Low) - 1));
    Granule &G = P.Granules[I];
    checkGranule(G, O, PageBase + At, Mask);
    if (!O.A.writes())
      continue;
    if (G.Strong) {
      std::erase_if(G.Strong->Points,
                    [&](const SyncPoint &S) { return S.Range & Mask; });
      if (G.Strong->Reads.Records.empty() && G.Strong->Writes.Records.empty() &&
          G.Strong->Points.empty())
        G.Strong.reset();
    }
    if (G.Writes.empty() && G.Reads.empty() && !G.Strong)
      P.forget(I);
  }
  std::erase_if(P.Stretches, [&](const StretchRecord &S) {
    return !KeepsAll && Begin <= S.Begin && S.End <= End &&
           (O.A.writes() || !S.IsWrite) && isOrdered(S.Id, S.Time, O);
  });
  P.Stretches.push_back(
      {O.Id, O.Time, Begin, End, O.A.Instruction, O.A.writes()});
}

void Checker::stretch(const Op &O) {
  const uint64_t Last = O.A.Address + O.A.Size;
  for (uint64_t At = O.A.Address; At < Last;) {
    const uint64_t PageBase = At / PageBytes * PageBytes;
    const uint64_t End = std::min(Last, PageBase + PageBytes);
    stretchOfPage(O, PageBase, uint32_t(At - PageBase),
                  uint32_t(End - PageBase));
    At = End;
  }
}
