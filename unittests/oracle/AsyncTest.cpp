// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies.
#include "Trace.h"

using namespace crsan::sim;

namespace {

class AsyncTest : public testing::Test {
protected:
  AsyncTest() { R.start(0, 2, 64); }

  void copy(ThreadRef T, uint64_t Id, uint64_t From, uint64_t To, uint32_t Size,
            int32_t Instruction) {
    Access A;
    A.IsAsync = true;
    A.Async = Id;
    A.Size = Size;
    A.Instruction = Instruction;
    A.Flags = ReadsMemory;
    A.Address = From;
    R.O.access(T, A);
    A.Flags = WritesMemory;
    A.Address = To;
    A.Space = Space::Shared;
    R.O.access(T, A);
  }

  Trace R;
};

} // namespace

TEST_F(AsyncTest, ReadBeforeWaiting) {
  const ThreadRef T = R.at(0, 0);
  R.O.asyncIssue(T, 1, Completion::Group);
  copy(T, 1, Data, R.shared(0, 0), 16, 1);
  R.O.asyncComplete(T, 1, Completion::Group, 0);
  R.load(T, R.shared(0, 0), 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
  EXPECT_NE(R.O.findings()[0].Missing.find("asynchronous copy"),
            std::string::npos);
}

TEST_F(AsyncTest, ReadAfterWaiting) {
  const ThreadRef T = R.at(0, 0);
  R.store(T, Data, 3);
  R.O.asyncIssue(T, 1, Completion::Group);
  copy(T, 1, Data, R.shared(0, 0), 16, 1);
  R.O.asyncComplete(T, 1, Completion::Group, 0);
  R.O.asyncWaited(T, 1, false);
  R.load(T, R.shared(0, 0), 2);
  R.store(T, Data, 4);
  EXPECT_EQ(R.races(), None);
}

TEST_F(AsyncTest, AnotherThreadNeedsABarrierToo) {
  const ThreadRef T = R.at(0, 0);
  R.O.asyncIssue(T, 1, Completion::Group);
  copy(T, 1, Data, R.shared(0, 0), 16, 1);
  R.O.asyncWaited(T, 1, false);
  R.load(R.at(0, 1), R.shared(0, 0), 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
  R.sync(0, {0, 2});
  R.load(R.at(0, 2), R.shared(0, 0), 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
}

TEST_F(AsyncTest, SourceChangedUnderTheCopy) {
  const ThreadRef T = R.at(0, 0);
  R.O.asyncIssue(T, 1, Completion::Group);
  R.store(T, Data, 2);
  copy(T, 1, Data, R.shared(0, 0), 16, 1);
  R.O.asyncWaited(T, 1, false);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
}

TEST_F(AsyncTest, WaitingForReadsOnly) {
  const ThreadRef T = R.at(0, 0);
  R.O.asyncIssue(T, 1, Completion::BulkGroup);
  copy(T, 1, R.shared(0, 0), Data, 1024, 1);
  R.O.asyncWaited(T, 1, true);
  R.store(T, R.shared(0, 512), 2);
  EXPECT_EQ(R.races(), None);
  R.load(T, Data + 512, 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 3}}));
  R.O.asyncWaited(T, 1, false);
  R.load(T, Data + 516, 4);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 3}}));
}

TEST_F(AsyncTest, BulkCopyCompletesAtMBarrier) {
  const ThreadRef T = R.at(0, 0);
  R.O.asyncIssue(T, 1, Completion::MBarrier);
  copy(T, 1, Data, R.shared(0, 0), 4096, 1);
  R.O.asyncComplete(T, 1, Completion::MBarrier, 77);
  R.leave(R.at(0, 40), 77, BarrierKind::MBarrier);
  R.load(R.at(0, 40), R.shared(0, 4000), 2);
  EXPECT_EQ(R.races(), None);
  R.load(R.at(0, 41), R.shared(0, 4000), 3);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 3}}));
}

TEST_F(AsyncTest, CompletionTellsNothingOfTheIssuer) {
  const ThreadRef T = R.at(0, 0);
  R.store(T, Flag, 5);
  R.O.asyncIssue(T, 1, Completion::MBarrier);
  copy(T, 1, Data, R.shared(0, 0), 4096, 1);
  R.O.asyncComplete(T, 1, Completion::MBarrier, 77);
  R.leave(R.at(0, 40), 77, BarrierKind::MBarrier);
  R.load(R.at(0, 40), Flag, 6);
  EXPECT_EQ(R.races(), (Trace::Pairs{{5, 6}}));
}

TEST_F(AsyncTest, CopiesAreNotOrderedWithEachOther) {
  const ThreadRef T = R.at(0, 0);
  R.O.asyncIssue(T, 1, Completion::Group);
  R.O.asyncIssue(T, 2, Completion::Group);
  copy(T, 1, Data, R.shared(0, 0), 16, 1);
  copy(T, 2, Data + 64, R.shared(0, 8), 8, 2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 2}}));
}

TEST_F(AsyncTest, PipelineReusesBuffers) {
  const ThreadRef T = R.at(0, 0);
  for (uint64_t I = 1; I < 100; ++I) {
    R.O.asyncIssue(T, I, Completion::Group);
    copy(T, I, Data + 16 * I, R.shared(0, 16 * (I % 2)), 16, 1);
    R.O.asyncWaited(T, I, false);
    R.sync(0, {0, 1});
    R.load(R.at(0, 1), R.shared(0, 16 * (I % 2)), 2);
    R.sync(0, {0, 1});
  }
  EXPECT_EQ(R.races(), None);
}

//===----------------------------------------------------------------------===//
// Proxies
//===----------------------------------------------------------------------===//

namespace {

class ProxyTest : public AsyncTest {
protected:
  /// Thread 0 of block 0 stores what thread 1 has written, in one bulk copy.
  void copyOut(uint64_t Id) {
    R.O.asyncIssue(R.at(0, 0), Id, Completion::BulkGroup);
    copyFrom(Id, R.shared(0, 0));
  }
  void copyFrom(uint64_t Id, uint64_t From) {
    copy(R.at(0, 0), Id, From, Data + 256 * Id, 16, 9);
    R.O.asyncComplete(R.at(0, 0), Id, Completion::BulkGroup, 0);
  }
};

} // namespace

// Intent: a write that a barrier orders before a bulk copy lacks a fence.
TEST_F(ProxyTest, WriteWithoutFence) {
  R.store(R.at(0, 1), R.shared(0, 0), 1);
  R.sync(0, {0, 1});
  copyOut(1);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 9}}));
  EXPECT_TRUE(R.O.findings()[0].LacksProxyFence);
}

TEST_F(ProxyTest, FenceOfTheWriter) {
  R.store(R.at(0, 1), R.shared(0, 0), 1);
  R.O.proxyFence(R.at(0, 1));
  R.sync(0, {0, 1});
  copyOut(1);
  EXPECT_EQ(R.races(), None);
}

TEST_F(ProxyTest, FenceOfTheCopyingThread) {
  R.store(R.at(0, 1), R.shared(0, 0), 1);
  R.sync(0, {0, 1});
  R.O.proxyFence(R.at(0, 0));
  copyOut(1);
  EXPECT_EQ(R.races(), None);
}

// Intent: a fence counts only on the path from the write to the copy.
TEST_F(ProxyTest, FencesElsewhere) {
  R.O.proxyFence(R.at(0, 1)); // Before the write.
  R.store(R.at(0, 1), R.shared(0, 0), 1);
  R.O.proxyFence(R.at(0, 0)); // Not behind the write.
  R.sync(0, {0, 1});
  R.O.proxyFence(R.at(0, 2)); // Of a thread that has not come to the barrier.
  copyOut(1);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 9}}));
}

// Intent: the completion of a bulk copy is followed by a fence, for what was
// before its issue.
TEST_F(ProxyTest, CompletionIsAFence) {
  R.store(R.at(0, 1), R.shared(0, 0), 1);
  R.sync(0, {0, 1});
  R.O.asyncIssue(R.at(0, 0), 1, Completion::BulkGroup);
  copyFrom(1, Data + 4096);
  R.O.asyncWaited(R.at(0, 0), 1, false);
  copyOut(2);
  EXPECT_EQ(R.races(), None);
}

// Intent: what is written behind the issue is not before that fence.
TEST_F(ProxyTest, WriteBehindAnIssue) {
  R.O.asyncIssue(R.at(0, 0), 1, Completion::BulkGroup);
  copyFrom(1, Data + 4096);
  R.store(R.at(0, 0), R.shared(0, 0), 1);
  R.O.asyncWaited(R.at(0, 0), 1, false);
  copyOut(2);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 9}}));
}

// Intent: a write that nothing orders before the copy is a plain race.
TEST_F(ProxyTest, UnorderedWrite) {
  R.store(R.at(0, 1), R.shared(0, 0), 1);
  copyOut(1);
  EXPECT_EQ(R.races(), (Trace::Pairs{{1, 9}}));
  EXPECT_FALSE(R.O.findings()[0].LacksProxyFence);
}

// Intent: a later write that is fenced stands for an earlier one that is not.
TEST_F(ProxyTest, LaterWriteCounts) {
  R.store(R.at(0, 1), R.shared(0, 0), 1);
  R.store(R.at(0, 1), R.shared(0, 0), 2);
  R.O.proxyFence(R.at(0, 1));
  R.sync(0, {0, 1});
  copyOut(1);
  EXPECT_EQ(R.races(), None);
}

// Intent: cp.async reads through the generic proxy.
TEST_F(ProxyTest, CopyOfTheGenericProxy) {
  R.store(R.at(0, 0), Data, 1);
  R.O.asyncIssue(R.at(0, 0), 1, Completion::Group);
  copy(R.at(0, 0), 1, Data, R.shared(0, 0), 16, 9);
  EXPECT_EQ(R.races(), None);
}

// Intent: of a copy that was made before the access, it is the wait that is
// missing; of one made after it, the access may have come too late.
TEST(Async, SaysWhatIsMissing) {
  RaceSide Copy, Access;
  Copy.IsAsync = true;
  EXPECT_EQ(explainRace(Copy, Access, {}),
            "Nothing waits for the asynchronous copy between the two.");
  EXPECT_EQ(explainRace(Access, Copy, {}),
            "Nothing orders the access before the start of the asynchronous "
            "copy, and nothing waits for the copy before the access.");
}
