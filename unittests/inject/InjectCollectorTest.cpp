// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory -> occurrences.

#include "crsan/abi/BlockOrder.h"
#include "crsan/abi/Record.h"
#include "crsan/abi/Site.h"
#include "session/Collector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace crsan {

namespace {
/// A record buffer as the device leaves it.
class Buffer {
public:
  explicit Buffer(uint32_t Capacity)
      : Words(abi::recordBufferSize(Capacity) / 8) {
    get().Capacity = Capacity;
  }
  abi::RecordBuffer &get() {
    return *reinterpret_cast<abi::RecordBuffer *>(Words.data());
  }
  abi::Record &record(uint32_t I) {
    return reinterpret_cast<abi::Record *>(&get() + 1)[I];
  }
  uint64_t &published(uint32_t I) {
    return reinterpret_cast<uint64_t *>(&record(get().Capacity))[I];
  }
  abi::GridShape &place(uint32_t I) {
    return reinterpret_cast<abi::GridShape *>(&published(get().Capacity))[I];
  }
  void fill(uint32_t I, uint64_t Site, abi::RaceKind Kind, uint64_t Count) {
    record(I).Site = Site;
    record(I).Kind = Kind;
    published(I) = Count;
  }

private:
  std::vector<uint64_t> Words;
};
} // namespace

static abi::Site site(uint64_t Id, uint32_t Slot0, uint64_t Hits0,
                      uint32_t Slot1 = 0, uint64_t Hits1 = 0) {
  abi::Site S{};
  S.Id = Id;
  S.Slot[0] = Slot0;
  S.Hits[0] = Hits0;
  S.Slot[1] = Slot1;
  S.Hits[1] = Hits1;
  return S;
}

TEST(InjectCollector, AnEmptyBufferHasNothing) {
  Buffer B(4);
  EXPECT_EQ(countRecords(B.get()), 0u);
  EXPECT_TRUE(collectOccurrences(B.get(), {}, true, 0, 0).empty());
}

TEST(InjectCollector, ARecordBeingFilledIsNotTaken) {
  Buffer B(4);
  B.fill(0, 7, abi::RaceKind::None, 1);
  EXPECT_EQ(countRecords(B.get()), 0u);
  EXPECT_TRUE(collectOccurrences(B.get(), {}, true, 0, 0).empty());
}

TEST(InjectCollector, ALateFirstRecordDoesNotHideTheNext) {
  Buffer B(4);
  B.fill(0, 7, abi::RaceKind::None, 1);
  B.fill(1, 8, abi::RaceKind::LostUpdate, 2);
  EXPECT_EQ(countRecords(B.get()), 1u);
  auto Found = collectOccurrences(B.get(), {}, false, 3, 0);
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Rec.Site, 8u);
  EXPECT_EQ(Found[0].Device, 3);
}

TEST(InjectCollector, SitesThatWereReadBackGiveExactCounts) {
  Buffer B(4);
  B.fill(0, 7, abi::RaceKind::ClobberedRead, 4);
  B.fill(1, 7, abi::RaceKind::IntraWarpLostUpdate, 1);
  std::vector<abi::Site> Sites = {site(7, 1, 5, 2, 9)};
  auto Found = collectOccurrences(B.get(), Sites, true, 0, 0);
  ASSERT_EQ(Found.size(), 2u);
  EXPECT_EQ(Found[0].Count, 5u);
  EXPECT_FALSE(Found[0].AtLeast);
  EXPECT_EQ(Found[1].Count, 9u);
  EXPECT_FALSE(Found[1].AtLeast);
}

TEST(InjectCollector, WithoutReadBackThePublishedCountIsALowerBound) {
  Buffer B(4);
  B.fill(0, 7, abi::RaceKind::ClobberedRead, 1024);
  B.fill(1, 8, abi::RaceKind::LostUpdate, 0);
  auto Found = collectOccurrences(B.get(), {}, false, 0, 0);
  ASSERT_EQ(Found.size(), 2u);
  EXPECT_EQ(Found[0].Count, 1024u);
  EXPECT_TRUE(Found[0].AtLeast);
  EXPECT_EQ(Found[1].Count, 1u);
  EXPECT_TRUE(Found[1].AtLeast);
}

TEST(InjectCollector, AnOldReadBackDoesNotLowerThePublishedCount) {
  Buffer B(4);
  B.fill(0, 7, abi::RaceKind::ClobberedRead, 64);
  std::vector<abi::Site> Sites = {site(7, 1, 5)};
  auto Found = collectOccurrences(B.get(), Sites, false, 0, 0);
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Count, 64u);
  EXPECT_TRUE(Found[0].AtLeast);
}

TEST(InjectCollector, DroppedAndForeignSlotsAreIgnored) {
  Buffer B(2);
  B.fill(0, 7, abi::RaceKind::ClobberedRead, 2);
  std::vector<abi::Site> Sites = {site(7, 1, 3), site(8, ~0u, 100),
                                  site(9, 3, 100), site(10, 0, 100)};
  auto Found = collectOccurrences(B.get(), Sites, true, 0, 0);
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Count, 3u);
}

TEST(InjectCollector, TheGridComesWithItsRecord) {
  Buffer B(2);
  B.fill(0, 7, abi::RaceKind::InterBlock, 1);
  B.fill(1, 7, abi::RaceKind::InterBlock, 1);
  B.place(1).Extent[0] = 4;
  B.place(1).Extent[1] = 5;
  B.place(1).Extent[2] = 6;
  auto Found = collectOccurrences(B.get(), {}, true, 0, 0);
  ASSERT_EQ(Found.size(), 2u);
  EXPECT_EQ(Found[0].Grid, Index3{});
  EXPECT_EQ(Found[1].Grid, (Index3{4, 5, 6}));
}

TEST(InjectCollector, RacingPairsSayHowOften) {
  Buffer B(4);
  B.fill(0, 7, abi::RaceKind::InterBlock, 1);
  B.fill(1, 7, abi::RaceKind::IntraBlock, 16);
  B.fill(2, 7, abi::RaceKind::IntraBlock, 1);
  B.fill(3, 7, abi::RaceKind::InterBlock, 1);
  std::vector<abi::RacingPair> Pairs(5);
  // It has no record yet.
  Pairs[0] = {.Key = 4, .Slot = abi::RacingPair::BeingTold, .Hits = 7};
  Pairs[1] = {.Key = 1, .Slot = 1, .Hits = 5};
  Pairs[2] = {.Key = 2, .Slot = 5, .Hits = 9};
  Pairs[3] = {.Key = 3, .Slot = 3, .Hits = abi::AllCounted + 1};
  Pairs[4] = {.Key = 3, .Slot = 4, .Hits = 2};
  auto Found = collectOccurrences(B.get(), {}, true, 0, 0, Pairs);
  ASSERT_EQ(Found.size(), 4u);
  EXPECT_EQ(Found[0].Count, 5u);
  EXPECT_FALSE(Found[0].AtLeast);
  EXPECT_EQ(Found[1].Count, 16u);
  EXPECT_TRUE(Found[1].AtLeast);
  // Of a quiet pair, not all races are counted, at whatever distance.
  EXPECT_EQ(Found[2].Count, abi::AllCounted + 1);
  EXPECT_TRUE(Found[2].AtLeast);
  EXPECT_TRUE(Found[3].AtLeast);
}

TEST(InjectCollector, TheEarlierBlockIsShuffledBackToo) {
  constexpr uint32_t Seed = 5, Extent[] = {7, 5, 3};
  Buffer B(2);
  for (uint32_t I = 0; I < 2; ++I) {
    B.fill(I, 7, abi::RaceKind::InterBlock, 1);
    B.record(I).Flags = abi::TwoSided | abi::Shuffled;
    std::copy(std::begin(Extent), std::end(Extent), B.place(I).Extent);
    B.record(I).Before = abi::earlierThread(4 + 7 * (3 + 5 * 2), 99);
  }
  B.record(1).After = abi::OtherGrid;
  auto Found = collectOccurrences(B.get(), {}, true, 0, Seed);
  ASSERT_EQ(Found.size(), 2u);
  EXPECT_EQ(
      Found[0].Rec.Before,
      abi::earlierThread(abi::permuteBlock(Seed, 0, 4, 7, 1) +
                             7 * (abi::permuteBlock(Seed, 1, 3, 5, 1) +
                                  5 * abi::permuteBlock(Seed, 2, 2, 3, 1)),
                         99));
  EXPECT_EQ(Found[1].Rec.Before, abi::earlierThread(abi::UnknownBlock, 99));
}

TEST(InjectCollector, ShardsAreSummed) {
  abi::Counters C{};
  C.Shards[0].Checks = 3;
  C.Shards[abi::CounterShards - 1].Checks = 4;
  C.Shards[5].Windows = 2;
  C.Shards[6].DelayNs = 10;
  CheckCounts Sum = sumShards(C);
  EXPECT_EQ(Sum.Checks, 7u);
  EXPECT_EQ(Sum.Windows, 2u);
  EXPECT_EQ(Sum.DelayNs, 10u);
}

} // namespace crsan
