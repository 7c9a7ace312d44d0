// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses race.
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

uint32_t crsan::sim::unknownLanes(const WeakRecord &R, const Clock &Known) {
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

uint32_t crsan::sim::ownLane(uint64_t Warp, const Op &O) {
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
  const Scope Both = std::min(L.Least, O.A.Within);
  if (Both == Scope::System ||
      (Both == Scope::Device && L.Device == O.Where.device()))
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

/// Lanes of the record whose write no copy or fill is known to have overwritten
/// in the granule at `Begin` of the page. Only where every write is kept: else
/// the copy's has taken the record's place.
static uint32_t notOverwritten(const WeakRecord &R, const Page &P,
                               uint32_t Begin, uint32_t Lanes) {
  for (const StretchRecord &S : P.Stretches)
    if (S.IsWrite && S.Begin < Begin + GranuleBytes && Begin < S.End)
      Lanes &= unknownLanes(R, S.Known);
  return Lanes;
}

/// The last write of each byte that is known to the copy counts: an earlier one
/// may be that of another proxy.
void Checker::checkProxies(const Page &P, const Op &O, const Clock &Fenced,
                           uint64_t Base, uint16_t Mask) {
  const auto Begin = uint32_t(Base % PageBytes);
  Reporter Found(Sink, O);
  const std::vector<WeakRecord> &Records =
      P.Granules[Begin / GranuleBytes].Writes.Records;
  for (size_t I = Records.size(); I-- > 0 && Mask;) {
    const WeakRecord &R = Records[I];
    const uint16_t Common = R.Mask & Mask;
    const uint32_t Known = R.Lanes & ~unknownLanes(R, *O.Known);
    if (!Common || !Known)
      continue;
    Mask &= ~R.Mask;
    const uint32_t Lanes =
        notOverwritten(R, P, Begin, Known & unknownLanes(R, Fenced));
    const ActorNote &By = Who.noteOf(R.Warp * Clock::Fan);
    if (!Lanes || By.What != ActorNote::Kind::Threads ||
        By.Where.Grid != O.Where.Grid)
      continue;
    EarlierAccess E = earlier(R, Lanes, /*IsWrite=*/true);
    E.LacksProxyFence = true;
    Found.add(E, Base + unsigned(std::countr_zero(Common)),
              uint64_t(std::popcount(Lanes)));
  }
}

void Checker::proxies(const Op &O, const Clock &Fenced) {
  const uint64_t Last = O.A.Address + O.A.Size;
  for (uint64_t At = O.A.Address; At < Last;) {
    const uint64_t Base = At / GranuleBytes * GranuleBytes;
    const uint64_t End = std::min(Last, Base + GranuleBytes);
    const Page &P = Memory.page(Base);
    if (P.isTouched(Base % PageBytes / GranuleBytes))
      checkProxies(P, O, Fenced, Base, maskOf(At, uint32_t(End - At)));
    At = End;
  }
}
