// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that the program's kernels may touch.

#include "shadow/Allocations.h"

#include "Report/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace crsan {

void Allocations::add(MemoryRange Range) {
  if (Range.How)
    Range.Number = ++Number;
  if (Range.isHosts()) {
    HostsBegin = std::min(HostsBegin, Range.Base);
    HostsEnd = std::max(HostsEnd, Range.Base + Range.Size);
  }
  Live.emplace(Range.Base, Range);
}

void Allocations::remember(const MemoryRange &Gone) {
  constexpr size_t Most = 1 << 14;
  if (!Gone.How)
    return;
  if (Past.size() < Most)
    Past.push_back(Gone);
  else
    HasForgotten = true;
}

FreeCall Allocations::beginFree(RangeMap::iterator Begin,
                                RangeMap::iterator End) {
  if (Begin == End)
    return FreeCall::None;
  const FreeCall Call{++NumFreeCalls};
  std::vector<MemoryRange> &Ranges = FreeCalls[Call];
  for (auto It = Begin; It != End; ++It)
    Ranges.push_back(It->second);
  Live.erase(Begin, End);
  return Call;
}

FreeCall Allocations::beginFree(uint64_t Base) {
  auto Found = Live.find(Base);
  return beginFree(Found, Found == Live.end() ? Found : std::next(Found));
}

FreeCall Allocations::beginUnmap(uint64_t Base, uint64_t Size) {
  return beginFree(Live.lower_bound(Base), Live.lower_bound(Base + Size));
}

std::vector<MemoryRange> Allocations::endFree(FreeCall Call) {
  auto Found = FreeCalls.extract(Call);
  if (Found.empty())
    return {};
  for (const MemoryRange &Range : Found.mapped())
    remember(Range);
  return std::move(Found.mapped());
}

std::vector<MemoryRange> Allocations::cancelFree(FreeCall Call) {
  auto Found = FreeCalls.extract(Call);
  if (Found.empty())
    return {};
  for (const MemoryRange &Range : Found.mapped())
    Live.emplace(Range.Base, Range);
  return std::move(Found.mapped());
}

void Allocations::deferFree(FreeCall Call) {
  const std::vector<MemoryRange> Ranges = endFree(Call);
  Deferred.insert(Deferred.end(), Ranges.begin(), Ranges.end());
}

std::vector<MemoryRange> Allocations::takeFreed(CUcontext Context) {
  auto Rest = std::partition(
      Deferred.begin(), Deferred.end(),
      [=](const MemoryRange &Range) { return !Range.isFor(Context); });
  std::vector<MemoryRange> Gone(Rest, Deferred.end());
  Deferred.erase(Rest, Deferred.end());
  return Gone;
}

std::vector<MemoryRange> Allocations::of(CUcontext Context) const {
  std::vector<MemoryRange> Found;
  auto Keep = [&](const MemoryRange &Range) {
    if (Range.isFor(Context))
      Found.push_back(Range);
  };
  for (const auto &[Base, Range] : Live)
    Keep(Range);
  for (const auto &[Call, Ranges] : FreeCalls)
    std::for_each(Ranges.begin(), Ranges.end(), Keep);
  std::for_each(Deferred.begin(), Deferred.end(), Keep);
  return Found;
}

const MemoryRange *Allocations::at(uint64_t Address) const {
  auto After = Live.upper_bound(Address);
  if (After == Live.begin())
    return nullptr;
  const MemoryRange &Range = std::prev(After)->second;
  return Address - Range.Base < Range.Size ? &Range : nullptr;
}

const MemoryRange *Allocations::find(CUcontext Context, uint64_t Base,
                                     uint64_t Size) const {
  const MemoryRange *Range = at(Base);
  return Range && Range->isFor(Context) &&
                 Size <= Range->Size - (Base - Range->Base)
             ? Range
             : nullptr;
}

bool Allocations::isHosts(uint64_t Address) const {
  if (Address < HostsBegin || Address >= HostsEnd)
    return false;
  const MemoryRange *Range = at(Address);
  return Range && Range->isHosts();
}

bool Allocations::mayPointToHosts(std::span<const uint8_t> Bytes) const {
  uint64_t Address;
  for (size_t At = 0; At + sizeof(Address) <= Bytes.size(); ++At) {
    std::memcpy(&Address, Bytes.data() + At, sizeof(Address));
    if (isHosts(Address))
      return true;
  }
  return false;
}

PlaceInMemory Allocations::describe(CUcontext Context, uint64_t Address) const {
  if (HasForgotten)
    return {};
  const MemoryRange *Found = nullptr;
  bool IsSame = true, IsOne = true;
  uint32_t MadeAt = 0;
  auto Look = [&](const MemoryRange &Range) {
    if (!Range.How || !Range.isFor(Context) || Address < Range.Base ||
        Address - Range.Base >= Range.Size)
      return;
    if (Found) {
      IsOne = false;
      IsSame &= Found->Base == Range.Base && Found->Size == Range.Size &&
                std::string_view(Found->How) == Range.How;
    }
    MadeAt = !Found || MadeAt == Range.MadeAt ? Range.MadeAt : 0;
    Found = &Range;
  };
  for (const auto &[Base, Range] : Live)
    Look(Range);
  for (const auto &[Call, Ranges] : FreeCalls)
    std::for_each(Ranges.begin(), Ranges.end(), Look);
  std::for_each(Past.begin(), Past.end(), Look);
  if (!Found || !IsSame)
    return {};
  return {
      fmt::format("byte {} of {} from {}{}", Address - Found->Base,
                  counted(Found->Size, "byte"), Found->How,
                  IsOne ? fmt::format(" (allocation {})", Found->Number) : ""),
      MadeAt};
}

void Allocations::forget(CUcontext Dead) {
  const auto IsDead = [=](const MemoryRange &Range) {
    return Range.Owner == Dead;
  };
  std::erase_if(Live, [&](const auto &Entry) {
    if (IsDead(Entry.second))
      remember(Entry.second);
    return IsDead(Entry.second);
  });
  for (auto &[Call, Ranges] : FreeCalls)
    std::erase_if(Ranges, [&](const MemoryRange &Range) {
      if (IsDead(Range))
        remember(Range);
      return IsDead(Range);
    });
  std::erase_if(Deferred, IsDead);
}

} // namespace crsan
