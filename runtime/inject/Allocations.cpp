//===- Allocations.cpp - Memory that the program's kernels may touch ------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Allocations.h"

#include <algorithm>
#include <iterator>

namespace crsan {

std::optional<MemoryRange> Allocations::remove(uint64_t Base) {
  auto Found = Live.find(Base);
  if (Found == Live.end())
    return std::nullopt;
  MemoryRange Range = Found->second;
  Live.erase(Found);
  return Range;
}

std::vector<MemoryRange> Allocations::removeWithin(uint64_t Base,
                                                   uint64_t Size) {
  std::vector<MemoryRange> Gone;
  auto Begin = Live.lower_bound(Base), End = Live.lower_bound(Base + Size);
  for (auto It = Begin; It != End; ++It)
    Gone.push_back(It->second);
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

void Allocations::forget(CUcontext Dead) {
  std::erase_if(Live,
                [=](const auto &Entry) { return Entry.second.Owner == Dead; });
  std::erase_if(Freeing,
                [=](const MemoryRange &Range) { return Range.Owner == Dead; });
}

} // namespace crsan
