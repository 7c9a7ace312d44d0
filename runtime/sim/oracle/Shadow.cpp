// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accesses that still matter, by byte.
#include "Shadow.h"

#include <algorithm>

using namespace crsan::sim;

//===----------------------------------------------------------------------===//
// Chain
//===----------------------------------------------------------------------===//

void Chain::observe(ActorId Id, uint32_t Time, uint32_t Position) {
  const auto [It, IsNew] = LastOf.try_emplace(Id, uint32_t(Sightings.size()));
  if (!IsNew) {
    Sighting &Last = Sightings[It->second];
    if (Last.Position >= Position)
      return; // Whoever comes after this comes after the other.
    if (Last.Time == Time) {
      // Nobody can know the one without the other.
      Last.Position = Position;
      return;
    }
    It->second = uint32_t(Sightings.size());
  }
  Sightings.push_back({Id, Time, Position});
}

std::optional<uint32_t> Chain::knownTo(ActorId Id, const Clock &Known) const {
  std::optional<uint32_t> Latest;
  for (auto It = Sightings.rbegin(); It != Sightings.rend(); ++It)
    if (!Latest || It->Position > *Latest)
      if (It->Id == Id || Known.get(It->Id) >= It->Time)
        Latest = It->Position;
  return Latest;
}

//===----------------------------------------------------------------------===//
// StrongList
//===----------------------------------------------------------------------===//

void StrongList::summarise(const StrongRecord &R, const Place &Where) {
  if (Records.size() == 1) {
    Range = R.MayBeWider ? 0 : R.Range;
    Least = R.Within;
    Block = Where.blockKey();
    Device = Where.device();
    return;
  }
  if (Range != R.Range || R.MayBeWider)
    Range = 0;
  Least = std::min(Least, R.Within);
  if (Block != Where.blockKey())
    Block.reset();
  if (Device != Where.device())
    Device.reset();
}

/// Records of one key replace each other.
static uint64_t keyOf(const StrongRecord &R) {
  return R.Id << 19 | uint64_t(R.MayBeWider) << 18 | uint64_t(R.Range) << 2 |
         uint64_t(R.Within);
}

constexpr size_t Many = 16;

void StrongList::reindex() {
  IndexOf.clear();
  if (Records.size() > Many)
    for (uint32_t I = 0; I < Records.size(); ++I)
      IndexOf[keyOf(Records[I])] = I;
}

/// A later access of the same kind by the same thread stands for an earlier
/// one: whoever comes after it comes after both.
void StrongList::add(StrongRecord R, const Place &Where) {
  const uint64_t Key = keyOf(R);
  size_t Index = Records.size();
  if (Records.size() > Many) {
    if (const auto It = IndexOf.find(Key); It != IndexOf.end())
      Index = It->second;
  } else {
    for (size_t I = 0; I < Records.size() && Index == Records.size(); ++I)
      if (keyOf(Records[I]) == Key)
        Index = I;
  }
  Before.changed(Index);
  if (Index < Records.size()) {
    Records[Index] = std::move(R);
    return summarise(Records[Index], Where);
  }
  Records.push_back(std::move(R));
  summarise(Records.back(), Where);
  if (Records.size() == Many + 1)
    reindex();
  else if (Records.size() > Many)
    IndexOf[Key] = uint32_t(Index);
}

//===----------------------------------------------------------------------===//
// Shadow
//===----------------------------------------------------------------------===//

Page &Shadow::page(uint64_t Address) {
  const uint64_t Number = Address / PageBytes;
  auto &Slot = Cache[Number % CacheSize];
  if (Slot.Number == Number)
    return *Slot.P;
  std::unique_ptr<Page> &P = Pages[Number];
  if (!P) {
    P = std::make_unique<Page>();
    if (SharedAddress::is(Address))
      SharedPages[SharedAddress::block(Address)].push_back(Number);
  }
  Slot.Number = Number;
  Slot.P = P.get();
  return *P;
}

static void eraseStretches(Page &P, uint32_t Begin, uint32_t End) {
  std::vector<StretchRecord> Kept;
  for (const StretchRecord &S : P.Stretches) {
    StretchRecord Before = S, After = S;
    Before.End = std::min(S.End, Begin);
    After.Begin = std::max(S.Begin, End);
    for (const StretchRecord &Part : {Before, After})
      if (Part.Begin < Part.End)
        Kept.push_back(Part);
  }
  P.Stretches = std::move(Kept);
}

static void eraseBytes(Granule &G, uint16_t Mask) {
  for (WeakList *List : {&G.Writes, &G.Reads}) {
    std::erase_if(List->Records,
                  [&](WeakRecord &R) { return (R.Mask &= ~Mask) == 0; });
    List->changed();
  }
  if (!G.Strong)
    return;
  for (StrongList *List : {&G.Strong->Reads, &G.Strong->Writes})
    List->eraseIf([&](StrongRecord &R) { return (R.Mask &= ~Mask) == 0; });
  std::erase_if(G.Strong->Points,
                [&](const SyncPoint &S) { return S.Range & Mask; });
}

void Shadow::erase(uint64_t Begin, uint64_t End) {
  for (uint64_t Number = Begin / PageBytes; Number * PageBytes < End;
       ++Number) {
    const auto It = Pages.find(Number);
    if (It == Pages.end())
      continue;
    const uint64_t Base = Number * PageBytes;
    const uint32_t First = uint32_t(std::max(Begin, Base) - Base);
    const uint32_t Last = uint32_t(std::min(End, Base + PageBytes) - Base);
    if (First == 0 && Last == PageBytes) {
      Cache[Number % CacheSize] = {};
      Pages.erase(It);
      continue;
    }
    Page &P = *It->second;
    eraseStretches(P, First, Last);
    for (unsigned I = First / GranuleBytes; I * GranuleBytes < Last; ++I) {
      const uint32_t At = I * GranuleBytes;
      const uint32_t Low = std::max(First, At) - At;
      const uint32_t High = std::min(Last, At + GranuleBytes) - At;
      if (P.isTouched(I))
        eraseBytes(P.Granules[I],
                   uint16_t(((1u << High) - 1) & ~((1u << Low) - 1)));
    }
  }
}

void Shadow::eraseShared(uint64_t BlockUid) {
  const auto It = SharedPages.find(uint32_t(BlockUid));
  if (It == SharedPages.end())
    return;
  for (uint64_t Number : It->second) {
    Cache[Number % CacheSize] = {};
    Pages.erase(Number);
  }
  SharedPages.erase(It);
}

void Shadow::clear() {
  Pages.clear();
  SharedPages.clear();
  for (auto &Slot : Cache)
    Slot = {};
}
