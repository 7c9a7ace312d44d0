// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which launches the host has ordered.

#include "order/StreamOrder.h"

#include "order/ArgumentHash.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace crsan {

namespace {

/// Kernels launched into streams, as the device finds them described.
class InjectStreamOrder : public testing::Test {
protected:
  InjectStreamOrder() : Shared(std::make_unique<abi::StreamOrder>()) {
    for (StreamId S : {A, B, C})
      Order.created(S, /*IsBlocking=*/false);
    EXPECT_TRUE(Order.isWanted());
    Order.begin(Shared.get());
  }

  static StreamId stream(uint64_t Handle) {
    return StreamId::of(reinterpret_cast<CUstream>(Handle), false);
  }
  static CUevent event(uint64_t Handle) {
    return reinterpret_cast<CUevent>(Handle);
  }

  /// The number of the launch's run; 0: nothing can be said of it.
  uint32_t launch(StreamId S, unsigned Kernel = 0, bool TellsHost = false) {
    if (auto Mark = Order.launching(S, Kernel, TellsHost)) {
      Shared->Current[Mark->Stream] = Mark->Run;
      Last[S] = Mark->Run;
      ++NumMarks;
    }
    Order.launched(S);
    return Shared->IsOff ? 0 : Last[S];
  }
  const abi::StreamRun &run(uint32_t Number) {
    return Shared->Runs[Number % abi::NumRuns];
  }
  /// As the device asks.
  bool isBefore(uint32_t Earlier, uint32_t Later) {
    const abi::StreamRun &E = run(Earlier), &L = run(Later);
    EXPECT_TRUE(Earlier && E.Number == Earlier);
    EXPECT_TRUE(Later && L.Number == Later);
    return Earlier == Later ? E.Launches > 1 : L.Before[E.Stream] >= E.Sequence;
  }

  StreamOrder Order;
  std::unique_ptr<abi::StreamOrder> Shared;
  const StreamId A = stream(0x1000), B = stream(0x2000), C = stream(0x3000);
  const StreamId Legacy = StreamId::legacy();
  const CUevent E = event(0x10), F = event(0x20);
  std::map<StreamId, uint32_t> Last;
  unsigned NumMarks = 0;
};

} // namespace

TEST_F(InjectStreamOrder, AStreamIsAnOrder) {
  const uint32_t First = launch(A);
  launch(B);
  EXPECT_TRUE(isBefore(First, launch(A)));
}

TEST_F(InjectStreamOrder, TwoStreamsAreNone) {
  const uint32_t First = launch(A), Second = launch(B);
  EXPECT_FALSE(isBefore(First, Second));
  EXPECT_FALSE(isBefore(Second, First));
}

TEST_F(InjectStreamOrder, OneStreamWritesOnce) {
  for (unsigned I = 0; I < 10; ++I)
    launch(A, I);
  EXPECT_EQ(NumMarks, 1u);
  EXPECT_EQ(run(Last[A]).Launches, 10u);
  EXPECT_EQ(run(Last[A]).Kernels[0], 0x3ffu);
}

TEST_F(InjectStreamOrder, ARunSaysWhichArgumentsItsLaunchesHave) {
  Order.launching(A, 0, false, 3);
  Order.launched(A);
  Order.launching(A, 0, false, 64);
  Order.launched(A);
  const uint32_t OfA = Order.lastRun(A);
  EXPECT_EQ(run(OfA).Arguments[0], 8u);
  EXPECT_EQ(run(OfA).Arguments[1], 1u);
  EXPECT_EQ(run(OfA).Arguments[2], 0u);
}

TEST_F(InjectStreamOrder, ArgumentsThatAreNotKnownMayBeAny) {
  Order.launching(A, 0, false, 3);
  Order.launched(A);
  Order.launching(A, 0, false);
  Order.launched(A);
  for (uint64_t Word : run(Order.lastRun(A)).Arguments)
    EXPECT_EQ(Word, ~uint64_t(0));
}

TEST(InjectArgumentHash, DependsOnWordsAndTheirOrder) {
  auto HashOf = [](std::initializer_list<uint64_t> Arguments, size_t Size) {
    ArgumentHash Hash;
    for (const uint64_t &Argument : Arguments)
      Hash.add(&Argument, Size);
    return Hash.value();
  };
  EXPECT_EQ(HashOf({1, 2}, 8), HashOf({1, 2}, 8));
  EXPECT_NE(HashOf({1, 2}, 8), HashOf({2, 1}, 8));
  EXPECT_NE(HashOf({1, 2}, 4), HashOf({1, 3}, 4));
  // A bool, or what is large, is left out.
  EXPECT_EQ(HashOf({0}, 1), HashOf({1}, 1));
  EXPECT_NE(HashOf({}, 4), 0u);
}

TEST_F(InjectStreamOrder, AnEventTakesAlongWhatWasBefore) {
  const uint32_t First = launch(A);
  Order.recorded(E, A);
  const uint32_t Second = launch(A);
  Order.waits(B, E);
  const uint32_t Later = launch(B);
  EXPECT_TRUE(isBefore(First, Later));
  EXPECT_FALSE(isBefore(Second, Later));
}

TEST_F(InjectStreamOrder, AnEventIsWhatItWasRecordedLast) {
  const uint32_t First = launch(A);
  launch(B);
  Order.recorded(E, A);
  Order.recorded(E, B);
  Order.waits(C, E);
  EXPECT_FALSE(isBefore(First, launch(C)));
}

//===----------------------------------------------------------------------===//
// What the host has waited for
//===----------------------------------------------------------------------===//

TEST_F(InjectStreamOrder, TheHostHasWaitedForAStream) {
  launch(A);
  launch(B);
  EXPECT_FALSE(Order.hasWaited());
  EXPECT_FALSE(Order.isRestBefore(A));
  Order.streamDone(A);
  EXPECT_FALSE(Order.hasWaited());
  EXPECT_TRUE(Order.isRestBefore(B));
  const uint32_t OfA = run(Last[A]).Stream, OfB = run(Last[B]).Stream;
  EXPECT_EQ(Order.waited()[OfA], run(Last[A]).Sequence);
  EXPECT_LT(Order.waited()[OfB], run(Last[B]).Sequence);
  Order.streamDone(B);
  EXPECT_TRUE(Order.hasWaited());
  launch(A);
  EXPECT_FALSE(Order.hasWaited());
}

TEST_F(InjectStreamOrder, TheHostHasWaitedForWhatIsBeforeAnEvent) {
  launch(A);
  Order.recorded(E, A);
  launch(A);
  Order.waits(B, E);
  launch(B);
  Order.streamDone(B);
  EXPECT_FALSE(Order.hasWaited());
  const uint32_t OfA = run(Last[A]).Stream;
  EXPECT_EQ(Order.waited()[OfA], run(Last[A]).Sequence - 1);
  Order.recorded(F, A);
  Order.eventDone(F);
  EXPECT_TRUE(Order.hasWaited());
}

// Intent: a kernel that may write memory of the host orders later launches, as
// the host may have seen what it wrote; but that is not to have waited.
TEST_F(InjectStreamOrder, WhatAKernelMayTellTheHostIsNotWaitedFor) {
  const uint32_t First = launch(A, 0, /*TellsHost=*/true);
  EXPECT_TRUE(isBefore(First, launch(B)));
  Order.streamDone(B);
  EXPECT_FALSE(Order.hasWaited());
  EXPECT_TRUE(Order.isRestBefore(A));
}

TEST_F(InjectStreamOrder, WhatACopyMayTellTheHostCountsAsWaitedFor) {
  launch(A);
  Order.tellsHostBehind(E, A);
  EXPECT_TRUE(Order.hasWaited());
  launch(A);
  launch(B);
  Order.mayTellHost(A);
  EXPECT_FALSE(Order.hasWaited());
  EXPECT_TRUE(Order.isRestBefore(B));
  Order.mayTellHost(B);
  EXPECT_TRUE(Order.hasWaited());
}

TEST_F(InjectStreamOrder, AStreamIsBehindWhatItWaitsFor) {
  const StreamId Blocking = stream(0x4000);
  Order.created(Blocking, /*IsBlocking=*/true);
  launch(A);
  EXPECT_FALSE(Order.isRestBefore(Legacy));
  Order.recorded(E, A);
  Order.waits(Blocking, E);
  EXPECT_TRUE(Order.isRestBefore(Blocking));
  EXPECT_TRUE(Order.isRestBefore(Legacy));
  EXPECT_FALSE(Order.isRestBefore(B));
}

TEST_F(InjectStreamOrder, ACutCountsAsWaitingForAll) {
  launch(A);
  launch(B);
  Order.cut();
  EXPECT_TRUE(Order.hasWaited());
}

TEST_F(InjectStreamOrder, ALaunchBehindANoteIsOfAnotherRun) {
  const uint32_t First = launch(A);
  Order.launching(A, 0, false, std::nullopt, /*NewestNote=*/First);
  Order.launched(A);
  EXPECT_EQ(Order.lastRun(A), First);
  Order.launching(A, 0, false, std::nullopt, /*NewestNote=*/First + 1);
  Order.launched(A);
  EXPECT_GT(Order.lastRun(A), First);
}

TEST(InjectStreamOrderRuns, HaveOneNumberOverAllContexts) {
  std::atomic<uint32_t> Numbers{7};
  StreamOrder One(&Numbers), Other(&Numbers);
  const auto OfOne = std::make_unique<abi::StreamOrder>(),
             OfOther = std::make_unique<abi::StreamOrder>();
  One.begin(OfOne.get());
  Other.begin(OfOther.get());
  EXPECT_EQ(One.launching(StreamId::legacy(), 0, false)->Run, 7u);
  EXPECT_EQ(Other.launching(StreamId::legacy(), 0, false)->Run, 8u);
}

TEST_F(InjectStreamOrder, AnEventThatWasNotRecordedIsNothing) {
  const uint32_t First = launch(A);
  Order.created(E);
  EXPECT_TRUE(Order.knows(E));
  EXPECT_FALSE(Order.knows(F));
  Order.waits(B, E);
  EXPECT_FALSE(isBefore(First, launch(B)));
  EXPECT_FALSE(Shared->IsOff);
}

TEST_F(InjectStreamOrder, AThirdStreamRelays) {
  const uint32_t First = launch(A);
  Order.recorded(E, A);
  Order.waits(C, E);
  Order.recorded(F, C);
  Order.waits(B, F);
  EXPECT_TRUE(isBefore(First, launch(B)));
}

TEST_F(InjectStreamOrder, TheHostKnowsWhatItWaitedFor) {
  const uint32_t First = launch(A), Other = launch(C);
  Order.streamDone(A);
  const uint32_t Later = launch(B), Same = launch(A);
  EXPECT_TRUE(isBefore(First, Later));
  EXPECT_FALSE(isBefore(Other, Later));
  EXPECT_FALSE(isBefore(Same, Later));
  Order.recorded(E, C);
  Order.eventDone(E);
  EXPECT_TRUE(isBefore(Other, launch(B)));
}

TEST_F(InjectStreamOrder, WhatTheHostMaySeeItMayWaitFor) {
  const uint32_t Telling = launch(A, 0, /*TellsHost=*/true);
  EXPECT_TRUE(isBefore(Telling, launch(B)));
}

TEST_F(InjectStreamOrder, TheHostKnowsOfACopyOnceItMayHaveBegun) {
  const uint32_t Copy = launch(A);
  Order.tellsHostBehind(E, A);
  Order.enqueued(A);
  EXPECT_EQ(Order.awaited(), std::vector<CUevent>{E});
  const uint32_t Meanwhile = launch(B);
  const uint32_t Behind = launch(A);
  EXPECT_FALSE(isBefore(Copy, Meanwhile));
  EXPECT_TRUE(Order.happened(E));
  const uint32_t Later = launch(B);
  EXPECT_TRUE(isBefore(Copy, Later));
  EXPECT_FALSE(isBefore(Behind, Later));
  EXPECT_TRUE(Order.awaited().empty());
  EXPECT_FALSE(Order.happened(E));
}

TEST_F(InjectStreamOrder, ACopyOrdersByTheDefaultStreamAndTellsTheHostNothing) {
  const StreamId D = stream(0x4000), G = stream(0x5000);
  Order.created(D, /*IsBlocking=*/true);
  Order.created(G, /*IsBlocking=*/true);
  const uint32_t First = launch(D), Other = launch(A);
  Order.enqueued(Legacy);
  const uint32_t Later = launch(G);
  EXPECT_TRUE(isBefore(First, Later));
  EXPECT_FALSE(isBefore(Other, Later));
  Order.enqueued(A);
  EXPECT_FALSE(isBefore(Other, launch(B)));
}

TEST_F(InjectStreamOrder, WhatIsLaunchedAfterwardsIsNotKnown) {
  const uint32_t First = launch(A);
  Order.streamDone(A);
  const uint32_t Second = launch(A);
  EXPECT_NE(First, Second);
  EXPECT_FALSE(isBefore(Second, launch(B)));
}

TEST_F(InjectStreamOrder, BlockingStreamsAndTheDefaultStreamWaitForEachOther) {
  const StreamId D = stream(0x4000), G = stream(0x5000);
  Order.created(D, /*IsBlocking=*/true);
  Order.created(G, /*IsBlocking=*/true);
  const uint32_t Free = launch(A), First = launch(D), Default = launch(Legacy);
  const uint32_t Later = launch(G);
  EXPECT_TRUE(isBefore(First, Default));
  EXPECT_FALSE(isBefore(Free, Default));
  EXPECT_TRUE(isBefore(Default, Later));
  EXPECT_TRUE(isBefore(First, Later));
  EXPECT_FALSE(isBefore(Default, launch(A)));
  // Two blocking streams wait for the default one only.
  const uint32_t Again = launch(D);
  EXPECT_FALSE(isBefore(Again, launch(G)));
}

TEST_F(InjectStreamOrder, ACutOrdersEverything) {
  const uint32_t First = launch(A), Second = launch(B);
  Order.cut();
  const uint32_t Later = launch(C);
  EXPECT_TRUE(isBefore(First, Later));
  EXPECT_TRUE(isBefore(Second, Later));
  EXPECT_FALSE(isBefore(Later, launch(A)));
}

TEST_F(InjectStreamOrder, WhatIsLostIsFoundWhenIdle) {
  launch(A);
  Order.lose();
  EXPECT_EQ(launch(B), 0u);
  Order.becameIdle(Order.beforeIdle());
  const uint32_t First = launch(A), Second = launch(B);
  EXPECT_FALSE(isBefore(First, Second));
  // Something is lost while the host waits.
  const uint64_t Before = Order.beforeIdle();
  Order.lose();
  Order.becameIdle(Before);
  EXPECT_EQ(launch(B), 0u);
}

TEST_F(InjectStreamOrder, IdleForgetsWhatTheDeviceSaid) {
  launch(A);
  Shared->HasSignalled = 1;
  const uint64_t Before = Order.beforeIdle();
  launch(A);
  Order.becameIdle(Before);
  EXPECT_EQ(Shared->HasSignalled, 1u);
  Order.becameIdle(Order.beforeIdle());
  EXPECT_EQ(Shared->HasSignalled, 0u);
  EXPECT_EQ(Shared->Current[0], 0u);
}

TEST_F(InjectStreamOrder, AnEventIsWaitedForAsItWasWhenTheWaitBegan) {
  const uint32_t First = launch(A);
  Order.recorded(E, A);
  const auto AtBegin = Order.before(E);
  ASSERT_TRUE(AtBegin);
  // Another thread uses the event again, and one destroys it.
  Order.recorded(E, B);
  Order.forget(E);
  EXPECT_FALSE(Order.before(E));
  Order.eventDone(E);
  EXPECT_FALSE(Order.hasWaited());
  Order.done(*AtBegin);
  EXPECT_TRUE(Order.hasWaited());
  EXPECT_TRUE(isBefore(First, launch(C)));
}

TEST_F(InjectStreamOrder, MoreStreamsThanCanBeTold) {
  for (uint64_t I = 0; I <= abi::NumStreams; ++I) {
    Order.created(stream(0x10000 + I * 16), false);
    EXPECT_EQ(launch(stream(0x10000 + I * 16)) == 0, I == abi::NumStreams);
  }
}

TEST_F(InjectStreamOrder, AnUnknownStreamIsAnybodys) {
  EXPECT_EQ(launch(stream(0x7770)), 0u);
}

TEST_F(InjectStreamOrder, AHandleThatIsUsedAgainIsAnotherStream) {
  const uint32_t First = launch(A);
  Order.destroyed(A);
  Order.created(A, false);
  const uint32_t Second = launch(A);
  EXPECT_NE(run(First).Stream, run(Second).Stream);
  EXPECT_FALSE(isBefore(First, Second));
}

TEST_F(InjectStreamOrder, TwoLaunchesAtOnceInOneStream) {
  Order.launching(A, 0, false);
  Order.launching(A, 0, false);
  EXPECT_TRUE(Shared->IsOff);
  Order.launched(A);
  Order.launched(A);
}

TEST_F(InjectStreamOrder, DefaultStreamsOfThreads) {
  const CUstream Handle = CU_STREAM_PER_THREAD;
  const StreamId Mine = StreamId::of(Handle, false);
  EXPECT_EQ(Mine, StreamId::of(nullptr, true));
  EXPECT_EQ(StreamId::of(CU_STREAM_LEGACY, true), Legacy);
  StreamId Other = Mine;
  std::thread([&] { Other = StreamId::of(Handle, false); }).join();
  EXPECT_NE(Mine, Other);
  const uint32_t First = launch(Mine);
  EXPECT_FALSE(isBefore(First, launch(Other)));
}

TEST(InjectStreamOrderBegin, WhatWasLaunchedBeforeIsOrdered) {
  StreamOrder Order;
  auto Shared = std::make_unique<abi::StreamOrder>();
  EXPECT_FALSE(Order.isWanted());
  Order.launching(StreamId::legacy(), 0, false);
  Order.launched(StreamId::legacy());
  EXPECT_FALSE(Order.isWanted());
  const StreamId New = StreamId::of(reinterpret_cast<CUstream>(0x1000), false);
  Order.created(New, false);
  Order.begin(Shared.get());
  // Whatever begins late finds what it may be.
  const abi::StreamRun &Run = Shared->Runs[Shared->Current[0]];
  EXPECT_EQ(Run.Kernels[2], ~uint64_t(0));
  auto Mark = Order.launching(New, 0, false);
  ASSERT_TRUE(Mark);
  EXPECT_GE(Shared->Runs[Mark->Run].Before[Run.Stream], Run.Sequence);
}

TEST(InjectStreamOrderOverlaps, SeveralStreamsHaveThem) {
  const StreamId New = StreamId::of(reinterpret_cast<CUstream>(0x1000), false);
  StreamOrder Order;
  for (StreamId S : {StreamId::legacy(), StreamId::of(CU_STREAM_LEGACY, true)})
    Order.launching(S, 0, false);
  Order.created(New, true);
  EXPECT_FALSE(Order.hasOverlaps());
  Order.launching(New, 0, false);
  EXPECT_TRUE(Order.hasOverlaps());
}

TEST(InjectStreamOrderOverlaps, StreamsThatDoNotWaitForEachOtherHaveThem) {
  const StreamId A = StreamId::of(reinterpret_cast<CUstream>(0x1000), false);
  const StreamId B = StreamId::of(reinterpret_cast<CUstream>(0x2000), false);
  StreamOrder One, Two;
  One.created(A, /*IsBlocking=*/false);
  EXPECT_TRUE(One.hasOverlaps());
  Two.created(A, /*IsBlocking=*/true);
  EXPECT_FALSE(Two.hasOverlaps());
  Two.created(B, /*IsBlocking=*/true);
  EXPECT_TRUE(Two.hasOverlaps());
}

TEST(InjectStreamOrderOverlaps, DefaultStreamsOfThreadsAreSeveral) {
  StreamOrder Order;
  Order.launching(StreamId::of(nullptr, true), 0, false);
  EXPECT_FALSE(Order.hasOverlaps());
  std::thread([&] {
    Order.launching(StreamId::of(nullptr, true), 0, false);
  }).join();
  EXPECT_TRUE(Order.hasOverlaps());
}

TEST(InjectStreamOrderOverlaps, AHandleThatIsUsedAgainIsAnotherStream) {
  const StreamId A = StreamId::of(reinterpret_cast<CUstream>(0x1000), false);
  StreamOrder Order;
  Order.created(A, true);
  EXPECT_FALSE(Order.hasOverlaps());
  Order.destroyed(A);
  Order.created(A, true);
  EXPECT_TRUE(Order.hasOverlaps());
}

TEST(InjectStreamOrderOverlaps, AGraphMayHaveThemByItself) {
  StreamOrder Order;
  Order.launchingAnywhere();
  EXPECT_TRUE(Order.hasOverlaps());
}

} // namespace crsan
