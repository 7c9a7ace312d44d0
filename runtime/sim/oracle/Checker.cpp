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

/// Lists shorter than this are walked rather than remembered as ordered.
constexpr size_t Short = 8;

//===----------------------------------------------------------------------===//
// Order and moral strength
//===----------------------------------------------------------------------===//

bool Checker::isOrdered(ActorId Id, uint32_t Time, const Op &O) const {
  return Id == O.Id || O.Known->get(Id) >= Time;
}

uint32_t Checker::unorderedLanes(const WeakRecord &R, const Op &O,
                                 bool &Own) const {
  const uint32_t *Times = O.Known->warp(R.Warp);
  uint32_t Unordered = 0;
  for (uint32_t Left = R.Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = unsigned(std::countr_zero(Left));
    if (Times && Times[Lane] >= R.Time)
      continue;
    if (R.Warp * Clock::Fan + Lane == O.Id)
      Own = true;
    else
      Unordered |= uint32_t(1) << Lane;
  }
  return Unordered;
}

bool Checker::isMorallyStrong(const StrongRecord &S, const Op &O,
                              uint16_t Mask) const {
  return O.isStrong() && S.Range == Mask &&
         scopesMeet(Who.note(S.Note).Where, S.Within, O.Where, O.A.Within);
}

/// With every record of the list.
bool Checker::isMorallyStrong(const StrongList &L, const Op &O,
                              uint16_t Mask) const {
  if (!O.isStrong() || L.Range != Mask)
    return false;
  if (L.Least >= Scope::GPU && O.A.Within >= Scope::GPU)
    return true;
  return L.Block && *L.Block == O.Where.blockKey();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

void Checker::checkWeak(std::vector<WeakRecord> &List, bool IsWrites,
                        Verified *Before, const Op &O, uint64_t Base,
                        uint16_t Mask) {
  // What a weak write finds ordered before it, it stands for.
  const bool Forgets = O.A.IsWrite && !O.isStrong();
  bool All = true;
  size_t Out = 0;
  size_t In = Before && !Forgets ? Before->known(*O.Known) : 0;
  for (Out = In; In < List.size(); ++In) {
    WeakRecord R = List[In];
    const uint16_t Common = R.Mask & Mask;
    bool Own = false;
    const uint32_t Unordered = Common ? unorderedLanes(R, O, Own) : 0;
    All &= Common && !Unordered && !Own;
    if (Unordered) {
      EarlierAccess E;
      E.Id = R.Warp * Clock::Fan + unsigned(std::countr_zero(Unordered));
      E.Time = R.Time;
      E.Instruction = R.Instruction;
      (IsWrites ? E.IsWrite : E.IsRead) = true;
      E.Size = uint32_t(std::popcount(R.Mask));
      Sink.race(E, O, Base + unsigned(std::countr_zero(Common)),
                uint32_t(std::popcount(Unordered)));
    }
    if (Forgets && Common) {
      if (Common == R.Mask)
        R.Lanes = Unordered;
      else if (!Unordered)
        R.Mask &= ~Mask;
    }
    if (R.Lanes)
      List[Out++] = R;
  }
  List.resize(Out);
  if (!Before)
    return;
  if (Forgets)
    Before->Count = 0;
  else if (All)
    *Before = {*O.Known, List.size()};
}

void Checker::checkStrong(StrongList &List, const Op &O, uint64_t Base,
                          uint16_t Mask) {
  if (List.Records.empty() || isMorallyStrong(List, O, Mask))
    return;
  const bool Forgets = O.A.IsWrite && !O.isStrong();
  // What the thread has learnt through one chain, asked for once a chain.
  const Chain *Last = nullptr;
  std::optional<uint32_t> SeenTo;
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
      E.IsRead = S.IsRead;
      E.IsWrite = S.IsWrite;
      E.IsAtomic = S.IsAtomic;
      E.Order = S.Order;
      E.Within = S.Within;
      E.Size = uint32_t(std::popcount(S.Range));
      E.OverlapsCompletely = S.Range == Mask;
      const uint16_t Common = S.Mask & Mask;
      Sink.race(E, O, Base + unsigned(std::countr_zero(Common)), 1);
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
    if (S.End <= Begin || End <= S.Begin || !(S.IsWrite || O.A.IsWrite) ||
        isOrdered(S.Id, S.Time, O))
      continue;
    EarlierAccess E;
    E.Id = S.Id;
    E.Time = S.Time;
    E.Instruction = S.Instruction;
    (S.IsWrite ? E.IsWrite : E.IsRead) = true;
    E.Size = S.End - S.Begin;
    Sink.race(E, O, PageBase + std::max(S.Begin, Begin), 1);
  }
}

void Checker::checkGranule(Granule &G, const Op &O, uint64_t Base,
                           uint16_t Mask) {
  if (!G.Writes.empty())
    checkWeak(G.Writes, true, nullptr, O, Base, Mask);
  if (O.A.IsWrite && !G.Reads.empty()) {
    if (G.Reads.size() > Short && !G.ReadsBefore)
      G.ReadsBefore = std::make_unique<Verified>();
    checkWeak(G.Reads, false, G.ReadsBefore.get(), O, Base, Mask);
  }
  if (!G.Strong)
    return;
  checkStrong(G.Strong->Writes, O, Base, Mask);
  if (O.A.IsWrite)
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

void Checker::rememberWrite(Granule &G, const Op &O, uint16_t Mask) {
  const WeakRecord New = recordOf(O, Mask);
  for (size_t I = G.Writes.size(); I-- > 0;)
    if (isMergeable(G.Writes[I], New)) {
      G.Writes[I].Lanes |= New.Lanes;
      return;
    } else if (G.Writes.size() - I >= Short) {
      break;
    }
  G.Writes.push_back(New);
}

void Checker::rememberRead(Granule &G, const Op &O, uint16_t Mask) {
  const WeakRecord New = recordOf(O, Mask);
  size_t Found = G.Reads.size();
  bool Dead = false;
  const size_t First = G.Reads.size() > Short ? G.Reads.size() - Short : 0;
  for (size_t I = G.Reads.size(); I-- > First;) {
    WeakRecord &R = G.Reads[I];
    if (R.Warp != New.Warp)
      continue;
    if (isMergeable(R, New)) {
      Found = I;
    } else if (R.Lanes & New.Lanes && !(R.Mask & ~Mask)) {
      R.Lanes &= ~New.Lanes;
      Dead |= !R.Lanes;
    }
  }
  if (Found < G.Reads.size()) {
    if (G.ReadsBefore)
      G.ReadsBefore->changed(Found);
    G.Reads[Found].Lanes |= New.Lanes;
  } else {
    G.Reads.push_back(New);
  }
  if (G.Reads.size() >= G.PruneAt) {
    for (size_t I = 0; I + 1 < G.Reads.size(); ++I) {
      WeakRecord &R = G.Reads[I];
      bool Own = false;
      if (!(R.Mask & ~Mask) && !isMergeable(R, New))
        R.Lanes = unorderedLanes(R, O, Own);
      Dead |= !R.Lanes;
    }
    G.PruneAt = 0;
  }
  if (Dead) {
    std::erase_if(G.Reads, [](const WeakRecord &R) { return !R.Lanes; });
    if (G.ReadsBefore)
      G.ReadsBefore->Count = 0;
  }
  if (!G.PruneAt)
    G.PruneAt = uint32_t(std::max<size_t>(16, 2 * G.Reads.size()));
}

void Checker::pruneStrong(StrongList &L, bool IsWrites, const Op &O,
                          uint16_t Mask) {
  if (L.Records.size() < L.PruneAt || !O.GridStart || O.A.Within < Scope::GPU ||
      (IsWrites && !O.A.IsWrite))
    return;
  L.eraseIf([&](const StrongRecord &S) {
    return S.Range == Mask && S.Within >= Scope::GPU &&
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
  S.IsRead = O.A.IsRead;
  S.IsWrite = O.A.IsWrite;
  S.IsAtomic = O.A.IsAtomic;
  S.Position = Position;
  S.Link = std::move(Link);
  StrongList &L = O.A.IsWrite ? G.Strong->Writes : G.Strong->Reads;
  pruneStrong(L, O.A.IsWrite, O, Mask);
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
  if (O.A.IsWrite) {
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
    if (!O.A.IsWrite)
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
    return Begin <= S.Begin && S.End <= End && (O.A.IsWrite || !S.IsWrite) &&
           isOrdered(S.Id, S.Time, O);
  });
  P.Stretches.push_back(
      {O.Id, O.Time, Begin, End, O.A.Instruction, O.A.IsWrite});
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
