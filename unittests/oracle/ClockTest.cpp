// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector clocks.
#include "oracle/Clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

using namespace crsan::sim;

TEST(ClockTest, KnowsNothingAtFirst) {
  const Clock C;
  EXPECT_TRUE(C.empty());
  EXPECT_EQ(C.get(0), 0u);
  EXPECT_EQ(C.get(1'000'000), 0u);
}

TEST(ClockTest, CopiesAreTheirOwn) {
  Clock A;
  A.raise(5, 3);
  Clock B = A;
  EXPECT_TRUE(A.same(B));
  B.raise(5, 4);
  B.raise(70'000, 1);
  EXPECT_EQ(A.get(5), 3u);
  EXPECT_EQ(A.get(70'000), 0u);
  EXPECT_EQ(B.get(5), 4u);
  EXPECT_TRUE(B.covers(A));
  EXPECT_FALSE(A.covers(B));
}

TEST(ClockTest, RangesThatAreOverTakeNothing) {
  Clock A;
  A.raiseAll(0, 32 * 32 * 32);
  EXPECT_EQ(A.get(12'345), Clock::Forever);
  Clock B;
  B.raise(7, 100);
  B.join(A);
  EXPECT_TRUE(B.covers(A) && A.covers(B));
  A.raiseAll(64 * 1024, 64 * 1024 + 96);
  EXPECT_EQ(A.get(64 * 1024 + 95), Clock::Forever);
  EXPECT_EQ(A.get(64 * 1024 + 96), 0u);
}

TEST(ClockTest, AgreesWithAMap) {
  std::mt19937 Random(7);
  constexpr size_t NumClocks = 12;
  std::vector<Clock> Clocks(NumClocks);
  std::vector<std::map<uint64_t, uint32_t>> Maps(NumClocks);
  const auto Id = [&] {
    return Random() % 4 ? Random() % 200 : Random() % 100'000;
  };
  for (int Step = 0; Step < 20'000; ++Step) {
    const size_t A = Random() % NumClocks, B = Random() % NumClocks;
    switch (Random() % 5) {
    case 0:
    case 1: {
      const uint64_t I = Id();
      const uint32_t Time = Random() % 50;
      Clocks[A].raise(I, Time);
      Maps[A][I] = std::max(Maps[A][I], Time);
      break;
    }
    case 2:
      Clocks[A].join(Clocks[B]);
      for (const auto &[I, Time] : Maps[B])
        Maps[A][I] = std::max(Maps[A][I], Time);
      break;
    case 3:
      Clocks[A] = Clocks[B];
      Maps[A] = Maps[B];
      break;
    case 4:
      if (Random() % 20 == 0) {
        Clocks[A] = {};
        Maps[A].clear();
      } else if (Random() % 20 == 0) {
        const uint64_t Begin = Id() / 32 * 32;
        Clocks[A].raiseAll(Begin, Begin + 64);
        for (uint64_t I = Begin; I < Begin + 64; ++I)
          Maps[A][I] = Clock::Forever;
      }
      break;
    }
    for (const auto &[I, Time] : Maps[A])
      ASSERT_EQ(Clocks[A].get(I), Time);
    const bool Covers =
        std::all_of(Maps[B].begin(), Maps[B].end(), [&](const auto &Entry) {
          const auto It = Maps[A].find(Entry.first);
          return Entry.second == 0 ||
                 (It != Maps[A].end() && It->second >= Entry.second);
        });
    ASSERT_EQ(Clocks[A].covers(Clocks[B]), Covers);
  }
}
