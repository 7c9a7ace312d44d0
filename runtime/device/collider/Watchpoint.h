// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that meet while one sleeps.
#ifndef CRSAN_DEVICE_COLLIDER_WATCHPOINT_H
#define CRSAN_DEVICE_COLLIDER_WATCHPOINT_H

#include "common/Memory.h"

namespace crsan::device {

/// The table of watchpoints of this context.
DEVICE Watchpoints &watchpoints() {
  return *reinterpret_cast<Watchpoints *>(__crsan_config.Watchpoints);
}

/// Windows whose interval is larger than this set no watchpoints.
constexpr uint32_t MaxWatchInterval = 64;

/// An entry of the watchpoint table, and the key that this thread would write
/// into the entry.
struct Watched {
  uint64_t *Word; ///< Null where the access cannot be watched.
  /// Address, bytes, whether the access writes, and a set lowest bit.
  uint64_t Key;
  bool IsShared;

  DEVICE auto &shared() const {
    return *reinterpret_cast<SharedWatchpoint *>(Word);
  }
  /// Whether the word `Other`, of the same entry, is the key of an access of
  /// overlapping bytes, and one of the two accesses writes.
  DEVICE bool conflictsWith(uint64_t Other) const {
    const uint64_t Place = IsShared ? 0x1fffc00 : ~uint64_t(0x3ff);
    return (Other & 1) != 0 && ((Other ^ Key) & Place) == 0 &&
           (Other & Key & 0x3fc) != 0 && ((Other | Key) & 2) != 0;
  }
};

/// The entry and key for the bytes from `A` on, at most `Size` of them, that
/// lie in the aligned 8 bytes around `A`. In a cluster a shared address may
/// name another block's memory, so shared memory of clusters is not watched.
DEVICE Watched watchedAt(Address A, uint64_t Size, bool IsWrite) {
  const uint32_t From = A & 7;
  const uint32_t To = Size < 8 - From ? From + uint32_t(Size) : 8;
  const uint32_t Bytes = (1u << To) - (1u << From);
  const uint64_t Rest = Bytes << 2 | uint32_t(IsWrite) << 1 | 1;
  Address Aperture; // Generic address of the 4 GiB window of shared memory.
  asm("cvta.shared.u64 %0, 0;" : "=l"(Aperture));
  if ((A ^ Aperture) >> 32)
    return {&watchpoints().Global[(A >> 3) % Watchpoints::NumGlobal],
            A >> 3 << 10 | Rest, false};
  const uint32_t Unit = uint32_t(A & 0xffffff) >> 3;
  if (Unit >= 1 << 15 || spaceOf(A) != Space::Shared ||
      __crsan_cluster_extent(0) * __crsan_cluster_extent(1) *
              __crsan_cluster_extent(2) !=
          1)
    return {nullptr, 0, true};
  uint32_t Sm;
  asm("mov.u32 %0, %%smid;" : "=r"(Sm));
  return {&watchpoints().Shared[(Unit + mix(Sm)) % Watchpoints::NumShared].Word,
          uint64_t(Unit) << 10 | Rest, true};
}

/// Tells the thread that watches the bytes of `W` that this thread is about to
/// access them at site `S`. The watching thread receives the message if and
/// only if it is still asleep.
DEVICE void tellWatcher(const Site &S, const Watched &W) {
  if (!W.Word)
    return;
  const uint64_t Seen = loadRelaxed(*W.Word);
  if (!W.conflictsWith(Seen))
    return;
  if (W.IsShared) {
    // The grid and block are read between two reads of one version of the
    // entry, so they belong to the word.
    __nvvm_membar_gl();
    if (loadRelaxed(W.shared().Grid) != gridHere() ||
        loadRelaxed(W.shared().Block) != blockHere())
      return;
    __nvvm_membar_gl();
  }
  exchangeIf(*W.Word, Seen, Address(&S));
}

/// Sets a watchpoint if the entry is free. Returns the word written, or 0.
DEVICE uint64_t watch(const Watched &W) {
  if (!W.Word)
    return 0;
  if (!W.IsShared)
    return exchangeIf(*W.Word, 0, W.Key) ? W.Key : 0;
  constexpr uint64_t Claimed = 2;
  if (!exchangeIf(*W.Word, 0, Claimed))
    return 0;
  __nvvm_membar_gl(); // Makes the version of the last owner visible.
  auto &Entry = W.shared();
  const uint64_t Version = loadRelaxed(Entry.Version) + 1;
  storeRelaxed(Entry.Version, Version);
  storeRelaxed(Entry.Grid, gridHere());
  storeRelaxed(Entry.Block, blockHere());
  __nvvm_membar_gl();
  const uint64_t Word = Version << 25 | W.Key;
  storeRelaxed(*W.Word, Word);
  return Word;
}

/// Clears the watchpoint. Returns the site of a thread that came by meanwhile,
/// or null. `Word` is what `watch` returned.
DEVICE Site *unwatch(const Watched &W, uint64_t Word) {
  if (Word == 0)
    return nullptr;
  const uint64_t Last = exchange(*W.Word, 0);
  return Last == Word ? nullptr : reinterpret_cast<Site *>(Last);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_WATCHPOINT_H
