// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of all kinds.
#include "PTX/Classify.h"
#include "Trace.h"

using namespace crsan;
using namespace crsan::sim;

namespace {

class BarrierTest : public testing::Test {
protected:
  BarrierTest() { R.start(0, 4, 128); }

  static std::set<uint32_t> threads(uint32_t Begin, uint32_t End) {
    std::set<uint32_t> Result;
    for (uint32_t T = Begin; T < End; ++T)
      Result.insert(T);
    return Result;
  }

  Trace R;
};

} // namespace

TEST_F(BarrierTest, OrdersTheBlock) {
  for (uint32_t T = 0; T < 128; ++T)
    R.store(R.at(0, T), R.shared(0, 4 * T), 1);
  R.sync(0, threads(0, 128));
  for (uint32_t T = 0; T < 128; ++T)
    R.load(R.at(0, T), R.shared(0, 4 * (127 - T)), 2);
  EXPECT_EQ(R.races(), None);
}

TEST_F(BarrierTest, MissingBeforeTheNextRound) {
  for (int Round = 0; Round < 2; ++Round) {
    for (uint32_t T = 0; T < 128; ++T)
      R.store(R.at(0, T), R.shared(0, 4 * T), 1);
    R.sync(0, threads(0, 128));
    for (uint32_t T = 0; T < 128; ++T)
      R.load(R.at(0, T), R.shared(0, 4 * (127 - T)), 2);
  }
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
  EXPECT_EQ(R.O.findings()[0].Missing, "No barrier between them.");
  EXPECT_EQ(R.O.findings()[0].Count, 128u);
}

TEST_F(BarrierTest, OfOneBlockDoesNotOrderAnother) {
  R.store(R.at(0, 0), Data, 1);
  R.sync(0, threads(0, 128));
  R.sync(1, threads(0, 128));
  R.load(R.at(1, 0), Data, 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
}

TEST_F(BarrierTest, NamedBarrierOrdersItsThreads) {
  R.store(R.at(0, 0), Data, 1);
  R.sync(0, threads(0, 64));
  R.load(R.at(0, 63), Data, 2);
  EXPECT_EQ(R.races(), None);
  R.load(R.at(0, 64), Data, 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 3}}));
}

TEST_F(BarrierTest, ArriveOrdersOneWay) {
  R.store(R.at(0, 0), Data, 1); // Producer: bar.arrive
  R.load(R.at(0, 40), Flag, 2); // Consumer: bar.sync
  R.arrive(R.at(0, 0), 1);
  R.arrive(R.at(0, 40), 1);
  R.leave(R.at(0, 40), 1);
  R.load(R.at(0, 40), Data, 3);
  EXPECT_EQ(R.races(), None);
  R.store(R.at(0, 0), Flag, 4);
  EXPECT_EQ(R.races(), (Trace::Pairs{{2, 4}}));
}

/// A barrier does not wait for threads that have exited; 8.9.4 names no other
/// order between an exit and a barrier.
TEST_F(BarrierTest, ExitedThreadsHaveNotArrived) {
  R.store(R.at(0, 100), Data, 1);
  R.O.threadExit(R.at(0, 100));
  R.sync(0, threads(0, 64));
  R.load(R.at(0, 0), Data, 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
}

TEST_F(BarrierTest, WhatFollowsAnArrivalIsNotOrdered) {
  R.arrive(R.at(0, 0), 1);
  R.store(R.at(0, 0), Data, 1);
  R.arrive(R.at(0, 40), 1);
  R.leave(R.at(0, 40), 1);
  R.load(R.at(0, 40), Data, 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
}

TEST_F(BarrierTest, WarpBarrierOrdersItsMask) {
  R.store(R.at(0, 0), Data, 1);
  R.sync(0, {0, 1, 2, 3}, BarrierKind::Warp);
  R.load(R.at(0, 3), Data, 2);
  EXPECT_EQ(R.races(), None);
  R.load(R.at(0, 4), Data, 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 3}}));
  EXPECT_NE(R.O.findings()[0].Missing.find("__syncwarp"), std::string::npos);
}

TEST_F(BarrierTest, LanesAreNotInLockstep) {
  for (uint32_t T = 0; T < 32; ++T)
    R.store(R.at(0, T), Data, 1);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 1}}));
  EXPECT_EQ(R.O.findings()[0].Count, 32u * 31 / 2);
}

TEST_F(BarrierTest, WarpBarriersAddUp) {
  R.store(R.at(0, 0), Data, 1);
  R.sync(0, {0, 1}, BarrierKind::Warp);
  R.sync(0, {1, 2}, BarrierKind::Warp);
  R.load(R.at(0, 2), Data, 2);
  EXPECT_EQ(R.races(), None);
}

TEST_F(BarrierTest, BarrierAndFlagAddUp) {
  // One thread releases for its block, one acquires for the other.
  R.store(R.at(0, 100), Data, 1);
  R.sync(0, threads(0, 128));
  R.store(R.at(0, 0), Flag, 2, MemoryOrder::Release, Scope::Device);
  R.load(R.at(1, 0), Flag, 3, MemoryOrder::Acquire, Scope::Device);
  R.sync(1, threads(0, 128));
  R.load(R.at(1, 77), Data, 4);
  EXPECT_EQ(R.races(), None);
}

TEST_F(BarrierTest, AnnotationsOrder) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Data, 1);
  R.O.annotation(P, ptx::Annotation::HappensBefore, 5);
  R.O.annotation(C, ptx::Annotation::HappensAfter, 6);
  R.load(C, Data, 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
  R.store(P, Flag, 3); // Not before what it has announced.
  R.O.annotation(C, ptx::Annotation::HappensAfter, 5);
  R.load(C, Data, 4);
  R.load(C, Flag, 5);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}, {3, 5}}));
}

TEST_F(BarrierTest, BenignAccessesAreCountedOnly) {
  const ThreadRef P = R.at(0, 0), C = R.at(1, 0);
  R.store(P, Data, 1);
  R.O.annotation(C, ptx::Annotation::BenignBegin, Data);
  R.load(C, Data, 2);
  R.O.annotation(C, ptx::Annotation::BenignEnd, Data);
  EXPECT_EQ(R.races(), None);
  EXPECT_EQ(R.O.counts().Exempt, 1u);
  R.load(C, Data, 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 3}}));
}

TEST_F(BarrierTest, MBarrierReleasesAndAcquires) {
  R.store(R.at(0, 0), Data, 1);
  R.arrive(R.at(0, 0), 5, BarrierKind::MBarrier);
  R.store(R.at(0, 0), Flag, 2);
  R.leave(R.at(0, 100), 5, BarrierKind::MBarrier);
  R.leave(R.at(0, 101), 5, BarrierKind::MBarrier);
  R.load(R.at(0, 100), Data, 3);
  R.load(R.at(0, 101), Data, 3);
  EXPECT_EQ(R.races(), None);
  R.load(R.at(0, 100), Flag, 4);
  EXPECT_EQ(R.races(), (Trace::Pairs{{2, 4}}));
}

TEST_F(BarrierTest, RelaxedMBarrierNeedsFences) {
  const ThreadRef P = R.at(0, 0), C = R.at(0, 100);
  R.store(P, Data, 1);
  R.O.barrierArrive(P, 5, BarrierKind::MBarrier, MemoryOrder::Relaxed,
                    Scope::Cluster);
  R.O.barrierLeave(C, 5, BarrierKind::MBarrier, MemoryOrder::Acquire,
                   Scope::Block);
  R.load(C, Data, 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));

  R.store(P, Flag, 3);
  R.fence(P, Scope::Block);
  R.O.barrierArrive(P, 6, BarrierKind::MBarrier, MemoryOrder::Relaxed,
                    Scope::Cluster);
  R.O.barrierLeave(C, 6, BarrierKind::MBarrier, MemoryOrder::Relaxed,
                   Scope::Cluster);
  R.fence(C, Scope::Block);
  R.load(C, Flag, 4);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
}

TEST_F(BarrierTest, MBarrierScope) {
  Trace C;
  C.start(0, 4, 32, /*Cluster=*/2);
  const auto Pass = [&](Scope Arrive, uint64_t Id, int32_t First) {
    const uint64_t At = Data + 64 * Id;
    C.store(C.at(0, 0), At, First);
    C.O.barrierArrive(C.at(0, 0), Id, BarrierKind::MBarrier,
                      MemoryOrder::Release, Arrive);
    C.O.barrierLeave(C.at(1, 0), Id, BarrierKind::MBarrier,
                     MemoryOrder::Acquire, Scope::Cluster);
    C.load(C.at(1, 0), At, First + 1);
  };
  Pass(Scope::Cluster, 1, 10);
  EXPECT_EQ(C.races(), None);
  Pass(Scope::Block, 2, 20);
  EXPECT_EQ(C.races(), (Trace::Pairs{{20, 21}}));
}

TEST_F(BarrierTest, ClusterBarrier) {
  Trace C;
  C.start(0, 4, 32, /*Cluster=*/2);
  C.store(C.at(0, 0), C.shared(0, 0), 1);
  C.store(C.at(0, 0), Data, 1);
  for (uint32_t B = 0; B < 2; ++B)
    C.arrive(C.at(B, 0), 9, BarrierKind::Cluster);
  for (uint32_t B = 0; B < 2; ++B)
    C.leave(C.at(B, 0), 9, BarrierKind::Cluster);
  C.load(C.at(1, 0), C.shared(0, 0), 2);
  EXPECT_EQ(C.races(), None);
  C.load(C.at(2, 0), Data, 3);
  EXPECT_EQ(C.races(), (Trace::Pairs{{1, 3}}));
}

TEST_F(BarrierTest, SharedMemoryIsNewInEveryBlock) {
  R.store(R.at(0, 0), R.shared(0, 16), 1);
  R.load(R.at(1, 0), R.shared(1, 16), 2);
  EXPECT_EQ(R.races(), None);
}

TEST_F(BarrierTest, ManyRoundsOfManyThreads) {
  const std::set<uint32_t> All = threads(0, 128);
  for (int Round = 0; Round < 200; ++Round) {
    for (uint32_t T = 0; T < 128; ++T)
      R.store(R.at(2, T), R.shared(2, 4 * ((T + Round) % 128)), 1);
    R.sync(2, All);
    for (uint32_t T = 0; T < 128; ++T)
      R.load(R.at(2, T), R.shared(2, 4 * T), 2);
    R.sync(2, All);
  }
  EXPECT_EQ(R.races(), None);
  EXPECT_EQ(R.O.counts().Barriers, 200u * 2 * 128);
}
