// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which pages have which shadow.

#include "shadow/MetadataShadow.h"

#include "common/Driver.h"
#include "common/Log.h"

#include <algorithm>
#include <utility>

namespace crsan {

void MetadataShadow::add(std::span<const MemoryRange> Ranges) {
  for (const MemoryRange &Range : Ranges) {
    if (Range.Size == 0)
      continue;
    uint64_t Last = (Range.Base + Range.Size - 1) >> abi::PageShift;
    const uint32_t Owner = makeOwner(Range);
    for (uint64_t Number = Range.Base >> abi::PageShift; Number <= Last;
         ++Number) {
      auto [Found, IsNew] = Pages.try_emplace(Number);
      Page &P = Found->second;
      ++P.Users;
      if (IsNew)
        P.Owner = Owner;
      else
        dropOwner(P.Owner);
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
  }
  Writes.flush();
  retireForBare();
  if (!isRetiring())
    notePeak();
}

void MetadataShadow::remove(const MemoryRange &Range) {
  if (Range.Size == 0)
    return;
  uint64_t Last = (Range.Base + Range.Size - 1) >> abi::PageShift;
  auto It = Pages.lower_bound(Range.Base >> abi::PageShift);
  // An allocation with a number is the only user of its pages.
  if (It != Pages.end() && It->first <= Last && It->second.Owner)
    Owners[It->second.Owner] = {};
  while (It != Pages.end() && It->first <= Last) {
    Page &P = It->second;
    bool WasHosts = Range.isHosts() && --P.HostUsers == 0;
    if (--P.Users != 0) {
      if (WasHosts && P.Kind != Layout::None)
        change(*It, P.Kind, P.Address);
      ++It;
      continue;
    }
    uncover(*It);
    --NumPages[size_t(Layout::None)];
    It = Pages.erase(It);
  }
  Writes.flush();
}

/// Gives a number to an allocation whose pages no other allocation overlaps so
/// far. 0: another allocation overlaps, or no number is left.
uint32_t MetadataShadow::makeOwner(const MemoryRange &Range) {
  const uint64_t First = Range.Base >> abi::PageShift;
  const uint64_t Last = (Range.Base + Range.Size - 1) >> abi::PageShift;
  const auto It = Pages.lower_bound(First);
  if (Range.isHosts() || Range.HasVariables ||
      (It != Pages.end() && It->first <= Last))
    return 0;
  const auto Free = std::find_if(Owners.begin() + 1, Owners.end(),
                                 [](const auto &O) { return O.second == 0; });
  if (Free == Owners.end())
    return 0;
  *Free = {First, Last - First + 1};
  return Free - Owners.begin();
}

void MetadataShadow::dropOwner(uint32_t Owner) {
  if (!Owner)
    return;
  const auto [First, Number] = std::exchange(Owners[Owner], {});
  for (auto It = Pages.find(First);
       It != Pages.end() && It->first < First + Number; ++It) {
    It->second.Owner = 0;
    if (It->second.Kind != Layout::None)
      change(*It, It->second.Kind, It->second.Address);
  }
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
