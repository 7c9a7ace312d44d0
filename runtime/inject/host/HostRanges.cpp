// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that host and GPU share, for checks of host code.

#include "host/HostRanges.h"

#include <algorithm>

namespace crsan {

template <typename Change> void HostRanges::change(Change What) {
  Version.store(Version.load(Relaxed) + 1, Relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  What();
  Version.store(Version.load(Relaxed) + 1, std::memory_order_release);
}

/// The first range that begins above the address. Of a table that is being
/// changed the answer is any number up to Count.
size_t HostRanges::firstAbove(uint64_t Address) const {
  const Range *Ranges = Table.load(std::memory_order_acquire);
  size_t Low = 0, High = Count.load(Relaxed);
  while (Low < High) {
    const size_t Middle = Low + (High - Low) / 2;
    if (Ranges[Middle].Begin.load(Relaxed) <= Address)
      Low = Middle + 1;
    else
      High = Middle;
  }
  return Low;
}

void HostRanges::move(size_t To, size_t From) {
  Range *Ranges = Table.load(Relaxed);
  Ranges[To].Begin.store(Ranges[From].Begin.load(Relaxed), Relaxed);
  Ranges[To].End.store(Ranges[From].End.load(Relaxed), Relaxed);
}

void HostRanges::add(uint64_t Base, uint64_t Size) {
  std::lock_guard Guard(Lock);
  const size_t Old = Count.load(Relaxed);
  if (Old == Capacity) {
    Capacity = std::max<size_t>(64, 2 * Capacity);
    auto *Larger = new Range[Capacity];
    for (size_t I = 0; I < Old; ++I) {
      const Range &From = Table.load(Relaxed)[I];
      Larger[I].Begin.store(From.Begin.load(Relaxed), Relaxed);
      Larger[I].End.store(From.End.load(Relaxed), Relaxed);
    }
    // Equal to the old one: nobody has to look again.
    Table.store(Larger, std::memory_order_release);
  }
  const size_t At = firstAbove(Base);
  change([&] {
    for (size_t I = Old; I > At; --I)
      move(I, I - 1);
    Range &New = Table.load(Relaxed)[At];
    New.Begin.store(Base, Relaxed);
    New.End.store(Base + Size, Relaxed);
    Count.store(Old + 1, Relaxed);
  });
}

bool HostRanges::remove(uint64_t Base) {
  std::lock_guard Guard(Lock);
  const size_t Old = Count.load(Relaxed), Above = firstAbove(Base);
  if (Above == 0 || Table.load(Relaxed)[Above - 1].Begin.load(Relaxed) != Base)
    return false;
  change([&] {
    Count.store(Old - 1, Relaxed);
    for (size_t I = Above; I < Old; ++I)
      move(I - 1, I);
  });
  return true;
}

uint64_t HostRanges::endOf(uint64_t Address) const {
  // Whoever changes the table may be the thread that this one interrupts.
  constexpr unsigned MostTries = 16;
  for (unsigned Try = 0; Try < MostTries; ++Try) {
    const uint32_t Before = Version.load(std::memory_order_acquire);
    if (Before & 1)
      continue;
    const size_t Above = firstAbove(Address);
    const uint64_t End =
        Above ? Table.load(Relaxed)[Above - 1].End.load(Relaxed) : 0;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (Version.load(Relaxed) == Before)
      return Address < End ? End : 0;
  }
  return 0;
}

HostRanges::Bounds HostRanges::bounds() const {
  std::lock_guard Guard(Lock);
  const size_t Number = Count.load(Relaxed);
  if (Number == 0)
    return {};
  const Range *Ranges = Table.load(Relaxed);
  return {Ranges[0].Begin.load(Relaxed), Ranges[Number - 1].End.load(Relaxed)};
}

} // namespace crsan
