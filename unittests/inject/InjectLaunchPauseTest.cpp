// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "session/LaunchPause.h"

#include <gtest/gtest.h>

using namespace crsan;
using namespace std::chrono_literals;

namespace {

constexpr LaunchPause::Clock::time_point Start{};

TEST(InjectLaunchPause, OneLaunchIsCheckedInAPause) {
  LaunchPause P;
  EXPECT_TRUE(P.permits(1, 2ms, Start));
  EXPECT_FALSE(P.permits(2, 2ms, Start + 1ms));
  EXPECT_TRUE(P.permits(3, 2ms, Start + 2ms));
  EXPECT_FALSE(P.permits(4, 2ms, Start + 3ms));
}

TEST(InjectLaunchPause, AGroupIsCheckedAsAWhole) {
  LaunchPause P;
  EXPECT_TRUE(P.permits(7, 16ms, Start));
  EXPECT_TRUE(P.permits(7, 16ms, Start + 1ms));
  EXPECT_FALSE(P.permits(8, 16ms, Start + 15ms));
  // The second launch of the group has not made the pause longer.
  EXPECT_TRUE(P.permits(8, 16ms, Start + 16ms));
}

TEST(InjectLaunchPause, WithoutALengthAllAreChecked) {
  LaunchPause P;
  for (uint64_t Launch = 0; Launch < 3; ++Launch)
    EXPECT_TRUE(P.permits(Launch, 0us, Start));
}

} // namespace
