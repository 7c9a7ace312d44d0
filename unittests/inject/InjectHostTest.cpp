// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of host code.

#include "crsan/abi/Version.h"
#include "host/HostChecks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>

namespace crsan {
namespace {

using testing::HasSubstr;

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

TEST(HostRanges, KnowTheirAddresses) {
  HostRanges R;
  EXPECT_EQ(R.endOf(100), 0u);
  R.add(100, 10);
  R.add(300, 20);
  R.add(200, 5);
  EXPECT_EQ(R.endOf(99), 0u);
  EXPECT_EQ(R.endOf(100), 110u);
  EXPECT_EQ(R.endOf(109), 110u);
  EXPECT_EQ(R.endOf(110), 0u);
  EXPECT_EQ(R.endOf(204), 205u);
  EXPECT_EQ(R.endOf(319), 320u);
  EXPECT_EQ(R.bounds().Begin, 100u);
  EXPECT_EQ(R.bounds().End, 320u);
  EXPECT_FALSE(R.remove(201));
  EXPECT_TRUE(R.remove(200));
  EXPECT_EQ(R.endOf(200), 0u);
  EXPECT_TRUE(R.remove(100));
  EXPECT_TRUE(R.remove(300));
  EXPECT_EQ(R.bounds().Begin, R.bounds().End);
}

// Intent: threads that ask while others change the set never see a range that
// was not there.
TEST(HostRanges, AreReadWhileTheyChange) {
  HostRanges R;
  R.add(1 << 20, 16);
  std::atomic<bool> IsOver{false};
  std::thread Reader([&] {
    while (!IsOver)
      for (uint64_t At : {uint64_t(1 << 20), uint64_t(64), uint64_t(200 * 64)})
        if (const uint64_t End = R.endOf(At))
          EXPECT_EQ(End, At + 16);
  });
  for (int Round = 0; Round < 50; ++Round) {
    for (uint64_t I = 1; I <= 400; ++I)
      R.add(I * 64, 16);
    for (uint64_t I = 1; I <= 400; ++I)
      R.remove(I * 64);
  }
  IsOver = true;
  Reader.join();
}

//===----------------------------------------------------------------------===//
// Pending work
//===----------------------------------------------------------------------===//

struct PendingWorkTest : testing::Test {
  static CUcontext context(uintptr_t N) {
    return reinterpret_cast<CUcontext>(N);
  }
  static PendingWork::Stream stream(uintptr_t N, uintptr_t Ctx = 1) {
    return {context(Ctx),
            StreamId::of(reinterpret_cast<CUstream>(N << 8), false)};
  }
  const CUevent Event = reinterpret_cast<CUevent>(7);
  bool IsAny = false;
  PendingWork Work{[this](bool Any) { IsAny = Any; }};
};

TEST_F(PendingWorkTest, EndsWithItsStream) {
  Work.given(stream(1), "k");
  EXPECT_TRUE(IsAny);
  EXPECT_EQ(*Work.kernels()[0], "k");
  Work.beginCall();
  Work.streamDone(stream(2));
  EXPECT_TRUE(IsAny);
  Work.streamDone(stream(1));
  EXPECT_FALSE(IsAny);
  EXPECT_EQ(Work.kernels()[0], nullptr);
}

TEST_F(PendingWorkTest, WhatAnotherThreadGivesDuringTheCallIsNotDone) {
  Work.given(stream(1), "k");
  Work.beginCall();
  std::thread([&] { Work.given(stream(1), "l"); }).join();
  Work.streamDone(stream(1));
  EXPECT_TRUE(IsAny);
  Work.beginCall();
  Work.contextDone(context(1));
  EXPECT_FALSE(IsAny);
}

TEST_F(PendingWorkTest, AnEventEndsWhatWasBefore) {
  Work.given(stream(1), "k");
  Work.recorded(Event, stream(1));
  Work.given(stream(1), "l");
  Work.beginCall();
  Work.eventDone(Event);
  EXPECT_TRUE(IsAny);
  Work.recorded(Event, stream(1));
  Work.eventDone(Event);
  EXPECT_FALSE(IsAny);
}

TEST_F(PendingWorkTest, TheDefaultStreamWaitsForBlockingStreams) {
  Work.createdUnblocking(stream(2));
  Work.given(stream(1), "k");
  Work.given(stream(2), "l");
  Work.beginCall();
  Work.defaultDone(context(1));
  EXPECT_TRUE(IsAny);
  EXPECT_EQ(*Work.kernels()[0], "l");
  Work.streamDone(stream(2));
  EXPECT_FALSE(IsAny);
}

TEST_F(PendingWorkTest, OutlivesItsStream) {
  Work.given(stream(1), "k");
  Work.destroyed(stream(1));
  Work.beginCall();
  Work.streamDone(stream(1)); // Another one, of the same handle.
  EXPECT_TRUE(IsAny);
  Work.contextDone(context(1));
  EXPECT_FALSE(IsAny);
}

TEST_F(PendingWorkTest, UnknownStreamsEndWithTheContext) {
  Work.givenAnywhere(context(1));
  Work.beginCall();
  Work.streamDone(stream(1));
  Work.contextDone(context(2));
  EXPECT_TRUE(IsAny);
  Work.contextDone(context(1));
  EXPECT_FALSE(IsAny);
  Work.given(stream(1, 2), "k");
  Work.forget(context(2));
  EXPECT_FALSE(IsAny);
}

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

struct HostNotesTest : testing::Test {
  HostNotesTest() {
    Site.Id = 42;
    Site.Number = 7;
    Site.Access = abi::AccessKind::Store;
  }
  std::vector<abi::HostNote> take() {
    abi::HostNote All[abi::NumHostNotes];
    return {All, All + Notes.take(All)};
  }
  abi::HostSite Site{};
  HostNotes Notes;
};

TEST_F(HostNotesTest, SayWhichRunsWereGivenBefore) {
  Notes.add(Site, 1000, 4);
  EXPECT_TRUE(Notes.isEmpty()); // No run could be named.
  EXPECT_EQ(Notes.newest(), 0u);
  Notes.given(3);
  EXPECT_EQ(Notes.newest(), 0u);
  Notes.add(Site, 1000, 4);
  Notes.given(5);
  Notes.given(4); // Another thread's, which comes late.
  Notes.add(Site, 2000, 1 << 20);
  EXPECT_EQ(Notes.newest(), 6u);
  const std::vector<abi::HostNote> All = take();
  ASSERT_EQ(All.size(), 2u);
  EXPECT_EQ(All[0].Address, 1000u);
  EXPECT_EQ(All[0].Id, 42u);
  EXPECT_EQ(All[0].Number, 7u);
  EXPECT_EQ(All[0].Bytes, 4u);
  EXPECT_EQ(All[0].Limit, 4u);
  EXPECT_EQ(All[0].Writes, 1u);
  EXPECT_EQ(All[1].Limit, 6u);
  EXPECT_EQ(All[1].Bytes, abi::MostNotedBytes);
  EXPECT_TRUE(take().empty());
  EXPECT_EQ(Notes.newest(), 6u);
}

TEST_F(HostNotesTest, AreCountedIfThereIsNoRoom) {
  Notes.given(1);
  for (unsigned I = 0; I < abi::NumHostNotes + 5; ++I)
    Notes.add(Site, 1000, 4);
  EXPECT_EQ(take().size(), abi::NumHostNotes);
  Site.Number = abi::MaxHostSites + 1;
  Notes.add(Site, 1000, 4);
  EXPECT_TRUE(Notes.isEmpty());
  EXPECT_EQ(Notes.wanted(), abi::NumHostNotes + 6);
  Site.Number = abi::MaxHostSites;
  Notes.add(Site, 1000, 4);
  Notes.forget();
  EXPECT_TRUE(Notes.isEmpty());
}

TEST_F(HostNotesTest, EndForGood) {
  Notes.begin();
  EXPECT_TRUE(Notes.isOn());
  Notes.given(1);
  Notes.add(Site, 1000, 4);
  Notes.end();
  Notes.begin(); // Of another context.
  EXPECT_FALSE(Notes.isOn());
  EXPECT_TRUE(Notes.isEmpty());
}

// Intent: what several threads note while others take is taken once, whole.
TEST_F(HostNotesTest, ComeFromAnyThread) {
  constexpr uint64_t Each = 20000;
  Notes.given(1);
  std::atomic<uint64_t> NumTaken{0};
  std::atomic<bool> IsOver{false};
  std::vector<std::thread> Threads;
  for (uint64_t T = 1; T <= 2; ++T) {
    Threads.emplace_back([&, T] {
      for (uint64_t I = 0; I < Each; ++I)
        Notes.add(Site, T << 32, T);
    });
    Threads.emplace_back([&] {
      while (!IsOver)
        for (const abi::HostNote &N : take()) {
          EXPECT_EQ(N.Address >> 32, N.Bytes);
          ++NumTaken;
        }
    });
  }
  Threads[0].join();
  Threads[2].join();
  IsOver = true;
  Threads[1].join();
  Threads[3].join();
  NumTaken += take().size();
  EXPECT_LE(NumTaken, 2 * Each);
  EXPECT_GE(NumTaken, abi::NumHostNotes);
  EXPECT_EQ(Notes.wanted(), 2 * Each);
  EXPECT_TRUE(Notes.isEmpty());
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Does something while a check waits.
struct Meanwhile final : HostPace {
  std::function<void()> Do = [] {};
  unsigned Waits = 0, Ends = 0;
  bool Refuses = false;

  std::optional<uint64_t> begin(uint64_t, bool) override {
    if (Refuses)
      return std::nullopt;
    return 640;
  }
  void wait(uint64_t) override {
    ++Waits;
    Do();
  }
  void end(const HostAccess &) override { ++Ends; }
};

struct HostChecksTest : testing::Test {
  HostChecksTest() {
    // Without sites, as a table: the numbers are the checks' own.
    Header.Magic = abi::Magic;
    Header.Version = abi::Version;
    Header.Flags = abi::IsHostCode;
    Header.StringSize = 1;
    std::memcpy(Table, &Header, sizeof(Header));
    for (abi::HostSite &S : Sites)
      S.Size = 4;
    Sites[0].Access = abi::AccessKind::Load;
    Sites[1].Access = abi::AccessKind::Store;
    Unit = {Table, sizeof(Table), Sites, 2};
    Gate.Check = [](abi::HostSite *, uint64_t, uint64_t) {};
    Checks.allocated(uint64_t(Memory), sizeof(Memory));
    Checks.loaded(Gate, {&Unit, 1});
    Checks.begin(&Pace, /*Samples=*/true, /*Looks=*/true);
  }
  ~HostChecksTest() override { Checks.unloading(Gate); }

  void launch() { Checks.pending().given(Stream, "_Z1kPi"); }
  void wait() {
    Checks.pending().beginCall();
    Checks.pending().streamDone(Stream);
  }
  /// As instrumented code does it.
  void access(unsigned Site, int *At, uint64_t Length = 4) {
    if (uint64_t(At) - Gate.Begin < Gate.Size)
      Checks.check(Sites[Site], uint64_t(At), Length);
  }
  std::vector<Occurrence> found() {
    ReportFile File;
    Checks.collect(File,
                   [](const std::string &) { return "launched at app.cu:7"; });
    return File.Occurrences;
  }

  abi::ModuleHeader Header{};
  alignas(8) uint8_t Table[sizeof(abi::ModuleHeader) + 1] = {};
  abi::HostSite Sites[2] = {};
  abi::HostUnit Unit{};
  abi::HostGate Gate{};
  alignas(64) int Memory[16] = {};
  int Elsewhere = 0;
  Meanwhile Pace;
  HostChecks Checks;
  const PendingWork::Stream Stream{nullptr, StreamId::legacy()};
};

TEST_F(HostChecksTest, TheGateIsOpenWhileWorkIsPending) {
  EXPECT_EQ(Gate.Size, 0u);
  launch();
  EXPECT_EQ(Gate.Begin, uint64_t(Memory));
  EXPECT_EQ(Gate.Size, sizeof(Memory));
  wait();
  EXPECT_EQ(Gate.Size, 0u);
  launch();
  EXPECT_TRUE(Checks.freeing(uint64_t(Memory)));
  EXPECT_EQ(Gate.Size, 0u);
}

TEST_F(HostChecksTest, AChangeIsARace) {
  Memory[3] = 1;
  launch();
  Pace.Do = [this] { Memory[3] = 2; };
  access(0, &Memory[3]);
  access(1, &Memory[2]);
  ASSERT_EQ(Checks.countRecorded(), 1u);
  const Occurrence O = found().at(0);
  EXPECT_EQ(O.Rec.Kind, abi::RaceKind::ClobberedRead);
  EXPECT_EQ(O.Rec.Address, uint64_t(&Memory[3]));
  EXPECT_EQ(O.Rec.Before, 1u);
  EXPECT_EQ(O.Rec.After, 2u);
  EXPECT_THAT(O.Explanation,
              HasSubstr("Not waited for: k(int*), launched at app.cu:7."));
  EXPECT_EQ(Pace.Ends, 2u);
}

TEST_F(HostChecksTest, OfAStoreItIsALostUpdate) {
  launch();
  Pace.Do = [this] { ++Memory[0]; };
  access(1, &Memory[0]);
  access(1, &Memory[0]);
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].Rec.Kind, abi::RaceKind::LostUpdate);
  EXPECT_EQ(found()[0].Count, 2u);
}

TEST(HostWrites, AreRememberedByWord) {
  auto Writes = std::make_unique<HostWrites>();
  Writes->note(1000, 8, 3);
  Writes->note(1004, 1, 4);
  EXPECT_EQ(Writes->writerOf(1000, 4), 3u);
  EXPECT_EQ(Writes->writerOf(1006, 2), 4u);
  EXPECT_EQ(Writes->writerOf(996, 4), 0u);
  EXPECT_EQ(Writes->writerOf(996, 8), 3u);
  EXPECT_EQ(Writes->writerOf(1008, 4), 0u);
}

TEST_F(HostChecksTest, OnlyTheBytesOfTheAccessCount) {
  launch();
  Pace.Do = [this] { ++Memory[1]; };
  access(0, &Memory[0]);
  EXPECT_EQ(Checks.countRecorded(), 0u);
  access(0, &Memory[0], 8);
  EXPECT_EQ(Checks.countRecorded(), 1u);
}

TEST_F(HostChecksTest, LongAccessesAreComparedByAHash) {
  launch();
  Pace.Do = [this] { ++Memory[15]; };
  access(0, &Memory[0], 4096); // As far as the memory reaches.
  ASSERT_EQ(Checks.countRecorded(), 1u);
  EXPECT_TRUE(found()[0].Rec.Flags & abi::ValuesAreHashes);
}

TEST_F(HostChecksTest, NothingIsTouchedThatNoGpuReaches) {
  launch();
  Gate.Begin = 0;
  Gate.Size = ~uint64_t(0);
  Pace.Do = [this] { ++Elsewhere; };
  access(0, &Elsewhere);
  EXPECT_EQ(Sites[0].Executed, 0u);
  EXPECT_EQ(Elsewhere, 0);
  wait();
  Gate.Size = ~uint64_t(0); // As a thread may have read it before.
  access(0, &Memory[0]);
  EXPECT_EQ(Sites[0].Executed, 0u);
}

TEST_F(HostChecksTest, AreMadeEverMoreRarely) {
  launch();
  for (int I = 0; I < 1024; ++I)
    access(0, &Memory[0]);
  const HostSummary Sum = *Checks.summarise();
  EXPECT_EQ(Sum.Executed, 1024u);
  EXPECT_EQ(Sum.Checked, 36u); // Eight, and four a doubling.
  EXPECT_EQ(Pace.Ends, 1024u);
}

// Intent: what comes first behind a launch is the likeliest to come too early.
TEST_F(HostChecksTest, AreMadeFirstOfAllBehindALaunch) {
  launch();
  for (int I = 0; I < 1024; ++I)
    access(0, &Memory[0]);
  launch();
  access(0, &Memory[0]);
  access(0, &Memory[0]);
  EXPECT_EQ(Checks.summarise()->Checked, 37u);
}

// Intent: behind each launch, the first executions and then ever fewer.
TEST_F(HostChecksTest, NoteForTheOrderOfStreams) {
  launch();
  access(0, &Memory[0]);
  EXPECT_TRUE(Checks.notes().isEmpty()); // Nobody asks.
  Checks.notes().begin();
  Checks.notes().given(1);
  for (int Launch = 0; Launch < 2; ++Launch) {
    launch();
    for (int I = 0; I < 16; ++I)
      access(0, &Memory[I]);
  }
  EXPECT_EQ(Checks.summarise()->Noted, 2u * 12);
  abi::HostNote All[abi::NumHostNotes];
  ASSERT_EQ(Checks.notes().take(All), 24u);
  EXPECT_EQ(All[0].Address, uint64_t(&Memory[0]));
  EXPECT_EQ(All[0].Writes, 0u);
  wait();
  access(0, &Memory[0]);
  EXPECT_TRUE(Checks.notes().isEmpty());
}

TEST_F(HostChecksTest, AreCountedIfTheyCannotBeMade) {
  launch();
  Pace.Refuses = true;
  access(0, &Memory[0]);
  EXPECT_EQ(Checks.summarise()->Refused, 1u);
  EXPECT_EQ(Checks.summarise()->Checked, 0u);
  EXPECT_EQ(Pace.Waits, 0u);
}

TEST_F(HostChecksTest, CodeThatIsUnloadedLeavesItsCounts) {
  launch();
  Pace.Do = [this] { ++Memory[0]; };
  access(0, &Memory[0]);
  Checks.unloading(Gate);
  EXPECT_EQ(Checks.summarise()->Executed, 1u);
  EXPECT_EQ(found().size(), 1u);
  Gate.Size = 0;
  wait();
  launch();
  EXPECT_EQ(Gate.Size, 0u);
}

} // namespace
} // namespace crsan
