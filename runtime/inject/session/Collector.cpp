// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory -> occurrences.

#include "session/Collector.h"
#include "crsan/abi/BlockOrder.h"
#include "crsan/abi/Record.h"
#include "crsan/abi/Site.h"

#include <algorithm>
#include <set>

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

namespace {
/// How often the device found the race of a record; 0: not known.
struct Hits {
  uint64_t Count = 0;
  bool HasMore = false; ///< Further races were not counted.
};
} // namespace

static std::vector<Hits> hitsBySlot(std::span<const abi::Site> Sites,
                                    std::span<const abi::RacingPair> Pairs,
                                    uint32_t Capacity) {
  std::vector<Hits> Found(Capacity);
  for (const abi::Site &Site : Sites)
    for (unsigned Which = 0; Which < 2; ++Which)
      if (Site.Slot[Which] != 0 && Site.Slot[Which] <= Capacity)
        Found[Site.Slot[Which] - 1].Count = Site.Hits[Which];
  // A pair is quiet at all distances.
  std::set<uint32_t> Quiet;
  for (const abi::RacingPair &Pair : Pairs)
    if (Pair.Hits > abi::AllCounted)
      Quiet.insert(Pair.Key);
  for (const abi::RacingPair &Pair : Pairs)
    if (Pair.Slot != 0 && Pair.Slot <= Capacity)
      Found[Pair.Slot - 1] = {Pair.Hits, Quiet.contains(Pair.Key)};
  return Found;
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
  const std::vector<Hits> BySlot = hitsBySlot(Sites, Pairs, Buffer.Capacity);
  for (uint32_t I = 0; I < Buffer.Capacity; ++I) {
    const abi::Record &Rec = records(Buffer)[I];
    if (!isComplete(Rec))
      continue;
    uint64_t Told = __atomic_load_n(&Published[I], __ATOMIC_RELAXED);
    const Hits &Of = BySlot[I];
    Found.push_back({.Rec = asProgramSaw(Rec, Shapes[I], Seed),
                     .Count = std::max({Of.Count, Told, uint64_t(1)}),
                     .AtLeast = !Exact || Of.Count == 0 || Of.HasMore,
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
