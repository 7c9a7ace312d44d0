// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels, copies, streams, events and the host.
#include "Trace.h"

#include <optional>

using namespace crsan::sim;

namespace {

class StreamTest : public testing::Test {
protected:
  /// A kernel of which one thread writes.
  void writer(Stream S, uint32_t Thread, int32_t Instruction,
              uint64_t Address = Data) {
    R.O.hostEnqueue(S);
    run(S, Thread, Instruction, Address);
  }
  void run(Stream S, uint32_t Thread, int32_t Instruction,
           uint64_t Address = Data) {
    const uint64_t G = R.start(S, 2, 64);
    R.store(R.at(1, Thread), Address, Instruction);
    R.end(G);
  }
  void copy(Stream S, uint64_t From, uint64_t To, size_t Size,
            const char *Name = "cudaMemcpyAsync") {
    R.O.hostEnqueue(S);
    const HostRange Source{reinterpret_cast<void *>(From), Size};
    const HostRange Target{reinterpret_cast<void *>(To), Size};
    R.O.streamOp(S, Name, std::span(&Source, From ? 1 : 0),
                 std::span(&Target, To ? 1 : 0));
  }

  Trace R;
};

} // namespace

TEST_F(StreamTest, OneStreamIsInOrder) {
  writer(1, 0, 1);
  writer(1, 5, 2);
  copy(1, Data, 0, 4096);
  writer(1, 7, 3);
  EXPECT_EQ(R.races(), None);
  EXPECT_EQ(R.O.counts().Grids, 3u);
  EXPECT_EQ(R.O.counts().Threads, 3u * 128);
}

TEST_F(StreamTest, TwoStreamsAreNot) {
  writer(1, 0, 1);
  writer(2, 0, 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
  EXPECT_NE(R.O.findings()[0].Missing.find("No stream order"),
            std::string::npos);
}

TEST_F(StreamTest, AnEventOrdersThem) {
  writer(1, 0, 1);
  R.O.hostEnqueue(1);
  R.O.eventRecord(9, 1);
  R.O.hostEnqueue(2);
  R.O.eventWait(9, 2);
  writer(2, 0, 2);
  EXPECT_EQ(R.races(), None);
}

TEST_F(StreamTest, WhatFollowsTheRecordIsNotCovered) {
  R.O.hostEnqueue(1);
  R.O.eventRecord(9, 1);
  writer(1, 0, 1);
  R.O.hostEnqueue(2);
  R.O.eventWait(9, 2);
  writer(2, 0, 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
}

TEST_F(StreamTest, TheDefaultStreamOrders) {
  writer(1, 0, 1);
  R.O.streamOrder(1, 0);
  writer(0, 0, 2);
  R.O.streamOrder(0, 1);
  writer(1, 0, 3);
  EXPECT_EQ(R.races(), None);
}

TEST_F(StreamTest, TheHostOrders) {
  writer(1, 0, 1);
  R.O.hostSyncStream(1);
  writer(2, 0, 2);
  R.O.hostEnqueue(2);
  R.O.eventRecord(4, 2);
  R.O.hostSyncEvent(4);
  writer(3, 0, 3);
  R.O.hostSyncAll();
  copy(4, 0, Data, 64, "cudaMemsetAsync");
  EXPECT_EQ(R.races(), None);
}

TEST_F(StreamTest, WhatTheHostKnewWhenItEnqueued) {
  R.O.hostEnqueue(2); // Enqueued before the host has seen the end of 1 ...
  writer(1, 0, 1);
  R.O.hostSyncStream(1);
  run(2, 0, 2); // ... though it runs later.
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
}

TEST_F(StreamTest, SyncWithOneStreamSaysNothingOfAnother) {
  writer(1, 0, 1);
  writer(3, 0, 2, Flag);
  R.O.hostSyncStream(3);
  writer(2, 0, 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 3}}));
}

TEST_F(StreamTest, CopiesAreAccesses) {
  writer(1, 0, 1, Data + 8000);
  copy(2, Data, 0, 16384);
  ASSERT_EQ(R.O.findings().size(), 1u);
  const RaceFinding &F = R.O.findings()[0];
  EXPECT_TRUE(F.Later.IsHost);
  EXPECT_EQ(F.Later.Name, "cudaMemcpyAsync");
  EXPECT_EQ(F.Address, Data + 8000);
}

TEST_F(StreamTest, KernelAfterCopyOfAnotherStream) {
  copy(2, 0, Data, 16384, "cudaMemsetAsync");
  writer(1, 0, 1, Data + 8000);
  writer(1, 0, 2, Data + 16384); // Beyond.
  ASSERT_EQ(R.O.findings().size(), 1u);
  EXPECT_EQ(R.O.findings()[0].Earlier.Name, "cudaMemsetAsync");
}

TEST_F(StreamTest, MemoryGivenBackIsNew) {
  writer(1, 0, 1);
  R.O.freed({reinterpret_cast<void *>(Data), 256});
  R.O.allocated({reinterpret_cast<void *>(Data), 256});
  writer(2, 0, 2);
  EXPECT_EQ(R.races(), None);
}

TEST_F(StreamTest, RunningKernelsMeet) {
  const uint64_t A = R.start(1, 1, 32), B = R.start(2, 1, 32);
  R.store(R.thread(A, 0, 0), Data, 1);
  R.store(R.thread(A, 0, 0), Flag, 2, MemoryOrder::Release, Scope::Device);
  R.load(R.thread(B, 0, 0), Flag, 3, MemoryOrder::Acquire, Scope::Device);
  R.load(R.thread(B, 0, 0), Data, 4);
  EXPECT_EQ(R.races(), None);
  R.load(R.thread(B, 0, 1), Data, 5);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 5}}));
  R.end(A);
  R.end(B);
  // What B knew of A goes on with the stream.
  writer(2, 0, 6);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 5}}));
}

TEST_F(StreamTest, StrongAccessesOfEarlierKernelsStillCount) {
  // Ordered for the atomics after them, but not for the other stream.
  R.O.hostEnqueue(1);
  uint64_t G = R.start(1, 1, 32);
  R.store(R.at(0, 0), Data, 1);
  R.end(G);
  R.O.hostEnqueue(1);
  G = R.start(1, 4, 64);
  for (uint32_t B = 0; B < 4; ++B)
    for (uint32_t T = 0; T < 64; ++T)
      R.atomic(R.at(B, T), Data, 2);
  R.end(G);
  R.O.hostEnqueue(2);
  G = R.start(2, 1, 32);
  R.atomic(R.at(0, 0), Data, 3);
  R.end(G);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 3}}));
}

TEST_F(StreamTest, CounterReadByTheNextKernel) {
  uint64_t G = R.start(0, 64, 256);
  for (uint32_t B = 0; B < 64; ++B)
    for (uint32_t T = 0; T < 256; ++T)
      R.atomic(R.at(B, T), Data, 1);
  R.end(G);
  G = R.start(0, 64, 256);
  for (uint32_t B = 0; B < 64; ++B)
    for (uint32_t T = 0; T < 256; ++T)
      R.load(R.at(B, T), Data, 2);
  R.end(G);
  EXPECT_EQ(R.races(), None);
  writer(5, 0, 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 3}, {2, 3}}));
}

//===----------------------------------------------------------------------===//
// What kernels and the host tell each other
//===----------------------------------------------------------------------===//

namespace {

/// Kernel A writes data, tells by a flag and goes on; the host, which is not
/// seen reading the flag, enqueues C in another stream.
class HostTest : public StreamTest {
protected:
  Trace::Pairs tell(std::optional<Scope> Fence,
                    MemoryOrder Order = MemoryOrder::Relaxed,
                    Scope Within = Scope::System, bool IsHostVisible = true) {
    if (IsHostVisible)
      R.O.hostVisible({reinterpret_cast<void *>(Flag), 64});
    R.O.hostEnqueue(1);
    const uint64_t A = R.start(1, 1, 32);
    R.store(R.at(0, 0), Data, 1);
    if (Fence)
      R.fence(R.at(0, 0), *Fence);
    R.store(R.at(0, 0), Flag, 2, Order, Within);
    writer(2, 0, 3);
    R.end(A);
    return R.races();
  }
};

const Trace::Pairs HostRace = {{1, 3}};

} // namespace

TEST_F(HostTest, FenceAndFlagTell) { EXPECT_EQ(tell(Scope::System), None); }
TEST_F(HostTest, ReleaseTells) {
  EXPECT_EQ(tell({}, MemoryOrder::Release), None);
}
TEST_F(HostTest, NoFence) { EXPECT_EQ(tell({}), HostRace); }
TEST_F(HostTest, FenceOfTheDevice) { EXPECT_EQ(tell(Scope::Device), HostRace); }
TEST_F(HostTest, FlagOfTheDevice) {
  EXPECT_EQ(tell(Scope::System, MemoryOrder::Relaxed, Scope::Device), HostRace);
}
TEST_F(HostTest, PlainFlag) {
  EXPECT_EQ(tell(Scope::System, MemoryOrder::Weak), HostRace);
}
TEST_F(HostTest, FlagThatTheHostCannotSee) {
  EXPECT_EQ(tell(Scope::System, MemoryOrder::Relaxed, Scope::System, false),
            HostRace);
}

TEST_F(HostTest, WhatWasEnqueuedBeforeIsNotTold) {
  R.O.hostVisible({reinterpret_cast<void *>(Flag), 64});
  R.O.hostEnqueue(1);
  R.O.hostEnqueue(2);
  const uint64_t A = R.start(1, 1, 32);
  R.store(R.at(0, 0), Data, 1);
  R.store(R.at(0, 0), Flag, 2, MemoryOrder::Release);
  run(2, 0, 3);
  EXPECT_EQ(R.races(), HostRace);
  R.end(A);
}

TEST_F(HostTest, TheHostTellsARunningKernel) {
  R.O.hostVisible({reinterpret_cast<void *>(Flag), 64});
  R.O.hostEnqueue(1);
  const uint64_t A = R.start(1, 1, 32);
  writer(2, 0, 1);
  R.O.hostSyncStream(2);
  R.volatileLoad(R.thread(A, 0, 0), Flag, 2);
  R.fence(R.thread(A, 0, 0), Scope::System);
  R.load(R.thread(A, 0, 0), Data, 3);
  EXPECT_EQ(R.races(), None);
  R.load(R.thread(A, 0, 1), Data, 4); // Has not asked.
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 4}}));
  R.end(A);
}

TEST_F(HostTest, HostFunctionsTell) {
  writer(1, 0, 1);
  R.O.hostEnqueue(1);
  R.O.streamOp(1, "cudaLaunchHostFunc", {}, {});
  R.O.hostFunctionEnd(1);
  writer(2, 0, 2);
  EXPECT_EQ(R.races(), None);
  writer(1, 0, 3, Lock);
  writer(2, 0, 4, Lock); // After the function, which says nothing of it.
  EXPECT_EQ(R.races(), (Trace::Pairs{{3, 4}}));
}

//===----------------------------------------------------------------------===//
// Programmatic dependent launch
//===----------------------------------------------------------------------===//

namespace {

class DependentTest : public StreamTest {
protected:
  uint64_t launch(bool MayOverlap) {
    R.O.hostEnqueue(1);
    return R.start(1, 1, 64, 1, MayOverlap);
  }
};

} // namespace

TEST_F(DependentTest, StreamOrderIsNoneWithoutTheWait) {
  writer(1, 0, 1);
  // It has run after the first one, but need not have.
  const uint64_t G = launch(true);
  R.load(R.thread(G, 0, 0), Data, 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
  R.O.gridDependencyWait(R.thread(G, 0, 1));
  R.load(R.thread(G, 0, 1), Data, 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
  R.end(G);
}

TEST_F(DependentTest, GridsThatOverlap) {
  const uint64_t A = launch(false), B = launch(true);
  R.store(R.thread(A, 0, 0), Data, 1);
  R.load(R.thread(B, 0, 0), Data + 64, 2);
  R.end(A);
  R.O.gridDependencyWait(R.thread(B, 0, 0));
  R.load(R.thread(B, 0, 0), Data, 3);
  R.end(B);
  EXPECT_EQ(R.races(), None);
}

TEST_F(DependentTest, WhatCameBeforeTheFirstIsOver) {
  writer(1, 0, 1);
  writer(1, 0, 2, Flag);
  const uint64_t G = launch(true);
  R.load(R.thread(G, 0, 0), Data, 3);
  R.end(G);
  EXPECT_EQ(R.races(), None);
  writer(1, 0, 4, Flag);
  EXPECT_EQ(R.races(), None);
}

TEST_F(DependentTest, WhatTheHostHasSeenIsOver) {
  writer(1, 0, 1);
  writer(5, 0, 2, Flag); // Keeps the oracle from forgetting everything.
  R.O.hostSyncStream(1);
  const uint64_t G = launch(true);
  R.load(R.thread(G, 0, 0), Data, 3);
  R.end(G);
  EXPECT_EQ(R.races(), None);
}

TEST_F(DependentTest, AfterACopyThereIsOrder) {
  copy(1, 0, Data, 64, "cudaMemsetAsync");
  const uint64_t G = launch(true);
  R.store(R.thread(G, 0, 0), Data, 1);
  R.end(G);
  EXPECT_EQ(R.races(), None);
}
