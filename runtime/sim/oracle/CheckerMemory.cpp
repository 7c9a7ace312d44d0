// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses are remembered.
#include "Checker.h"

#include <algorithm>

using namespace crsan::sim;

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
    return S.Range == Mask && S.Within >= O.A.Within &&
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
  P.Stretches.push_back({O.Id, O.Time, Begin, End, O.A.Instruction,
                         O.A.writes(),
                         KeepsAll && O.A.writes() ? *O.Known : Clock()});
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
