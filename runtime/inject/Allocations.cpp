//===- Allocations.cpp - Memory that the program's kernels may touch ------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Allocations.h"

#include "Report/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace crsan {

void Allocations::add(MemoryRange Range) {
  if (Range.How)
    Range.Number = ++Number;
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

std::optional<MemoryRange> Allocations::remove(uint64_t Base) {
  auto Found = Live.find(Base);
  if (Found == Live.end())
    return std::nullopt;
  MemoryRange Range = Found->second;
  Live.erase(Found);
  remember(Range);
  return Range;
}

std::vector<MemoryRange> Allocations::removeWithin(uint64_t Base,
                                                   uint64_t Size) {
  std::vector<MemoryRange> Gone;
  auto Begin = Live.lower_bound(Base), End = Live.lower_bound(Base + Size);
  for (auto It = Begin; It != End; ++It) {
    Gone.push_back(It->second);
    remember(It->second);
  }
  Live.erase(Begin, End);
  return Gone;
}

void Allocations::freeing(uint64_t Base) {
  if (std::optional<MemoryRange> Range = remove(Base))
    Freeing.push_back(*Range);
}

std::vector<MemoryRange> Allocations::takeFreed(CUcontext Context) {
  auto Rest = std::partition(
      Freeing.begin(), Freeing.end(),
      [=](const MemoryRange &Range) { return !Range.isFor(Context); });
  std::vector<MemoryRange> Gone(Rest, Freeing.end());
  Freeing.erase(Rest, Freeing.end());
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
  std::for_each(Freeing.begin(), Freeing.end(), Keep);
  return Found;
}

bool Allocations::isHosts(uint64_t Address) const {
  auto After = Live.upper_bound(Address);
  if (After == Live.begin())
    return false;
  const MemoryRange &Range = std::prev(After)->second;
  return Range.isHosts() && Address - Range.Base < Range.Size;
}

std::string Allocations::describe(CUcontext Context, uint64_t Address) const {
  if (HasForgotten)
    return {};
  const MemoryRange *Found = nullptr;
  bool IsSame = true, IsOne = true;
  auto Look = [&](const MemoryRange &Range) {
    if (!Range.How || !Range.isFor(Context) || Address < Range.Base ||
        Address - Range.Base >= Range.Size)
      return;
    if (Found) {
      IsOne = false;
      IsSame &= Found->Base == Range.Base && Found->Size == Range.Size &&
                std::string_view(Found->How) == Range.How;
    }
    Found = &Range;
  };
  for (const auto &[Base, Range] : Live)
    Look(Range);
  std::for_each(Past.begin(), Past.end(), Look);
  if (!Found || !IsSame)
    return {};
  return fmt::format("byte {} of {} from {}{}", Address - Found->Base,
                     counted(Found->Size, "byte"), Found->How,
                     IsOne ? fmt::format(" (allocation {})", Found->Number)
                           : "");
}

void Allocations::forget(CUcontext Dead) {
  std::erase_if(Live, [=, this](const auto &Entry) {
    if (Entry.second.Owner == Dead)
      remember(Entry.second);
    return Entry.second.Owner == Dead;
  });
  std::erase_if(Freeing,
                [=](const MemoryRange &Range) { return Range.Owner == Dead; });
}

} // namespace crsan
