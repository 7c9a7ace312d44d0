// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several devices, each of which numbers its grids and streams by itself.
#include "Trace.h"
#include "oracle/DeviceView.h"

using namespace crsan::sim;

namespace {

/// Two machines, whose grids have one block of 32 threads, the first number and
/// stream 0.
class DevicesTest : public testing::Test {
protected:
  DevicesTest() {
    for (DeviceView &V : Views)
      V.hostEnqueue(0);
  }

  void start(unsigned Device) {
    GridInfo Info;
    Info.Grid = 1;
    Info.Kernel = "kernel";
    Info.BlockDim.X = 32;
    Views[Device].gridStart(Info);
    Views[Device].blockStart(1, 0, 0, 0, 32);
  }
  void end(unsigned Device) {
    Views[Device].blockEnd(1, 0, 0);
    Views[Device].gridEnd(1, 0);
  }
  void access(unsigned Device, uint64_t Address, int32_t Instruction,
              uint8_t Flags, MemoryOrder Order = MemoryOrder::Weak,
              Scope Within = Scope::Device) {
    Access A;
    A.Flags = Flags;
    A.Order = Order;
    A.Within = Within;
    A.Space = SharedAddress::is(Address) ? Space::Shared : Space::Global;
    A.Address = Address;
    A.Size = 4;
    A.Instruction = Instruction;
    Views[Device].access(Thread, A);
  }
  void store(unsigned Device, uint64_t Address, int32_t Instruction) {
    access(Device, Address, Instruction, WritesMemory);
  }
  void load(unsigned Device, uint64_t Address, int32_t Instruction) {
    access(Device, Address, Instruction, ReadsMemory);
  }
  /// Passes a message from device 0 to device 1.
  void pass(Scope Release, Scope Acquire) {
    start(0);
    start(1);
    store(0, Data, 1);
    access(0, Flag, 2, WritesMemory, MemoryOrder::Release, Release);
    access(1, Flag, 3, ReadsMemory, MemoryOrder::Acquire, Acquire);
    load(1, Data, 4);
  }

  using Side = std::pair<unsigned, int32_t>; ///< Device and instruction.
  std::set<std::pair<Side, Side>> races() const {
    std::set<std::pair<Side, Side>> Result;
    const auto SideOf = [](int32_t I) {
      return Side(DeviceView::deviceOf(I), DeviceView::instructionOf(I));
    };
    for (const RaceFinding &F : O.findings())
      Result.insert(
          {SideOf(F.Earlier.Instruction), SideOf(F.Later.Instruction)});
    return Result;
  }
  static std::pair<Side, Side> between(int32_t OnFirst, int32_t OnSecond) {
    return {{0, OnFirst}, {1, OnSecond}};
  }

  Oracle O;
  DeviceView Views[2] = {{O, 0}, {O, 1}};
  const ThreadRef Thread{1, 0, 5, 0, 5};
};

using Pairs = std::set<
    std::pair<std::pair<unsigned, int32_t>, std::pair<unsigned, int32_t>>>;

} // namespace

TEST_F(DevicesTest, KernelsOfTwoDevicesRace) {
  start(0);
  start(1);
  store(0, Data, 1);
  load(1, Data, 1);
  EXPECT_EQ(races(), (Pairs{between(1, 1)}));
  EXPECT_EQ(O.findings()[0].Device, 1u);
}

TEST_F(DevicesTest, AnEventOfAnotherDeviceOrders) {
  Views[0].hostEnqueue(0);
  Views[1].hostEnqueue(0);
  start(0);
  store(0, Data, 1);
  end(0);
  Views[0].eventRecord(1, 0);
  Views[1].eventWaitElsewhere(0, 1, 0);
  start(1);
  load(1, Data, 2);
  EXPECT_EQ(races(), Pairs{});
}

TEST_F(DevicesTest, AnEventOfTheSameNumberDoesNot) {
  Views[0].hostEnqueue(0);
  Views[1].hostEnqueue(0);
  start(0);
  store(0, Data, 1);
  end(0);
  Views[0].eventRecord(1, 0);
  Views[1].eventWait(1, 0);
  start(1);
  load(1, Data, 2);
  EXPECT_EQ(races(), (Pairs{between(1, 2)}));
}

TEST_F(DevicesTest, TheHostOrders) {
  start(0);
  store(0, Data, 1);
  end(0);
  Views[0].hostSyncAll();
  Views[1].hostEnqueue(0);
  start(1); // It was enqueued before.
  load(1, Data, 2);
  end(1);
  EXPECT_EQ(races(), (Pairs{between(1, 2)}));
  start(1);
  load(1, Data, 3);
  EXPECT_EQ(races(), (Pairs{between(1, 2)}));
}

TEST_F(DevicesTest, AWaitForOneDeviceIsNoneForTheOther) {
  start(0);
  store(0, Data, 1);
  end(0);
  Views[1].hostSyncAll();
  Views[1].hostEnqueue(0);
  start(1);
  end(1);
  start(1);
  load(1, Data, 2);
  EXPECT_EQ(races(), (Pairs{between(1, 2)}));
}

TEST_F(DevicesTest, SystemScopeSynchronises) {
  pass(Scope::System, Scope::System);
  EXPECT_EQ(races(), Pairs{});
}

TEST_F(DevicesTest, ReleaseOfDeviceScopeDoesNot) {
  pass(Scope::Device, Scope::System);
  EXPECT_EQ(races(), (Pairs{between(1, 4), between(2, 3)}));
}

TEST_F(DevicesTest, AcquireOfDeviceScopeDoesNot) {
  pass(Scope::System, Scope::Device);
  EXPECT_EQ(races(), (Pairs{between(1, 4), between(2, 3)}));
}

TEST_F(DevicesTest, FencesOfSystemScopeSynchronise) {
  for (const Scope Acquire : {Scope::System, Scope::Device}) {
    start(0);
    start(1);
    store(0, Data, 1);
    Views[0].fence(Thread, MemoryOrder::AcquireRelease, Scope::System);
    access(0, Flag, 2, WritesMemory, MemoryOrder::Relaxed, Scope::System);
    access(1, Flag, 3, ReadsMemory, MemoryOrder::Relaxed, Scope::System);
    Views[1].fence(Thread, MemoryOrder::AcquireRelease, Acquire);
    load(1, Data, 4);
    EXPECT_EQ(races(),
              Acquire == Scope::System ? Pairs{} : Pairs{between(1, 4)});
    end(0);
    end(1);
    Views[0].hostSyncAll();
    Views[1].hostSyncAll();
    Views[0].hostEnqueue(0);
    Views[1].hostEnqueue(0);
  }
}

/// A fence of device scope leaves what another device has told pending.
TEST_F(DevicesTest, ASystemFenceMayFollowANarrowerOne) {
  start(0);
  start(1);
  store(0, Data, 1);
  access(0, Flag, 2, WritesMemory, MemoryOrder::Release, Scope::System);
  access(1, Flag, 3, ReadsMemory, MemoryOrder::Relaxed, Scope::System);
  Views[1].fence(Thread, MemoryOrder::Acquire, Scope::Device);
  Views[1].fence(Thread, MemoryOrder::Acquire, Scope::System);
  load(1, Data, 4);
  EXPECT_EQ(races(), Pairs{});
}

TEST_F(DevicesTest, AtomicsNeedSystemScope) {
  start(0);
  start(1);
  for (int32_t I : {1, 2}) {
    const Scope Within = I == 1 ? Scope::System : Scope::Device;
    const uint64_t At = Data + 64 * uint64_t(I);
    access(0, At, I, AtomicUpdate, MemoryOrder::Relaxed, Within);
    access(1, At, I, AtomicUpdate, MemoryOrder::Relaxed, Within);
  }
  EXPECT_EQ(races(), (Pairs{between(2, 2)}));
}

TEST_F(DevicesTest, SharedMemoryAndBarriersAreApart) {
  start(0);
  start(1);
  const uint64_t Shared = SharedAddress::make(0, 16);
  store(0, Shared, 1);
  store(1, Shared, 2);
  store(0, Data, 3);
  // The first barrier of either device.
  Views[0].barrierArrive(Thread, 1, BarrierKind::CTA, MemoryOrder::Release,
                         Scope::Block);
  Views[1].barrierLeave(Thread, 1, BarrierKind::CTA, MemoryOrder::Acquire,
                        Scope::Block);
  load(1, Data, 4);
  EXPECT_EQ(races(), (Pairs{between(3, 4)}));
}
