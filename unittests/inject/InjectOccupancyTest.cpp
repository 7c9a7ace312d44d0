// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks run at the same time.

#include "session/Occupancy.h"

#include <gtest/gtest.h>

using namespace crsan;

namespace {

constexpr Multiprocessors Hopper{.Count = 132,
                                 .Threads = 2048,
                                 .Blocks = 32,
                                 .Registers = 65536,
                                 .SharedBytes = 228 * 1024,
                                 .ReservedSharedBytes = 1024};

TEST(InjectOccupancy, RegistersHalveAGrid) {
  Residency R = computeResidency(Hopper, {.Threads = 1024, .Registers = 64}, 1);
  EXPECT_EQ(R.Actual, 132u);
  EXPECT_EQ(R.IfRegistersWereFree, 264u);
  EXPECT_FALSE(R.lacksRegisters(132));
  EXPECT_TRUE(R.lacksRegisters(133));
  EXPECT_TRUE(R.lacksRegisters(264));
  EXPECT_FALSE(R.lacksRegisters(265));
}

TEST(InjectOccupancy, EnoughRegistersLackNothing) {
  Residency R = computeResidency(Hopper, {.Threads = 1024, .Registers = 32}, 2);
  EXPECT_EQ(R.Actual, 264u);
  EXPECT_EQ(R.IfRegistersWereFree, 264u);
}

// Intent: a block of 33 threads takes two warps.
TEST(InjectOccupancy, ThreadsAreRoundedUpToWarps) {
  Multiprocessors Device = Hopper;
  Device.Threads = 512;
  Residency R = computeResidency(Device, {.Threads = 33, .Registers = 255}, 4);
  EXPECT_EQ(R.IfRegistersWereFree, 8u * 132);
}

TEST(InjectOccupancy, SmallBlocksAreLimitedByTheirNumber) {
  Residency R = computeResidency(Hopper, {.Threads = 32, .Registers = 128}, 16);
  EXPECT_EQ(R.IfRegistersWereFree, 32u * 132);
}

// Intent: 56 KiB are four blocks of a multiprocessor, 57 KiB with the reserved
// one; a byte more is another 128.
TEST(InjectOccupancy, SharedMemoryCountsWithWhatIsReserved) {
  BlockNeeds Needs{.Threads = 512, .Registers = 128, .SharedBytes = 56 * 1024};
  EXPECT_EQ(computeResidency(Hopper, Needs, 1).IfRegistersWereFree, 4u * 132);
  Needs.SharedBytes += 1;
  EXPECT_EQ(computeResidency(Hopper, Needs, 1).IfRegistersWereFree, 3u * 132);
}

// Intent: registers would allow two blocks, the driver counts one.
TEST(InjectOccupancy, OtherLimitsAreNotBlamedOnRegisters) {
  Residency R = computeResidency(Hopper, {.Threads = 512, .Registers = 64}, 1);
  EXPECT_EQ(R.Actual, 132u);
  EXPECT_EQ(R.IfRegistersWereFree, 132u);
}

TEST(InjectOccupancy, UnknownDevicesLackNothing) {
  Residency R = computeResidency({}, {.Threads = 1024, .Registers = 64}, 1);
  EXPECT_EQ(R.IfRegistersWereFree, R.Actual);
  EXPECT_FALSE(R.lacksRegisters(1));
  EXPECT_FALSE(Residency().lacksRegisters(1));
  EXPECT_EQ(registersThatFit({}, {.Threads = 1024, .Registers = 64}, 1), 0);
}

TEST(InjectOccupancy, RegistersAreAMultipleOfEight) {
  struct {
    int Threads;
    uint64_t Blocks;
    int Registers;
  } Fits[] = {
      {1024, 132, 64}, {1024, 133, 32},    {1024, 264, 32},   {1024, 265, 0},
      {256, 660, 48},  {256, 1056, 32},    {192, 132, 248},   {96, 132, 248},
      {96, 792, 96},   {32, 32 * 132, 64}, {32, 33 * 132, 0},
  };
  for (const auto &[Threads, Blocks, Registers] : Fits)
    EXPECT_EQ(registersThatFit(Hopper, {.Threads = Threads, .Registers = 255},
                               Blocks),
              Registers)
        << Blocks << " blocks of " << Threads << " threads";
}

// Intent: what is recommended is what makes it fit.
TEST(InjectOccupancy, TheRecommendedRegistersFit) {
  for (int Threads = 32; Threads <= 1024; Threads += 32)
    for (uint64_t Each = 1; Each <= 32; ++Each) {
      BlockNeeds Needs{.Threads = Threads, .Registers = 255};
      Needs.Registers = registersThatFit(Hopper, Needs, Each * 132);
      if (Needs.Registers == 0)
        continue;
      // Registers allow Each blocks, so a driver that counts one fewer must
      // have another reason.
      Residency R = computeResidency(Hopper, Needs, int(Each) - 1);
      EXPECT_FALSE(R.lacksRegisters(Each * 132))
          << Each << " blocks of " << Threads;
    }
}

TEST(InjectOccupancy, TheLineSaysWhatToDo) {
  BlockNeeds Needs{.Threads = 1024, .Registers = 64};
  EXPECT_EQ(describeShortage(Hopper, computeResidency(Hopper, Needs, 1), 264),
            "only 132 of its 264 blocks run at a time, for want of registers "
            "(64 a thread, some of them for the checks); if its blocks wait "
            "for each other, compile with -Xcuda-ptxas --maxrregcount=32 or "
            "give it __launch_bounds__(1024, 2)");
}

TEST(InjectOccupancy, WhereNoLimitHelpsFewerBlocksDo) {
  Multiprocessors Device = Hopper;
  Device.Registers = 32768;
  BlockNeeds Needs{.Threads = 1024, .Registers = 32};
  std::string Text =
      describeShortage(Device, computeResidency(Device, Needs, 1), 264);
  EXPECT_TRUE(Text.ends_with("launch at most 132 of them")) << Text;
}

} // namespace
