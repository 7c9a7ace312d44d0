// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races, as the device records them.
#ifndef CRSAN_ABI_RECORD_H
#define CRSAN_ABI_RECORD_H

#include "crsan/abi/MemoryModel.h"

#include <cstddef>

namespace crsan::abi {

/// What a record accuses.
enum class RaceKind : uint8_t {
  None = 0,
  /// The value that a weak load is about to read changed while no other thread
  /// was allowed to change it (SuperCollider 3.1).
  ClobberedRead = 1,
  /// Another thread wrote to where a weak store is about to write
  /// (SuperCollider 3.2).
  LostUpdate = 2,
  /// Lanes of one warp wrote one location by one store (SuperCollider 3.3).
  IntraWarpLostUpdate = 3,
  /// One lane wrote what another lane of its warp reads or writes by another
  /// instruction, with no synchronisation between the two. `Record::Other`
  /// names the writing site.
  IntraWarpConflict = 4,
  /// Two threads were about to access one location at the same time, or did so
  /// in a kernel that does not order them (OtherBlock, SameInterval); at least
  /// one of them writes it. `Record::Other` names the other thread's site.
  Conflict = 5,

  // Metadata mode, in records with `TwoSided`: the kinds of iGUARD's Table 4.
  /// IL: one side holds a lock that does not protect the other (R5).
  ImproperLock = 6,
  /// AS: an atomic whose scope does not include the other thread (R1).
  AtomicScope = 7,
  /// ITS: threads of a warp without a __syncwarp() between them (R2).
  WarpBarrier = 8,
  /// BR: threads of a block (R3).
  IntraBlock = 9,
  /// DR: threads of two blocks (R4).
  InterBlock = 10,
  /// A strong access and a weak one (ScoRD, Table IV c).
  NotStrong = 11,
  /// Threads of two kernels.
  InterKernel = 12,
  /// An operation of a stream, such as a copy, and another one or a thread.
  StreamOperation = 13,
  /// The host, and a thread of a kernel or an operation of a stream, by the
  /// order of streams; the host's checks of values find clobbered reads and
  /// lost updates.
  HostAccess = 14,
  /// Threads of a block have met at one barrier of the block, each at another
  /// __syncthreads() of the source, or in another iteration of a loop.
  BarrierDivergence = 15,
  /// A bulk copy reads what an ordinary store wrote before it, with no fence
  /// between the two proxies.
  ProxyFence = 16,
};

/// The first race that the device saw at a site, or at a pair of sites.
struct Record {
  uint64_t Site;    ///< SiteEntry::Id of the accused access.
  uint64_t Other;   ///< SiteEntry::Id of the other side where known, else 0.
  uint64_t Address; ///< Generic address of the first byte of the access.
  /// Up to 8 bytes that were in memory first; of the intra-warp kinds, this
  /// lane's value to be stored.
  uint64_t Before;
  /// Up to 8 bytes that were in memory later; of the intra-warp kinds, the
  /// other lane's value.
  uint64_t After;
  uint32_t Block[3]; ///< As the hardware counts (see GridShape, Shuffled).
  uint32_t Thread;   ///< threadIdx: x in bits 0-9, y in 10-19, z in 20-25.
  uint32_t Lanes;    ///< A mask of the lanes of the warp that are involved.
  RaceKind Kind;     ///< Written last: None while the record is incomplete.
  Space MemorySpace;
  uint8_t Size;  ///< Bytes accessed; 255 for 255 and more.
  uint8_t Flags; ///< RecordFlags.
};
static_assert(sizeof(Record) == 64 && offsetof(Record, Site) == 0 &&
              offsetof(Record, Other) == 8 && offsetof(Record, Address) == 16 &&
              offsetof(Record, Before) == 24 && offsetof(Record, After) == 32 &&
              offsetof(Record, Block) == 40 && offsetof(Record, Thread) == 52 &&
              offsetof(Record, Lanes) == 56 && offsetof(Record, Kind) == 60 &&
              offsetof(Record, MemorySpace) == 61 &&
              offsetof(Record, Size) == 62 && offsetof(Record, Flags) == 63);

enum RecordFlags : uint8_t {
  /// Before and After are hashes of more than 8 bytes, not values.
  ValuesAreHashes = 1,
  /// All lanes of an intra-warp lost update wrote the same value.
  SameValue = 2,
  /// The program saw permuted block indices (BlockOrder.h).
  Shuffled = 4,
  /// Both sides are known: Other names the earlier site, Before the earlier
  /// thread (earlierThread) and After holds RaceReasons.
  TwoSided = 8,
  /// Of a Conflict: the other access was made before, by another block of the
  /// grid, and nothing orders the blocks (RacesAnyTime).
  OtherBlock = 16,
  /// Of a Conflict: the other access was made before, by another warp of the
  /// block, and no barrier lies between the two (RacesInInterval).
  SameInterval = 32,
};

/// The shape of the grid that a record's block belongs to.
struct GridShape {
  uint32_t Extent[3];
  uint8_t Cluster[3]; ///< Blocks of a cluster, by dimension.
  uint8_t Reserved;
};
static_assert(sizeof(GridShape) == 16 && offsetof(GridShape, Extent) == 0 &&
              offsetof(GridShape, Cluster) == 12 &&
              offsetof(GridShape, Reserved) == 15);

/// Pinned, mapped host memory that outlives a kernel which hangs or traps: this
/// header, then `Capacity` each of Record, uint64_t and GridShape. The uint64_t
/// is how often the race of the record of the same index occurred: a lower
/// bound, which the device writes each time that the count doubles.
struct RecordBuffer {
  uint32_t Capacity;
  uint32_t Reserved;
  uint64_t Dropped; ///< Races that found no free record, as last written.
  uint8_t Pad[48];
};
static_assert(sizeof(RecordBuffer) == 64 &&
              offsetof(RecordBuffer, Capacity) == 0 &&
              offsetof(RecordBuffer, Reserved) == 4 &&
              offsetof(RecordBuffer, Dropped) == 8 &&
              offsetof(RecordBuffer, Pad) == 16);

inline constexpr size_t recordBufferSize(uint32_t Capacity) {
  return sizeof(RecordBuffer) +
         size_t(Capacity) * (sizeof(Record) + 8 + sizeof(GridShape));
}

/// Device memory, one per context, zeroed by the host. There is a shard per
/// multiprocessor (modulo their number), because every warp would contend for a
/// single counter.
inline constexpr uint32_t CounterShards = 256;
/// Blocks of a multiprocessor that may be checked at once, at most: a power of
/// two.
inline constexpr uint32_t BlockSlots = 16;
struct Counters {
  uint32_t NextRecord; ///< Records claimed so far; may exceed Capacity.
  uint32_t Reserved;
  uint64_t Dropped; ///< Races that found no free record.
  /// Tensor copies of which a side could not be checked, counted where a check
  /// would have been.
  uint64_t UnknownBoxes;
  uint64_t Pad;
  struct Shard {
    uint64_t Checks;  ///< Accesses checked, one per thread.
    uint64_t Windows; ///< Windows checked, one per warp.
    uint64_t DelayNs; ///< Delays, one per warp, in nanoseconds.
    /// %clock64 from which on the blocks of a slot may check again
    /// (Config::CyclesPerCycle); in the low bits are
    /// DueBits (runtime/device/collider/Sampling.h).
    uint64_t Due[BlockSlots];
    /// %clock64 from which on they may look for watchpoints again, without a
    /// check (Config::CyclesPerLookCycle).
    uint64_t NextLook[BlockSlots];
    /// Which window without an interval (Sampling::Interval) a warp has come to
    /// last, and of which block the first warp was that came to it
    /// (runtime/device/collider/Sampling.h).
    uint64_t NewWindow;
  } Shards[CounterShards];
};
static_assert(sizeof(Counters) == 73760 &&
              offsetof(Counters, NextRecord) == 0 &&
              offsetof(Counters, Reserved) == 4 &&
              offsetof(Counters, Dropped) == 8 &&
              offsetof(Counters, UnknownBoxes) == 16 &&
              offsetof(Counters, Pad) == 24 &&
              offsetof(Counters, Shards) == 32);
static_assert(sizeof(Counters::Shard) == 288 &&
              offsetof(Counters::Shard, Checks) == 0 &&
              offsetof(Counters::Shard, Windows) == 8 &&
              offsetof(Counters::Shard, DelayNs) == 16 &&
              offsetof(Counters::Shard, Due) == 24 &&
              offsetof(Counters::Shard, NextLook) == 152 &&
              offsetof(Counters::Shard, NewWindow) == 280);

/// A pair of sites that raced, with the distance of their threads.
struct RacingPair {
  uint32_t Key;  ///< pairKey() of both sites; 0: the entry is free.
  uint32_t Slot; ///< The index of the record, plus 1, NoRoom, or BeingTold; 0:
                 ///< the host has not been told of the pair.
  uint64_t Hits;
  static constexpr uint32_t NoRoom = ~0u, ///< There was no room for a record.
      BeingTold = ~0u - 1; ///< A thread is about to tell the host.
};
static_assert(sizeof(RacingPair) == 16 && offsetof(RacingPair, Key) == 0 &&
              offsetof(RacingPair, Slot) == 4 &&
              offsetof(RacingPair, Hits) == 8);
inline constexpr uint32_t NumRacingPairs = 1u << 12;
/// A pair has an entry for each abi::Distance: the entry's index, modulo this
/// number, is the distance.
inline constexpr uint32_t NumDistances = 4;
inline constexpr uint32_t pairKey(uint32_t Later, uint32_t Earlier) {
  return Later << 16 | Earlier;
}

/// Of each pair at one distance, so many races are looked at and counted. Then
/// the pair is quiet: one in QuietInterval of its further races, drawn at
/// random, is looked at and counted.
inline constexpr uint32_t AllCounted = 1u << 10, QuietInterval = 1024;
/// Where the key of a quiet pair is kept; of two pairs with one index, the one
/// that became quiet last.
inline constexpr unsigned QuietBits = 14;
inline constexpr uint32_t NumQuietPairs = 1u << QuietBits;
inline constexpr uint32_t quietIndex(uint32_t Key) {
  return Key * 0x9e3779b1u >> (32 - QuietBits);
}

/// Why two accesses are a race: Record::After of a two-sided record. The
/// earlier access is that of site Record::Other, and the earlier thread is that
/// of Record::Before.
enum RaceReasons : uint64_t {
  SameWarp = 1 << 0,
  SameBlock = 1 << 1,
  OtherGrid = 1 << 2, ///< The two threads are of two kernels.
  /// Since its access, the earlier thread has synchronised nothing, ...
  EarlierNoSync = 1 << 3,
  EarlierFencedBlock = 1 << 4,  ///< ... executed a fence of block scope, ...
  EarlierFencedDevice = 1 << 5, ///< ... executed a fence of a wider scope, ...
  EarlierBarrier = 1 << 6, ///< ... passed a barrier of its warp or its block.
  /// The later thread has acquired from another thread (before or after).
  LaterAcquired = 1 << 7,
  LaterHoldsLock = 1 << 8,
  /// The earlier thread holds a lock, or held one since its kernel began.
  EarlierUsedLock = 1 << 9,
  /// The earlier access is one of several reads, perhaps by several threads.
  SeveralReaders = 1 << 10,
  /// The earlier access is an asynchronous copy, and its thread has not waited
  /// for the copy.
  EarlierInFlight = 1 << 11,
  /// The earlier access is an asynchronous copy, and its thread has waited for
  /// the copy; the other reasons say what the thread did after that.
  EarlierWaited = 1 << 12,
  /// The earlier kernel has ended, but nothing orders its launch before that of
  /// the later one.
  UnorderedLaunch = 1 << 13,
  /// The earlier thread has ended, which synchronises nothing.
  EarlierEnded = 1 << 14,
  /// The earlier thread still holds the lock that it used.
  EarlierHoldsLock = 1 << 15,
  /// The earlier thread (or another thread of its block, after a barrier) has
  /// executed a fence and then a strong write. The later thread (or another of
  /// its block) has read that value, but has executed no fence of that scope
  /// since.
  LaterUnfenced = 1 << 16,
  /// The earlier thread's block has ended, and nobody has acquired from it
  /// since the access. What else its threads executed is not known.
  EarlierForgotten = 1 << 17,
  /// How a copy that is in flight completes: its thread waits for a bulk group,
  /// or any thread waits at an mbarrier. Neither: cp.async.wait_group.
  EarlierBulkGroup = 1 << 18,
  EarlierAtMbarrier = 1 << 19,
  /// The two are in order, but no fence between their proxies is between them.
  LacksProxyFence = 1 << 20,
  /// The earlier access is a read by an asynchronous matrix product for which
  /// its warp group has not waited. EarlierInFlight is set as well.
  EarlierByWarpGroup = 1 << 21,
  /// Of two barriers: they are one __syncthreads() of the source, in different
  /// iterations of the loops around it.
  OtherIteration = 1 << 22,
};

/// Record::Before of a two-sided record: the linear index of the earlier
/// thread's block in its grid, and that of the thread in its block.
inline constexpr uint64_t earlierThread(uint64_t Block, uint32_t Thread) {
  return Block << 16 | Thread;
}
/// The extents of a block, for the bits of Record::After above the RaceReasons.
inline constexpr uint64_t blockShape(uint32_t X, uint32_t Y, uint32_t Z) {
  return uint64_t(X) << 32 | uint64_t(Y) << 43 | uint64_t(Z) << 54;
}
inline constexpr uint32_t blockExtent(uint64_t After, unsigned Dimension) {
  return uint32_t(After >> (32 + 11 * Dimension)) & 0x7ff;
}
/// The block of earlierThread() where the device no longer knows it.
inline constexpr uint64_t UnknownBlock = ~uint64_t(0) >> 16;

} // namespace crsan::abi

#endif // CRSAN_ABI_RECORD_H
