// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small programs of the memory model.
//
// A producer P and a consumer C in blocks of their own, unless said otherwise.
#include "Trace.h"

using namespace crsan::sim;

namespace {

class LitmusTest : public testing::Test {
protected:
  LitmusTest() { R.start(0, 4, 64); }

  /// Message passing, by what stands before the flag's write and after its
  /// read.
  struct Passing {
    bool IsVolatile = false; ///< The flag.
    MemoryOrder Write = MemoryOrder::Relaxed, Read = MemoryOrder::Relaxed;
    Scope WriteWithin = Scope::Device, ReadWithin = Scope::Device;
    std::optional<Scope> WriteFence = {}, ReadFence = {};
  };
  Trace::Pairs pass(const Passing &M, ThreadRef P, ThreadRef C) {
    R.store(P, Data, 1);
    if (M.WriteFence)
      R.fence(P, *M.WriteFence);
    if (M.IsVolatile)
      R.volatileStore(P, Flag, 2);
    else
      R.store(P, Flag, 2, M.Write, M.WriteWithin);
    if (M.IsVolatile)
      R.volatileLoad(C, Flag, 3);
    else
      R.load(C, Flag, 3, M.Read, M.ReadWithin);
    if (M.ReadFence)
      R.fence(C, *M.ReadFence);
    R.load(C, Data, 4);
    return R.races();
  }
  Trace::Pairs passBetweenBlocks(const Passing &M) {
    return pass(M, R.at(0, 0), R.at(1, 0));
  }
  Trace::Pairs passInBlock(const Passing &M) {
    return pass(M, R.at(0, 0), R.at(0, 40));
  }

  std::string missing(int32_t Instruction) {
    for (const RaceFinding &F : R.O.findings())
      if (F.Later.Instruction == Instruction)
        return F.Missing;
    return "";
  }

  Trace R;
};

const Trace::Pairs DataRace = {{1, 4}};

} // namespace

TEST_F(LitmusTest, PlainAccesses) {
  R.store(R.at(0, 0), Data, 1);
  R.load(R.at(1, 0), Data, 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
  EXPECT_NE(missing(2).find("different blocks"), std::string::npos);
}

TEST_F(LitmusTest, ReadsDoNotConflict) {
  R.load(R.at(0, 0), Data, 1);
  R.load(R.at(1, 0), Data, 2);
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, LaterWriteRacesWithEveryReader) {
  R.load(R.at(0, 0), Data, 1);
  R.load(R.at(1, 0), Data, 2);
  R.load(R.at(2, 5), Data, 3);
  R.store(R.at(3, 0), Data, 4);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 4}, {2, 4}, {3, 4}}));
}

TEST_F(LitmusTest, RelaxedFlagWithoutFences) {
  EXPECT_EQ(passBetweenBlocks({}), DataRace);
  EXPECT_NE(missing(4).find("without a fence"), std::string::npos);
}

TEST_F(LitmusTest, RelaxedFlagWithFences) {
  EXPECT_EQ(passBetweenBlocks(
                {.WriteFence = Scope::Device, .ReadFence = Scope::Device}),
            None);
}

TEST_F(LitmusTest, WriterFenceAlone) {
  EXPECT_EQ(passBetweenBlocks({.WriteFence = Scope::Device}), DataRace);
}

TEST_F(LitmusTest, ReaderFenceAlone) {
  EXPECT_EQ(passBetweenBlocks({.ReadFence = Scope::Device}), DataRace);
}

TEST_F(LitmusTest, BlockFenceBetweenBlocks) {
  EXPECT_EQ(passBetweenBlocks(
                {.WriteFence = Scope::Block, .ReadFence = Scope::Device}),
            DataRace);
  EXPECT_NE(missing(4).find("does not have the scope to order threads in "
                            "different blocks"),
            std::string::npos);
}

TEST_F(LitmusTest, BlockFenceOfReaderBetweenBlocks) {
  EXPECT_EQ(passBetweenBlocks(
                {.WriteFence = Scope::Device, .ReadFence = Scope::Block}),
            DataRace);
  EXPECT_NE(missing(4).find("does not have the scope"), std::string::npos);
}

TEST_F(LitmusTest, BlockFenceInBlock) {
  EXPECT_EQ(
      passInBlock({.WriteFence = Scope::Block, .ReadFence = Scope::Block}),
      None);
}

TEST_F(LitmusTest, MixedFencesInBlock) {
  EXPECT_EQ(
      passInBlock({.WriteFence = Scope::System, .ReadFence = Scope::Block}),
      None);
}

TEST_F(LitmusTest, SystemFenceMeetsDeviceFence) {
  EXPECT_EQ(passBetweenBlocks(
                {.WriteFence = Scope::System, .ReadFence = Scope::Device}),
            None);
}

TEST_F(LitmusTest, LaterBlockFenceDoesNotHideDeviceFence) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Data, 1);
  R.fence(P, Scope::Device);
  R.store(P, Data + 4, 5);
  R.fence(P, Scope::Block);
  R.store(P, Flag, 2, MemoryOrder::Relaxed, Scope::Device);
  R.load(C, Flag, 3, MemoryOrder::Acquire, Scope::Device);
  R.load(C, Data, 4);
  R.load(C, Data + 4, 6);
  EXPECT_EQ(R.races(), (Trace::Pairs{{5, 6}}));
}

TEST_F(LitmusTest, ReleaseAndAcquire) {
  EXPECT_EQ(passBetweenBlocks(
                {.Write = MemoryOrder::Release, .Read = MemoryOrder::Acquire}),
            None);
}

TEST_F(LitmusTest, ReleaseReadRelaxed) {
  EXPECT_EQ(passBetweenBlocks({.Write = MemoryOrder::Release}), DataRace);
}

TEST_F(LitmusTest, ReleaseReadRelaxedThenFence) {
  EXPECT_EQ(passBetweenBlocks(
                {.Write = MemoryOrder::Release, .ReadFence = Scope::Device}),
            None);
}

TEST_F(LitmusTest, BlockReleaseBetweenBlocksRacesOnTheFlagToo) {
  EXPECT_EQ(passBetweenBlocks({.Write = MemoryOrder::Release,
                               .Read = MemoryOrder::Acquire,
                               .WriteWithin = Scope::Block}),
            (Trace::Pairs{{1, 4}, {2, 3}}));
  EXPECT_NE(missing(3).find("the write has block scope and the threads are in "
                            "different blocks"),
            std::string::npos);
}

TEST_F(LitmusTest, BlockReleaseInBlock) {
  EXPECT_EQ(passInBlock({.Write = MemoryOrder::Release,
                         .Read = MemoryOrder::Acquire,
                         .WriteWithin = Scope::Block,
                         .ReadWithin = Scope::Block}),
            None);
}

TEST_F(LitmusTest, VolatileFlagWithFences) {
  EXPECT_EQ(passBetweenBlocks({.IsVolatile = true,
                               .WriteFence = Scope::Device,
                               .ReadFence = Scope::Device}),
            None);
}

TEST_F(LitmusTest, VolatileFlagWithoutFences) {
  EXPECT_EQ(passBetweenBlocks({.IsVolatile = true}), DataRace);
}

TEST_F(LitmusTest, WeakFlagIsARaceAndOrdersNothing) {
  EXPECT_EQ(passBetweenBlocks({.Write = MemoryOrder::Weak,
                               .Read = MemoryOrder::Weak,
                               .WriteFence = Scope::Device,
                               .ReadFence = Scope::Device}),
            (Trace::Pairs{{1, 4}, {2, 3}}));
}

TEST_F(LitmusTest, FlagNotYetWritten) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.load(C, Flag, 3, MemoryOrder::Acquire, Scope::Device);
  R.store(P, Data, 1);
  R.store(P, Flag, 2, MemoryOrder::Release, Scope::Device);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), DataRace);
}

TEST_F(LitmusTest, ScFencesSynchroniseByThemselves) {
  const auto Test = [](OracleOptions Options) {
    Trace R(Options);
    R.start(0, 2, 32);
    R.store(R.at(0, 0), Data, 1);
    R.fence(R.at(0, 0), Scope::Device, MemoryOrder::SequentiallyConsistent);
    R.fence(R.at(1, 0), Scope::Device, MemoryOrder::SequentiallyConsistent);
    R.load(R.at(1, 0), Data, 4);
    return R.races();
  };
  EXPECT_EQ(Test({}), None);
  EXPECT_EQ(Test({.FencesSynchronise = false}), DataRace);
}

TEST_F(LitmusTest, ScFencesOfBlocksDoNotMeet) {
  R.store(R.at(0, 0), Data, 1);
  R.fence(R.at(0, 0), Scope::Block, MemoryOrder::SequentiallyConsistent);
  R.fence(R.at(1, 0), Scope::Block, MemoryOrder::SequentiallyConsistent);
  R.load(R.at(1, 0), Data, 4);
  EXPECT_EQ(R.races(), DataRace);
}

TEST_F(LitmusTest, AcquireAndReleaseFencesAreOneWay) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Data, 1);
  R.fence(P, Scope::Device, MemoryOrder::Acquire);
  R.store(P, Flag, 2, MemoryOrder::Relaxed, Scope::Device);
  R.load(C, Flag, 3, MemoryOrder::Relaxed, Scope::Device);
  R.fence(C, Scope::Device, MemoryOrder::AcquireRelease);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), DataRace);
}

TEST_F(LitmusTest, CausalityIsTransitive) {
  const ThreadRef A = R.at(0, 0), B = R.at(1, 0), C = R.at(2, 0);
  R.store(A, Data, 1);
  R.store(A, Flag, 2, MemoryOrder::Release, Scope::Device);
  R.load(B, Flag, 3, MemoryOrder::Acquire, Scope::Device);
  R.store(B, Lock, 5, MemoryOrder::Release, Scope::Device);
  R.load(C, Lock, 6, MemoryOrder::Acquire, Scope::Device);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, CausalityGoesOnThroughNarrowerScopes) {
  const ThreadRef A = R.at(0, 0), B = R.at(1, 0), C = R.at(1, 50);
  R.store(A, Data, 1);
  R.store(A, Flag, 2, MemoryOrder::Release, Scope::Device);
  R.load(B, Flag, 3, MemoryOrder::Acquire, Scope::Device);
  R.store(B, Lock, 5, MemoryOrder::Release, Scope::Block);
  R.load(C, Lock, 6, MemoryOrder::Acquire, Scope::Block);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, WhatFollowsARelease) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Flag, 2, MemoryOrder::Release, Scope::Device);
  R.store(P, Data, 1);
  R.load(C, Flag, 3, MemoryOrder::Acquire, Scope::Device);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), DataRace);
}

TEST_F(LitmusTest, RelaxedWriteAfterReleaseGoesOnWithIt) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Data, 1);
  R.store(P, Flag, 2, MemoryOrder::Release, Scope::Device);
  R.store(P, Flag, 5, MemoryOrder::Relaxed, Scope::Device);
  R.load(C, Flag, 3, MemoryOrder::Acquire, Scope::Device);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, RelaxedReadBeforeAcquireOfTheSameLocation) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Data, 1);
  R.store(P, Flag, 2, MemoryOrder::Release, Scope::Device);
  R.load(C, Flag, 3, MemoryOrder::Relaxed, Scope::Device);
  // Another value by now, released by nobody.
  R.store(R.at(2, 0), Flag, 5, MemoryOrder::Relaxed, Scope::Device);
  R.load(C, Flag, 6, MemoryOrder::Acquire, Scope::Device);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, OverwrittenReleaseIsNotObserved) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Data, 1);
  R.store(P, Flag, 2, MemoryOrder::Release, Scope::Device);
  R.store(R.at(2, 0), Flag, 5, MemoryOrder::Relaxed, Scope::Device);
  R.load(C, Flag, 6, MemoryOrder::Acquire, Scope::Device);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), DataRace);
}

TEST_F(LitmusTest, ReleaseSequenceThroughReadModifyWrite) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Data, 1);
  R.store(P, Flag, 2, MemoryOrder::Release, Scope::Device);
  R.atomic(R.at(2, 0), Flag, 5); // Relaxed, of somebody else.
  R.atomic(R.at(3, 0), Flag, 5);
  R.load(C, Flag, 6, MemoryOrder::Acquire, Scope::Device);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, ReleaseSequenceBreaksAtTooNarrowAtomic) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Data, 1);
  R.store(P, Flag, 2, MemoryOrder::Release, Scope::Device);
  R.atomic(R.at(2, 0), Flag, 5, MemoryOrder::Relaxed, Scope::Block);
  R.load(C, Flag, 6, MemoryOrder::Acquire, Scope::Device);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 4}, {2, 5}, {5, 6}}));
}

TEST_F(LitmusTest, ReductionsAcquireNothing) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Data, 1);
  R.store(P, Flag, 2, MemoryOrder::Release, Scope::Device);
  R.reduce(C, Flag, 3);
  R.fence(C);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), DataRace);
}

TEST_F(LitmusTest, ReductionsCarryReleasesOn) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Data, 1);
  R.store(P, Flag, 2, MemoryOrder::Release, Scope::Device);
  R.reduce(R.at(2, 0), Flag, 3);
  R.load(C, Flag, 5, MemoryOrder::Acquire, Scope::Device);
  R.load(C, Data, 4);
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, AtomicsDoNotRaceWithEachOther) {
  for (uint32_t B = 0; B < 4; ++B)
    for (uint32_t T = 0; T < 64; ++T)
      R.atomic(R.at(B, T), Data, 1);
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, AtomicAgainstWeak) {
  R.atomic(R.at(0, 0), Data, 1);
  R.load(R.at(1, 0), Data, 2);
  R.store(R.at(2, 0), Data, 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}, {1, 3}, {2, 3}}));
  EXPECT_NE(missing(2).find("Only one of the two accesses is atomic"),
            std::string::npos);
}

TEST_F(LitmusTest, WeakReadAgainstManyAtomics) {
  for (uint32_t B = 0; B < 4; ++B)
    for (uint32_t T = 0; T < 64; ++T)
      R.atomic(R.at(B, T), Data, 1);
  R.load(R.at(0, 0), Data, 2);
  ASSERT_EQ(R.O.findings().size(), 1u);
  // Its own one, and those before it that it has observed, are ordered.
  EXPECT_EQ(R.O.findings()[0].Count, 4u * 64 - 1);
}

TEST_F(LitmusTest, BlockAtomicsBetweenBlocks) {
  R.atomic(R.at(0, 0), Data, 1, MemoryOrder::Relaxed, Scope::Block);
  R.atomic(R.at(0, 1), Data, 1, MemoryOrder::Relaxed, Scope::Block);
  EXPECT_EQ(R.races(), None);
  R.atomic(R.at(1, 0), Data, 2, MemoryOrder::Relaxed, Scope::Device);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
  EXPECT_NE(missing(2).find("the atomic has block scope"), std::string::npos);
}

TEST_F(LitmusTest, ObservedWritesAreOrderedAtTheirOwnLocation) {
  // The last thread of a counter may reset it by a plain write.
  R.atomic(R.at(0, 0), Data, 1);
  R.atomic(R.at(1, 0), Data, 1);
  R.atomic(R.at(2, 0), Data, 1);
  R.store(R.at(2, 0), Data, 2);
  EXPECT_EQ(R.races(), None);
  // The plain write stands for the atomics, which are all before it.
  R.store(R.at(1, 0), Data, 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{2, 3}}));
}

TEST_F(LitmusTest, MixedSizesAreNotMorallyStrong) {
  R.store(R.at(0, 0), Data, 1, MemoryOrder::Relaxed, Scope::Device, 8);
  R.load(R.at(1, 0), Data + 4, 2, MemoryOrder::Relaxed, Scope::Device, 4);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
  EXPECT_NE(missing(2).find("overlap only in part"), std::string::npos);
}

TEST_F(LitmusTest, VectorElementsAreOperations) {
  Access A;
  A.Flags = WritesMemory;
  A.Order = MemoryOrder::Relaxed;
  A.IsVolatile = true;
  A.Address = Data;
  A.Size = 16;
  A.Elements = 4;
  A.Instruction = 1;
  R.O.access(R.at(0, 0), A);
  R.volatileLoad(R.at(1, 0), Data + 8, 2);
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, DisjointBytes) {
  for (uint32_t T = 0; T < 16; ++T)
    R.store(R.at(T % 4, T), Data + T, 1, MemoryOrder::Weak, Scope::System, 1);
  EXPECT_EQ(R.races(), None);
  R.load(R.at(0, 20), Data + 15, 2, MemoryOrder::Weak, Scope::System, 1);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
}

TEST_F(LitmusTest, PartialOverlap) {
  R.store(R.at(0, 0), Data, 1, MemoryOrder::Weak, Scope::System, 2);
  R.store(R.at(1, 0), Data, 2, MemoryOrder::Weak, Scope::System, 1);
  R.load(R.at(1, 0), Data + 2, 3, MemoryOrder::Weak, Scope::System, 2);
  R.load(R.at(2, 0), Data + 1, 4, MemoryOrder::Weak, Scope::System, 1);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}, {1, 4}}));
}

TEST_F(LitmusTest, LockWithFences) {
  for (uint32_t B = 0; B < 4; ++B) {
    const ThreadRef T = R.at(B, B);
    R.atomic(T, Lock, 1); // atomicCAS, taken.
    R.fence(T);
    R.load(T, Data, 2);
    R.store(T, Data, 3);
    R.fence(T);
    R.atomic(T, Lock, 4); // atomicExch
  }
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, LockWithoutFences) {
  for (uint32_t B = 0; B < 2; ++B) {
    const ThreadRef T = R.at(B, 0);
    R.atomic(T, Lock, 1);
    R.store(T, Data, 3);
    R.atomic(T, Lock, 4);
  }
  EXPECT_EQ(R.races(), (Trace::Pairs{{3, 3}}));
}

TEST_F(LitmusTest, LockReleasedByVolatileStore) {
  for (uint32_t B = 0; B < 4; ++B) {
    const ThreadRef T = R.at(B, 0);
    R.atomic(T, Lock, 1);
    R.fence(T);
    R.store(T, Data, 3);
    R.fence(T);
    R.volatileStore(T, Lock, 4);
  }
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, LockWithBlockFences) {
  for (uint32_t B = 0; B < 2; ++B) {
    const ThreadRef T = R.at(B, 0);
    R.atomic(T, Lock, 1);
    R.fence(T, Scope::Block);
    R.store(T, Data, 3);
    R.fence(T, Scope::Block);
    R.atomic(T, Lock, 4);
  }
  EXPECT_EQ(R.races(), (Trace::Pairs{{3, 3}}));
}

TEST_F(LitmusTest, LastBlockDone) {
  std::set<uint32_t> All;
  for (uint32_t T = 0; T < 64; ++T)
    All.insert(T);
  for (uint32_t B = 0; B < 4; ++B) {
    R.store(R.at(B, 0), Data + 4 * B, 1);
    R.fence(R.at(B, 0));
    R.atomic(R.at(B, 0), Flag, 2);
    R.sync(B, All);
  }
  // The last one, after a fence: all of its threads read.
  R.fence(R.at(3, 0));
  R.sync(3, All);
  for (uint32_t T = 0; T < 4; ++T)
    R.load(R.at(3, T), Data + 4 * T, 3);
  R.store(R.at(3, 0), Flag, 4);
  EXPECT_EQ(R.races(), None);
}

TEST_F(LitmusTest, LastBlockDoneWithoutFence) {
  for (uint32_t B = 0; B < 4; ++B) {
    R.store(R.at(B, 0), Data + 4 * B, 1);
    R.atomic(R.at(B, 0), Flag, 2);
  }
  R.fence(R.at(3, 0));
  for (uint32_t B = 0; B < 4; ++B)
    R.load(R.at(3, 0), Data + 4 * B, 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 3}}));
  EXPECT_EQ(R.O.findings()[0].Count, 3u);
}

TEST_F(LitmusTest, ClusterScope) {
  Trace C;
  C.start(0, 4, 32, /*Cluster=*/2);
  for (uint32_t Reader : {1, 2}) {
    const uint64_t At = Data + 64 * Reader, FlagAt = Flag + 64 * Reader;
    C.store(C.at(0, 0), At, 10 * Reader);
    C.store(C.at(0, 0), FlagAt, 10 * Reader + 1, MemoryOrder::Release,
            Scope::Cluster);
    C.load(C.at(Reader, 0), FlagAt, 10 * Reader + 2, MemoryOrder::Acquire,
           Scope::Cluster);
    C.load(C.at(Reader, 0), At, 10 * Reader + 3);
  }
  EXPECT_EQ(C.races(), (Trace::Pairs{{20, 23}, {21, 22}}));
}

//===----------------------------------------------------------------------===//
// volatile=weak
//===----------------------------------------------------------------------===//

TEST(WeakVolatile, RacesAndOrdersNothing) {
  OracleOptions O;
  O.FencesSynchronise = false;
  O.VolatileIsWeak = true;
  Trace R(O);
  R.start(0, 2, 32);
  R.store(R.at(0, 0), Data, 1);
  R.fence(R.at(0, 0));
  R.volatileStore(R.at(0, 0), Flag, 2);
  R.volatileLoad(R.at(1, 0), Flag, 3);
  R.fence(R.at(1, 0));
  R.load(R.at(1, 0), Data, 4);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 4}, {2, 3}}));
}

//===----------------------------------------------------------------------===//
// Atomics that may be wider than is known
//===----------------------------------------------------------------------===//

namespace {

class WiderTest : public LitmusTest {
protected:
  void wider(ThreadRef T, int32_t Instruction, MemoryOrder Order) {
    Access A;
    A.Order = Order;
    A.Within = Scope::Device;
    A.Flags = AtomicUpdate;
    A.MayBeWider = true;
    A.Address = Flag;
    A.Size = 1;
    A.Instruction = Instruction;
    R.O.access(T, A);
  }
};

} // namespace

TEST_F(WiderTest, MorallyStrongWithWiderOnes) {
  R.atomic(R.at(0, 0), Flag, 1, MemoryOrder::Relaxed, Scope::Device, 2);
  wider(R.at(1, 0), 2, MemoryOrder::Relaxed);
  R.atomic(R.at(2, 0), Flag, 3, MemoryOrder::Relaxed, Scope::Device, 2);
  wider(R.at(3, 0), 4, MemoryOrder::Relaxed);
  EXPECT_EQ(R.races(), None);
  R.store(R.at(3, 5), Flag + 1, 5, MemoryOrder::Weak, Scope::System, 1);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 5}, {3, 5}}));
}

TEST_F(WiderTest, PassesOn) {
  R.store(R.at(0, 0), Data, 1);
  wider(R.at(0, 0), 2, MemoryOrder::Release);
  R.load(R.at(1, 0), Flag, 3, MemoryOrder::Acquire, Scope::Device, 2);
  R.load(R.at(1, 0), Data, 4);
  EXPECT_EQ(R.races(), None);
}
