// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory -> occurrences.

#include "session/Collector.h"
#include "crsan/abi/BlockOrder.h"
#include "crsan/abi/Record.h"
#include "crsan/abi/Site.h"

#include <algorithm>

namespace crsan {

static const abi::Record *records(const abi::RecordBuffer &Buffer) {
  return reinterpret_cast<const abi::Record *>(&Buffer + 1);
}

/// The device writes Kind last, after a fence.
static bool isComplete(const abi::Record &Rec) {
  static_assert(sizeof(abi::RaceKind) == 1);
  auto Kind = __atomic_load_n(reinterpret_cast<const uint8_t *>(&Rec.Kind),
                              __ATOMIC_ACQUIRE);
  return Kind != uint8_t(abi::RaceKind::None);
}

size_t countRecords(const abi::RecordBuffer &Buffer) {
  return size_t(std::count_if(records(Buffer),
                              records(Buffer) + Buffer.Capacity, isComplete));
}

/// How often the device found the race of each record; 0: not known.
static std::vector<uint64_t> hitsBySlot(std::span<const abi::Site> Sites,
                                        std::span<const abi::RacingPair> Pairs,
                                        uint32_t Capacity) {
  std::vector<uint64_t> Hits(Capacity);
  for (const abi::Site &Site : Sites)
    for (unsigned Which = 0; Which < 2; ++Which)
      if (Site.Slot[Which] != 0 && Site.Slot[Which] <= Capacity)
        Hits[Site.Slot[Which] - 1] = Site.Hits[Which];
  for (const abi::RacingPair &Pair : Pairs)
    if (Pair.Slot != 0 && Pair.Slot <= Capacity)
      Hits[Pair.Slot - 1] = Pair.Hits;
  return Hits;
}

/// The earlier thread of a two-sided record, with the block that the program
/// saw.
static uint64_t earlierAsProgramSaw(const abi::Record &Rec,
                                    const abi::GridShape &Shape,
                                    uint32_t Seed) {
  const uint32_t Thread = Rec.Before & 0xffff;
  uint64_t Rest = Rec.Before >> 16;
  // The extent of another grid is not known.
  if (Rest == abi::UnknownBlock || (Rec.After & abi::OtherGrid))
    return abi::earlierThread(abi::UnknownBlock, Thread);
  uint64_t Block = 0, Stride = 1;
  for (uint32_t D = 0; D < 3; ++D) {
    const uint32_t Extent = std::max<uint32_t>(Shape.Extent[D], 1);
    Block +=
        Stride * abi::permuteBlock(Seed, D, uint32_t(Rest % Extent), Extent,
                                   std::max<uint32_t>(Shape.Cluster[D], 1));
    Rest /= Extent;
    Stride *= Extent;
  }
  return abi::earlierThread(Block, Thread);
}

/// The extent of the blocks, of a two-sided record.
static Index3 shapeOf(const abi::Record &Rec) {
  if (!(Rec.Flags & abi::TwoSided))
    return {};
  return {abi::blockExtent(Rec.After, 0), abi::blockExtent(Rec.After, 1),
          abi::blockExtent(Rec.After, 2)};
}

/// The record with the block indices that the program saw.
static abi::Record asProgramSaw(abi::Record Rec, const abi::GridShape &Shape,
                                uint32_t Seed) {
  if (!(Rec.Flags & abi::Shuffled))
    return Rec;
  for (uint32_t D = 0; D < 3; ++D)
    Rec.Block[D] = abi::permuteBlock(Seed, D, Rec.Block[D], Shape.Extent[D],
                                     std::max<uint32_t>(Shape.Cluster[D], 1));
  if (Rec.Flags & abi::TwoSided)
    Rec.Before = earlierAsProgramSaw(Rec, Shape, Seed);
  return Rec;
}

std::vector<Occurrence>
collectOccurrences(const abi::RecordBuffer &Buffer,
                   std::span<const abi::Site> Sites, bool Exact, int Device,
                   uint32_t Seed, std::span<const abi::RacingPair> Pairs) {
  std::vector<Occurrence> Found;
  const auto *Published =
      reinterpret_cast<const uint64_t *>(records(Buffer) + Buffer.Capacity);
  const auto *Shapes =
      reinterpret_cast<const abi::GridShape *>(Published + Buffer.Capacity);
  std::vector<uint64_t> Hits = hitsBySlot(Sites, Pairs, Buffer.Capacity);
  for (uint32_t I = 0; I < Buffer.Capacity; ++I) {
    const abi::Record &Rec = records(Buffer)[I];
    if (!isComplete(Rec))
      continue;
    uint64_t Told = __atomic_load_n(&Published[I], __ATOMIC_RELAXED);
    Found.push_back({.Rec = asProgramSaw(Rec, Shapes[I], Seed),
                     .Count = std::max({Hits[I], Told, uint64_t(1)}),
                     .AtLeast = !Exact || Hits[I] == 0,
                     .Device = Device,
                     .Grid = std::to_array(Shapes[I].Extent),
                     .BlockShape = shapeOf(Rec),
                     .Memory = {}});
  }
  return Found;
}

CheckCounts sumShards(const abi::Counters &Counters) {
  CheckCounts Sum;
  for (const auto &Shard : Counters.Shards) {
    Sum.Checks += Shard.Checks;
    Sum.Windows += Shard.Windows;
    Sum.DelayNs += Shard.DelayNs;
  }
  return Sum;
}

} // namespace crsan
