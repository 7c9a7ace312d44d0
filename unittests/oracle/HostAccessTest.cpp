// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's own accesses.
#include "Trace.h"

using namespace crsan::sim;

namespace {

constexpr int32_t Here = hostInstruction(1), There = hostInstruction(2);

class HostAccessTest : public testing::Test {
protected:
  void host(uint8_t Flags, int32_t Instruction, uint64_t Address = Data,
            uint32_t Size = 4, bool IsOfFunction = false) {
    Access A;
    A.Flags = Flags;
    A.Address = Address;
    A.Size = Size;
    A.Instruction = Instruction;
    R.O.hostAccess(A, IsOfFunction);
  }
  void read(int32_t Instruction = Here, uint64_t Address = Data) {
    host(ReadsMemory, Instruction, Address);
  }
  void write(int32_t Instruction = Here, uint64_t Address = Data) {
    host(WritesMemory, Instruction, Address);
  }
  uint64_t launch(Stream S) {
    R.O.hostEnqueue(S);
    return R.start(S, 2, 64);
  }
  /// A whole kernel of which one thread writes.
  void writer(Stream S, uint64_t Address = Data) {
    const uint64_t G = launch(S);
    R.store(R.at(1, 3), Address, 1);
    R.end(G);
  }
  void share(uint64_t Address) {
    R.O.hostVisible({reinterpret_cast<void *>(Address), 64});
  }
  const Trace::Pairs Race{{Here, 1}};
  Trace R;
};

} // namespace

TEST_F(HostAccessTest, ReadsTooEarly) {
  writer(1);
  read();
  EXPECT_EQ(R.races(), Race);
  EXPECT_FALSE(R.O.isQuiet());
}

TEST_F(HostAccessTest, ReadsWhenItHasWaited) {
  writer(1);
  R.O.hostSyncStream(1);
  read();
  writer(1);
  R.O.hostSyncAll();
  read();
  EXPECT_EQ(R.races(), None);
  EXPECT_TRUE(R.O.isQuiet());
}

TEST_F(HostAccessTest, HasWaitedForAnotherStream) {
  writer(1);
  writer(2, Flag);
  R.O.hostSyncStream(2);
  read();
  EXPECT_EQ(R.races(), Race);
}

TEST_F(HostAccessTest, AnEventCoversWhatWasBefore) {
  writer(1);
  R.O.hostEnqueue(1);
  R.O.eventRecord(9, 1);
  writer(1, Flag);
  R.O.hostSyncEvent(9);
  read();
  EXPECT_EQ(R.races(), None);
  read(There, Flag);
  EXPECT_EQ(R.races(), (Trace::Pairs{{There, 1}}));
}

TEST_F(HostAccessTest, WritesBeforeTheLaunch) {
  write();
  writer(1);
  EXPECT_EQ(R.races(), None);
}

TEST_F(HostAccessTest, WritesBehindTheLaunch) {
  R.O.hostEnqueue(1);
  write();
  const uint64_t G = R.start(1, 1, 32);
  R.load(R.at(0, 0), Data, 1);
  R.end(G);
  EXPECT_EQ(R.races(), Race);
}

TEST_F(HostAccessTest, TwoReadsDoNotRace) {
  const uint64_t G = launch(1);
  R.load(R.at(0, 0), Data, 1);
  read();
  R.end(G);
  EXPECT_EQ(R.races(), None);
}

TEST_F(HostAccessTest, ItsOwnAccessesAreInOrder) {
  writer(1, Flag); // Something is pending.
  write(Here);
  read(There);
  write(There);
  EXPECT_EQ(R.races(), None);
}

// Intent: host and kernel hand a word to and fro by flags of system scope.
TEST_F(HostAccessTest, FlagsOfSystemScopeOrder) {
  share(Flag);
  write();
  const uint64_t G = launch(1);
  write(); // The kernel does not touch it before it has seen the flag.
  R.volatileLoad(R.at(0, 0), Flag, 2);
  R.fence(R.at(0, 0), Scope::System, MemoryOrder::SequentiallyConsistent);
  R.load(R.at(0, 0), Data, 1);
  R.store(R.at(0, 0), Data, 1);
  R.fence(R.at(0, 0), Scope::System, MemoryOrder::SequentiallyConsistent);
  R.volatileStore(R.at(0, 0), Flag, 3);
  read();
  write();
  R.end(G);
  EXPECT_EQ(R.races(), None);
}

TEST_F(HostAccessTest, AFlagOfDeviceScopeTellsTheHostNothing) {
  share(Flag);
  const uint64_t G = launch(1);
  R.store(R.at(0, 0), Data, 1);
  R.fence(R.at(0, 0), Scope::Device, MemoryOrder::SequentiallyConsistent);
  R.volatileStore(R.at(0, 0), Flag, 3);
  read();
  R.end(G);
  EXPECT_EQ(R.races(), Race);
}

TEST_F(HostAccessTest, PlainFlagsRaceThemselves) {
  share(Flag);
  const uint64_t G = launch(1);
  R.volatileLoad(R.at(0, 0), Flag, 1);
  write(Here, Flag);
  R.end(G);
  EXPECT_EQ(R.races(), Race);
}

TEST_F(HostAccessTest, CopiesRaceWithTheHost) {
  const HostRange To{reinterpret_cast<void *>(Data), 4096};
  R.O.hostEnqueue(1);
  R.O.streamOp(1, "cudaMemcpyAsync", {}, std::span(&To, 1));
  read();
  ASSERT_EQ(R.O.findings().size(), 1u);
  EXPECT_EQ(R.O.findings()[0].Earlier.Name, "cudaMemcpyAsync");
  EXPECT_TRUE(R.O.findings()[0].Later.isHostCode());
}

TEST_F(HostAccessTest, AFunctionOfAStreamComesAfterTheStream) {
  writer(1);
  writer(2, Flag);
  R.O.hostEnqueue(1);
  R.O.streamOp(1, "cudaLaunchHostFunc", {}, {});
  host(ReadsMemory, Here, Data, 4, /*IsOfFunction=*/true);
  EXPECT_EQ(R.races(), None);
  host(ReadsMemory, Here, Flag, 4, /*IsOfFunction=*/true);
  EXPECT_EQ(R.races(), Race);
  R.O.hostFunctionEnd(1);
  host(WritesMemory, There, Data + 8, 4, /*IsOfFunction=*/true);
  writer(1, Data + 8);
  EXPECT_EQ(R.races(), Race);
}

TEST_F(HostAccessTest, LongAccesses) {
  const uint64_t G = launch(1);
  R.store(R.at(0, 0), Data + 5000, 1);
  R.end(G);
  host(ReadsMemory, There, Data, 5000);
  EXPECT_EQ(R.races(), None);
  host(ReadsMemory, Here, Data, 5001);
  EXPECT_EQ(R.races(), Race);
}
