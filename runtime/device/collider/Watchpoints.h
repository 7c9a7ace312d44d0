//===- Watchpoints.h - What sleeping threads watch -------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_COLLIDER_WATCHPOINTS_H
#define CRSAN_DEVICE_COLLIDER_WATCHPOINTS_H

#include "common/Memory.h"

namespace crsan::device {

DEVICE Watchpoints &watchpoints() {
  return *reinterpret_cast<Watchpoints *>(__crsan_config.Watchpoints);
}

/// Windows that are checked less often than this are not watched any more.
constexpr uint32_t MaxWatchInterval = 64;

/// An entry of the table and what this thread would write there.
struct Watched {
  uint64_t *Word; ///< Null where nothing can be watched.
  uint64_t Key;
  bool IsShared;

  DEVICE auto &shared() const {
    return *reinterpret_cast<SharedWatchpoint *>(Word);
  }
  /// Whether `Other`, of the same entry, is about the same bytes and conflicts.
  DEVICE bool conflictsWith(uint64_t Other) const {
    const uint64_t Place = IsShared ? 0x1fffc00 : ~uint64_t(0x3ff);
    return (Other & 1) != 0 && ((Other ^ Key) & Place) == 0 &&
           (Other & Key & 0x3fc) != 0 && ((Other | Key) & 2) != 0;
  }
};

DEVICE uint64_t gridHere() {
  uint64_t Grid;
  asm("mov.u64 %0, %%gridid;" : "=l"(Grid));
  return Grid;
}
DEVICE uint64_t blockHere() {
  return uint64_t(__nvvm_read_ptx_sreg_ctaid_z()) << 48 |
         uint64_t(__nvvm_read_ptx_sreg_ctaid_y()) << 32 |
         __nvvm_read_ptx_sreg_ctaid_x();
}

/// The bytes from `A` on, at most `Size`, that lie in the 8 aligned ones at
/// `A`. In a cluster a shared address may be another block's, so it is not
/// watched.
DEVICE Watched watchedAt(Address A, uint64_t Size, bool IsWrite) {
  const uint32_t From = A & 7;
  const uint32_t To = Size < 8 - From ? From + uint32_t(Size) : 8;
  const uint32_t Bytes = (1u << To) - (1u << From);
  const uint64_t Rest = Bytes << 2 | uint32_t(IsWrite) << 1 | 1;
  Address Aperture; // Of all shared memory, 4 GiB, in a generic address.
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

/// Tells a thread that watches these bytes that this one is about to access
/// them, too, by site `S`. It is told if and only if it is still asleep.
DEVICE void tellWatcher(const Site &S, const Watched &W) {
  if (!W.Word)
    return;
  const uint64_t Seen = loadRelaxed(*W.Word);
  if (!W.conflictsWith(Seen))
    return;
  if (W.IsShared) {
    // Read between two sights of one version: they are what it was set with.
    __nvvm_membar_gl();
    if (loadRelaxed(W.shared().Grid) != gridHere() ||
        loadRelaxed(W.shared().Block) != blockHere())
      return;
    __nvvm_membar_gl();
  }
  exchangeIf(*W.Word, Seen, Address(&S));
}

/// Sets a watchpoint, if the entry is free. Returns its word, or 0.
DEVICE uint64_t watch(const Watched &W) {
  if (!W.Word)
    return 0;
  if (!W.IsShared)
    return exchangeIf(*W.Word, 0, W.Key) ? W.Key : 0;
  constexpr uint64_t Claimed = 2;
  if (!exchangeIf(*W.Word, 0, Claimed))
    return 0;
  __nvvm_membar_gl(); // The version of whoever had it last.
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

/// Clears it. Returns the site of the thread that came by, or null.
DEVICE Site *unwatch(const Watched &W, uint64_t Word) {
  if (Word == 0)
    return nullptr;
  const uint64_t Last = exchange(*W.Word, 0);
  return Last == Word ? nullptr : reinterpret_cast<Site *>(Last);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_WATCHPOINTS_H
