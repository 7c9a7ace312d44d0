// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watchpoints: finds threads that are about to access the same bytes at the
// same time.
//
// A thread that waits between the two reads of a check leaves a watchpoint, in
// a table in device memory, on bytes that it is about to access. Another thread
// whose own check comes to these bytes meanwhile tells it so: the two accesses
// race, whatever the values are. Copies and matrix products that go on in the
// background are watched as well (CopyWatch.h, ProductWatch.h).
#ifndef CRSAN_DEVICE_COLLIDER_WATCHPOINT_H
#define CRSAN_DEVICE_COLLIDER_WATCHPOINT_H

#include "collider/Race.h"
#include "collider/Window.h"
#include "common/Memory.h"

namespace crsan::device {

/// The table of watchpoints of this context.
DEVICE Watchpoints &watchpoints() {
  return *reinterpret_cast<Watchpoints *>(__crsan_config.Watchpoints);
}

/// Whether a window that is checked once in `Interval` executions sets
/// watchpoints. Where only the number of checks limits them, few warps wait in
/// windows that are checked rarely, and few threads meet there.
DEVICE bool mayMeet(uint32_t Interval) {
  constexpr uint32_t MostInterval = 64;
  return __crsan_config.CyclesPerCycle != 0 || Interval <= MostInterval;
}

/// Whether the access with the key `Key` and that of the watchpoint `Word`, if
/// it is one, are about common bytes, and one of the two writes. `Place`: the
/// bits that tell which 8 bytes a key is about.
DEVICE bool conflict(uint64_t Key, uint64_t Word,
                     uint64_t Place = ~uint64_t(0x3ff)) {
  return (Word & 1) != 0 && ((Word ^ Key) & Place) == 0 &&
         (Word & Key & 0x3fc) != 0 && ((Word | Key) & 2) != 0;
}

/// An entry of the watchpoint table, and the key that this thread would write
/// into the entry.
struct Watched {
  uint64_t *Word; ///< Null where the access cannot be watched.
  /// Address, bytes, whether the access writes, and a set lowest bit.
  uint64_t Key;
  bool IsShared;
  /// Of the block, in its cluster, whose shared memory it is.
  uint32_t Rank;

  /// SharedWatchpoint::Grid.
  DEVICE uint64_t grid() const { return gridHere() ^ uint64_t(Rank) << 56; }
  DEVICE auto &shared() const {
    return *reinterpret_cast<SharedWatchpoint *>(Word);
  }
  /// Whether the word `Other`, of the same entry, is the key of an access that
  /// conflicts.
  DEVICE bool conflictsWith(uint64_t Other) const {
    return conflict(Key, Other, IsShared ? SharedPlace : ~uint64_t(0x3ff));
  }
};

/// What watchpoints say of the thread that sets them. A check computes it once,
/// since the registers that it is computed from are slow to read.
struct Origin {
  /// The index of this block's cluster in the grid, as in
  /// SharedWatchpoint::Cluster; of a grid without clusters, that of the block.
  uint64_t Cluster;
  uint64_t Block;                  ///< Linear index in the grid.
  uint32_t ClusterHash, BlockHash; ///< Of the above.
  uint64_t Moment;                 ///< LastingWatchpoint::Moment.

  /// Of this thread, which has come through so many barriers.
  DEVICE static Origin here(uint32_t Barriers) {
    const uint64_t Cluster = uint64_t(__crsan_cluster_index(2)) << 48 |
                             uint64_t(__crsan_cluster_index(1)) << 32 |
                             __crsan_cluster_index(0);
    const uint64_t Block = linearBlock();
    return {Cluster, Block, mix(uint32_t(Cluster ^ Cluster >> 29)),
            mix(uint32_t(Block)),
            uint64_t(linearThread() / 32) << 32 | Barriers};
  }
};

/// The entry and key for the bytes from `A` on, at most `Size` of them, that
/// lie in the aligned 8 bytes around `A`. An address in shared memory holds the
/// rank of the block in its cluster.
DEVICE Watched watchedAt(Address A, uint64_t Size, bool IsWrite,
                         const Origin &From) {
  const uint64_t Key = watchpointAt(A, Size, IsWrite);
  Address Aperture; // Generic address of the 4 GiB window of shared memory.
  asm("cvta.shared.u64 %0, 0;" : "=l"(Aperture));
  if ((A ^ Aperture) >> 32)
    return {&watchpoints().Global[(A >> 3) % Watchpoints::NumGlobal], Key,
            false, 0};
  const uint32_t Unit = uint32_t(A & ((1 << ClusterRankAt) - 1)) >> 3;
  const uint32_t Rank = rankOf(A);
  if (Unit >= 1 << 15)
    return {nullptr, 0, true, 0};
  // A cluster has at most 16 blocks.
  const uint32_t Begin =
      From.ClusterHash + Rank * (Watchpoints::NumShared / 16);
  return {&watchpoints().Shared[(Unit + Begin) % Watchpoints::NumShared].Word,
          uint64_t(Unit) << 10 | (Key & 0x3ff), true, Rank};
}

/// The same for bytes of an access; of a long one, for some of them.
DEVICE Watched watchedIn(const Access &A, uint32_t Random, const Origin &From) {
  const uint32_t Units = A.Size > 8 ? uint32_t(A.Size) / 8 : 1,
                 Skipped = 8 * below(Random, Units);
  return watchedAt(A.At + Skipped, A.Size - Skipped, A.IsWrite, From);
}

/// Tells the thread that watches the bytes of `W` that this thread is about to
/// access them, `A` for the report, at site `S`. The watching thread receives
/// the message if and only if it still waits. Of a product: reports the race if
/// the product is still watched.
DEVICE void tellWatcher(Site &S, const Watched &W, Address A,
                        const Origin &From) {
  if (!W.Word)
    return;
  const uint64_t Seen = loadRelaxed(*W.Word);
  if (!W.conflictsWith(Seen))
    return;
  if (W.IsShared) {
    // What else the entry holds is read between two reads of one version of
    // the entry, so it belongs to the word.
    fenceDevice();
    const uint64_t Product = loadRelaxed(W.shared().Product);
    if (loadRelaxed(W.shared().Grid) != W.grid() ||
        loadRelaxed(W.shared().Cluster) != From.Cluster)
      return;
    fenceDevice();
    if (Product != 0) {
      if (exchangeIf(*W.Word, Seen, 0))
        __crsan_race(&S, A, Product, 0,
                     uint64_t(1u << lane()) << 32 |
                         uint32_t(RaceKind::Conflict));
      return;
    }
  }
  exchangeIf(*W.Word, Seen, Address(&S));
}

/// Takes an entry for shared memory, if it is free.
DEVICE bool claim(const Watched &W) {
  return exchangeIfAcquire(*W.Word, 0, WatchpointClaimed);
}

/// Fills in an entry for shared memory that this thread has claimed, all but
/// its word, which is written next, by storeReleaseDevice(). Returns the
/// version of the word.
DEVICE uint64_t fillIn(const Watched &W, uint64_t Product, uint64_t Turn,
                       const Origin &From) {
  auto &Entry = W.shared();
  const uint64_t Version = loadRelaxed(Entry.Version) + 1;
  storeRelaxed(Entry.Version, Version);
  storeRelaxed(Entry.Grid, W.grid());
  storeRelaxed(Entry.Cluster, From.Cluster);
  storeRelaxed(Entry.Product, Product);
  storeRelaxed(Entry.Turn, Turn);
  return Version << 25;
}

/// Sets a watchpoint if the entry is free. Returns the word written, or 0.
DEVICE uint64_t watch(const Watched &W, const Origin &From) {
  if (!W.Word)
    return 0;
  if (!W.IsShared)
    return exchangeIf(*W.Word, 0, W.Key) ? W.Key : 0;
  if (!claim(W))
    return 0;
  const uint64_t Word = fillIn(W, /*Product=*/0, /*Turn=*/0, From) | W.Key;
  storeReleaseDevice(*W.Word, Word);
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
