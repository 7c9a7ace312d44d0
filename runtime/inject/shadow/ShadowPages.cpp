// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which pages have which shadow.

#include "shadow/MetadataShadow.h"

#include "common/Driver.h"
#include "common/Log.h"

#include <algorithm>
#include <utility>

namespace crsan {

static uint64_t firstPage(uint64_t Base) { return Base >> abi::PageShift; }
static uint64_t lastPage(uint64_t Base, uint64_t Size) {
  return (Base + Size - 1) >> abi::PageShift;
}

void MetadataShadow::add(std::span<const MemoryRange> Ranges) {
  for (const MemoryRange &Range : Ranges) {
    if (Range.Size == 0)
      continue;
    const uint64_t Last = lastPage(Range.Base, Range.Size);
    for (uint64_t Number = firstPage(Range.Base); Number <= Last; ++Number) {
      auto [Found, IsNew] = Pages.try_emplace(Number);
      Page &P = Found->second;
      ++P.Users;
      bool IsNewToHost = Range.isHosts() && P.HostUsers++ == 0;
      if (IsNew) {
        ++NumPages[size_t(Layout::None)];
        cover(*Found);
        continue;
      }
      // An index without shadow may be another page's.
      if (P.Kind == Layout::None)
        continue;
      forget(Range, *Found);
      if (IsNewToHost)
        change(*Found, P.Kind, P.Address);
    }
    number(Range);
  }
  Writes.flush();
  retireForBare();
  if (!isRetiring())
    notePeak();
}

void MetadataShadow::remove(const MemoryRange &Range) {
  if (Range.Size == 0)
    return;
  unnumber(Range.Base);
  const uint64_t Last = lastPage(Range.Base, Range.Size);
  auto It = Pages.lower_bound(firstPage(Range.Base));
  while (It != Pages.end() && It->first <= Last) {
    Page &P = It->second;
    bool WasHosts = Range.isHosts() && --P.HostUsers == 0;
    if (--P.Users != 0) {
      if (WasHosts && P.Kind != Layout::None)
        change(*It, P.Kind, P.Address);
      ++It;
      continue;
    }
    if (P.Owner >= abi::FirstSplitPage)
      TakenSplits.reset(P.Owner - abi::FirstSplitPage);
    uncover(*It);
    --NumPages[size_t(Layout::None)];
    It = Pages.erase(It);
  }
  Writes.flush();
}

/// Gives a number to an allocation, if all pages that it shares can be split.
/// If one cannot, no allocation that is in that page has a number from now on.
void MetadataShadow::number(const MemoryRange &Range) {
  const uint64_t Last = lastPage(Range.Base, Range.Size);
  const auto First = Pages.find(firstPage(Range.Base));
  bool HasOwn = false; // A page that it does not share.
  size_t Splits = 0;
  for (auto It = First; It != Pages.end() && It->first <= Last; ++It)
    if (It->second.Users > 1)
      Splits += It->second.Owner < abi::FirstSplitPage;
    else
      HasOwn = true;
  const bool CanSplit = Splits <= abi::NumSplitPages - TakenSplits.count();
  uint32_t Number = 0;
  if (CanSplit && !Range.isHosts() && !Range.HasVariables &&
      Range.Base % (1 << abi::PartShift) == 0) {
    const auto Begin = TakenNumbers.begin();
    const auto End = HasOwn ? Begin + abi::FirstSplitPage : TakenNumbers.end();
    const auto Free =
        std::find(Begin + (HasOwn ? 1 : abi::FirstSharedOwner), End, false);
    if (Free != End) {
      *Free = true;
      Number = Free - Begin;
      Owners[Range.Base] = {Range.Size, Number};
    }
  }
  for (auto It = First; It != Pages.end() && It->first <= Last; ++It) {
    const uint32_t Owner = It->second.Owner;
    if (It->second.Users > 1 && Owner < abi::FirstSplitPage) {
      if (CanSplit)
        split(*It);
      else if (Owner)
        unnumber(std::find_if(Owners.begin(), Owners.end(), [&](const auto &O) {
                   return O.second.Number == Owner;
                 })->first);
    }
    if (Number)
      own(*It, Range.Base, Range.Size, Number);
  }
}

/// Takes the number of the allocation that begins at `Base`, if it has one.
void MetadataShadow::unnumber(uint64_t Base) {
  const auto Found = Owners.find(Base);
  if (Found == Owners.end())
    return;
  const auto [Size, Number] = Found->second;
  const uint64_t Last = lastPage(Base, Size);
  for (auto It = Pages.find(firstPage(Base));
       It != Pages.end() && It->first <= Last; ++It)
    own(*It, Base, Size, 0);
  TakenNumbers[Number] = false;
  Owners.erase(Found);
}

/// From now on, parts of the page have numbers of their own.
void MetadataShadow::split(PageMap::value_type &Entry) {
  auto &[PageNumber, P] = Entry;
  size_t Split = 0;
  while (TakenSplits.test(Split))
    ++Split;
  TakenSplits.set(Split);
  Writes.clear(Tables + abi::OwnersOfSplitPagesAt +
                   Split * abi::PartsOfPage * sizeof(uint16_t),
               abi::PartsOfPage * sizeof(uint16_t));
  const uint32_t Owner =
      std::exchange(P.Owner, uint32_t(abi::FirstSplitPage + Split));
  if (P.Kind != Layout::None)
    change(Entry, P.Kind, P.Address);
  for (const auto &[Base, Of] : Owners)
    if (Owner && Of.Number == Owner)
      own(Entry, Base, Of.Size, Owner);
}

/// Enters the number of the allocation where it is in the page.
void MetadataShadow::own(PageMap::value_type &Entry, uint64_t Base,
                         uint64_t Size, uint32_t Number) {
  auto &[PageNumber, P] = Entry;
  if (P.Owner < abi::FirstSplitPage) {
    P.Owner = Number;
    if (P.Kind != Layout::None)
      change(Entry, P.Kind, P.Address);
    return;
  }
  const uint64_t Start = PageNumber << abi::PageShift;
  const uint64_t First = std::max(Base, Start) - Start;
  const uint64_t Last = std::min(Base + Size, Start + abi::PageBytes) - Start;
  const uint64_t FirstPart = First >> abi::PartShift;
  const uint64_t EndPart = ((Last - 1) >> abi::PartShift) + 1;
  Writes.fill(
      Tables + abi::OwnersOfSplitPagesAt +
          ((P.Owner - abi::FirstSplitPage) * abi::PartsOfPage + FirstPart) *
              sizeof(uint16_t),
      Number, EndPart - FirstPart);
}

void MetadataShadow::note(uint32_t abi::Metadata::*Fact) {
  Driver &D = theDriver();
  Header.*Fact = 1;
  const auto *First = reinterpret_cast<const char *>(&Header);
  const auto *From = reinterpret_cast<const char *>(&(Header.*Fact));
  CUresult Result = D.cuMemcpyHtoDAsync(Tables + (From - First), From,
                                        sizeof(uint32_t), Stream);
  if (Result == CUDA_SUCCESS)
    Result = D.cuStreamSynchronize(Stream);
  Writes.note(Result, "cuMemcpyHtoDAsync");
}

/// Clears the cells of the range: accesses before its allocation do not count.
void MetadataShadow::forget(const MemoryRange &Range,
                            const PageMap::value_type &Entry) {
  const auto &[Number, P] = Entry;
  const uint64_t Start = Number << abi::PageShift;
  uint64_t First = std::max(Range.Base, Start) - Start;
  uint64_t Last =
      std::min(Range.Base + Range.Size, Start + abi::PageBytes) - Start;
  const uint64_t Granule = P.Kind == Layout::Exact ? 4 : 4 * abi::CacheWays;
  First /= Granule;
  Last = (Last + Granule - 1) / Granule;
  Writes.clear(P.Address + First * sizeof(abi::Cell),
               (Last - First) * sizeof(abi::Cell));
}

/// Gives a page exact shadow if there is memory, or else cached shadow.
void MetadataShadow::cover(PageMap::value_type &Entry) {
  uint64_t Number = Entry.first;
  // Pages 2 TiB apart have one index: only the first of them can have shadow.
  if (!Indices.try_emplace(Number % abi::NumPages, Number).second)
    return;
  if (uint64_t Slot = WantsExact ? Memory.take() : 0) {
    ExactPages.insert(Number);
    Writes.clear(Slot, abi::ExactPageShadow);
    change(Entry, Layout::Exact, Slot);
  } else if (!coverCached(Entry)) {
    BarePages.insert(Number);
  }
}

bool MetadataShadow::coverCached(PageMap::value_type &Entry) {
  uint64_t Part = takePart();
  if (!Part)
    return false;
  Writes.clear(Part, abi::CachedPageShadow);
  change(Entry, Layout::Cached, Part);
  return true;
}

/// Shadow for a cached page, or 0.
uint64_t MetadataShadow::takePart() {
  if (Parts.empty()) {
    uint64_t Slot = Memory.take();
    if (!Slot)
      return 0;
    for (unsigned I = abi::CacheWays; I-- > 0;)
      Parts.push_back(Slot + I * abi::CachedPageShadow);
  }
  uint64_t Part = Parts.back();
  Parts.pop_back();
  return Part;
}

void MetadataShadow::uncover(PageMap::value_type &Entry) {
  auto [Number, Was] = Entry;
  if (Was.Kind == Layout::None) {
    if (BarePages.erase(Number))
      Indices.erase(Number % abi::NumPages);
    return;
  }
  change(Entry, Layout::None, 0);
  Indices.erase(Number % abi::NumPages);
  // The entry is cleared before anything else is done with the shadow, for all
  // goes through one stream. Only a kernel that uses freed memory could still
  // have the old entry.
  if (Was.Kind == Layout::Cached)
    return Parts.push_back(Was.Address);
  ExactPages.erase(Number);
  Memory.put(Was.Address);
}

/// Takes the shadow of so many exact pages. Kernels that run may have found it
/// already, so it is not used again before they have ended.
void MetadataShadow::retire(uint64_t Count) {
  if (isRetiring())
    return;
  while (Retired.size() < Count && !ExactPages.empty()) {
    const auto Last = std::prev(ExactPages.end());
    PageMap::value_type &Entry = *Pages.find(*Last);
    Retired.push_back(Entry.second.Address);
    change(Entry, Layout::None, 0);
    BarePages.insert(*Last);
    ExactPages.erase(Last);
  }
  Writes.flush();
}

/// Takes shadow of exact pages for those that have none, and for the exact
/// pages themselves: all of these become cached pages.
void MetadataShadow::retireForBare() {
  constexpr uint64_t Gained = abi::CacheWays - 1; // With each slot.
  if (!BarePages.empty())
    retire((BarePages.size() + Gained - 1) / Gained);
}

void MetadataShadow::settle() {
  const std::vector<uint64_t> Slots = std::exchange(Retired, {});
  // If the device could not be told, kernels may use the shadow for ever.
  if (Writes.hasFailed())
    return notePeak();
  for (uint64_t Slot : Slots)
    Memory.put(Slot);
  for (auto It = BarePages.begin(); It != BarePages.end();) {
    if (!coverCached(*Pages.find(*It)))
      break;
    It = BarePages.erase(It);
  }
  Writes.flush();
  retireForBare();
  notePeak();
}

uint64_t MetadataShadow::release(uint64_t Bytes) {
  if (Memory.held() == 0)
    return 0;
  const ShadowMemory::Info Now = ShadowMemory::ask();
  const uint64_t Wanted = Bytes + ShadowMemory::reserve(Now.Total) / 2;
  if (Now.Total == 0 || Now.Free >= Wanted)
    return 0;
  // Some more than is needed, for taking shadow from pages may make the program
  // wait.
  const uint64_t Missing = Wanted - Now.Free + Memory.held() / 8;
  const uint64_t Released = Memory.release(Missing);
  notePeak();
  theLog().detail(2, "gave {} MiB of shadow back to the program",
                  Released >> 20);
  return Missing - std::min(Missing, Released);
}

void MetadataShadow::makeRoom(uint64_t Bytes) {
  if (const uint64_t Missing = release(Bytes))
    retire(Missing / ShadowMemory::SlotBytes + 1);
}

void MetadataShadow::change(PageMap::value_type &Entry, Layout Kind,
                            uint64_t Address) {
  auto &[Number, P] = Entry;
  --NumPages[size_t(P.Kind)];
  ++NumPages[size_t(Kind)];
  P.Kind = Kind;
  P.Address = Address;
  uint64_t New = 0;
  if (Kind != Layout::None)
    New = abi::pageEntry(Number << abi::PageShift, Address,
                         (Kind == Layout::Cached ? abi::PageCached : 0) |
                             (P.HostUsers ? abi::PageHost : 0) |
                             P.Owner << abi::PageOwnerAt);
  Writes.setEntry(Number % abi::NumPages, New);
}

} // namespace crsan
