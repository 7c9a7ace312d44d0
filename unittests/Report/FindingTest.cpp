// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merging and sorting.
#include "Report/Finding.h"
#include "Report/TextReport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

// Not `using`: GoogleTest brings another `abi` into the global namespace.
namespace crsan {

namespace {

class FindingTest : public testing::Test {
protected:
  void addSite(uint64_t Id, std::vector<SourceFrame> Frames,
               abi::AccessKind Access = abi::AccessKind::Load,
               std::string Kernel = "k()") {
    SiteInfo Site;
    Site.Id = Id;
    Site.Access = Access;
    Site.Kernel = std::move(Kernel);
    Site.Frames = std::move(Frames);
    Sites.add(std::move(Site));
  }

  Occurrence &addRecord(uint64_t Site, uint64_t Count = 1,
                        abi::RaceKind Kind = abi::RaceKind::ClobberedRead) {
    Occurrence &O = Occurrences.emplace_back();
    O.Rec.Site = Site;
    O.Rec.Kind = Kind;
    O.Count = Count;
    return O;
  }

  Report build(RunSummary Summary = {}) const {
    return buildReport(Occurrences, Sites, std::move(Summary));
  }

  SiteTable Sites;
  std::vector<Occurrence> Occurrences;
};

} // namespace

TEST_F(FindingTest, MergesUnitsContextsAndDevices) {
  addSite(1, {{"f<int>()", "f.h", 3, 4}}, abi::AccessKind::Load, "k<int>()");
  addSite(2, {{"f<char>()", "f.h", 3, 4}}, abi::AccessKind::Load, "k<char>()");
  addRecord(1, 10).Rec.Block[0] = 7;
  addRecord(1, 20).Device = 1;
  addRecord(2, 30).Device = 1;
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 1u);
  const Finding &F = R.Findings[0];
  EXPECT_EQ(F.Count, 60u);
  EXPECT_FALSE(F.AtLeast);
  EXPECT_EQ(F.First.Block[0], 7u);
  EXPECT_EQ(F.Site->Id, 1u);
  EXPECT_EQ(F.Devices, (std::vector<int>{0, 1}));
  EXPECT_EQ(F.Instances, (std::vector<std::string>{"k<int>()", "k<char>()"}));
}

TEST_F(FindingTest, CountsRecordsByBlockAndLane) {
  addSite(1, {{"k()", "k.cu", 3, 4}});
  addRecord(1, 10).Rec.Block[0] = 7;
  Occurrence &Shaped = addRecord(1, 20);
  Shaped.BlockShape = {48, 2, 1};
  Shaped.Rec.Block[0] = 7;
  Shaped.Rec.Thread = 3 | 1 << 10; // The 51st thread: lane 19 of its warp.
  addRecord(1, 30).Rec.Lanes = 1 << 19 | 1;
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 1u);
  const RecordPlaces &Places = R.Findings[0].Places;
  EXPECT_EQ(Places.Blocks,
            (std::map<Index3, uint64_t>{{{7, 0, 0}, 2}, {{0, 0, 0}, 1}}));
  std::array<uint64_t, 32> Lanes{};
  Lanes[0] = 1;
  Lanes[19] = 2;
  EXPECT_EQ(Places.Lanes, Lanes);
}

TEST_F(FindingTest, OperationsOfStreamsHaveNoBlocks) {
  addSite(1, {{"k()", "k.cu", 3, 4}});
  Occurrence &O = addRecord(1, 1, abi::RaceKind::StreamOperation);
  O.Rec.Flags = abi::TwoSided;
  O.BlockShape = {32, 1, 1};
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 1u);
  EXPECT_TRUE(R.Findings[0].Places.Blocks.empty());
  EXPECT_EQ(R.Findings[0].Places.Lanes[0], 0u);
}

TEST_F(FindingTest, KeepsDifferentPlacesApart) {
  addSite(1, {{"f()", "f.h", 3, 4}, {"k()", "k.cu", 5, 6}});
  addSite(2, {{"f()", "f.h", 3, 4}, {"k()", "k.cu", 7, 6}}); // Other caller.
  addSite(3, {{"f()", "f.h", 3, 4}});                        // Not inlined.
  addSite(4, {{"f()", "f.h", 3, 5}, {"k()", "k.cu", 5, 6}}); // Other column.
  addSite(5, {{"f()", "g.h", 3, 4}, {"k()", "k.cu", 5, 6}}); // Other file.
  for (uint64_t Id = 1; Id <= 5; ++Id)
    addRecord(Id);
  EXPECT_EQ(build().Findings.size(), 4u); // Columns do not count.
}

TEST_F(FindingTest, OneLineIsOneFinding) {
  addSite(1, {{"k()", "k.cu", 3, 4}}, abi::AccessKind::Load);
  addSite(2, {{"k()", "k.cu", 3, 4}}, abi::AccessKind::Store); // x += 1
  addRecord(1, 1, abi::RaceKind::ClobberedRead);
  addRecord(2, 1, abi::RaceKind::LostUpdate);
  addRecord(2, 1, abi::RaceKind::IntraWarpLostUpdate);
  addRecord(1, 1, abi::RaceKind::IntraWarpConflict);
  addRecord(2, 1, abi::RaceKind::IntraWarpConflict);
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 1u);
  const Finding &F = R.Findings[0];
  EXPECT_EQ(F.kind(), abi::RaceKind::ClobberedRead);
  EXPECT_EQ(F.Count, 5u);
  EXPECT_EQ(F.OtherKinds, (std::vector{abi::RaceKind::LostUpdate,
                                       abi::RaceKind::IntraWarpLostUpdate,
                                       abi::RaceKind::IntraWarpConflict}));
}

TEST_F(FindingTest, APairOfLinesExplainsOneSidedFindings) {
  addSite(1, {{"k()", "k.cu", 3, 4}});
  addSite(2, {{"k()", "k.cu", 5, 4}}, abi::AccessKind::Store);
  addSite(3, {{"k()", "k.cu", 6, 4}});
  addRecord(1, 10, abi::RaceKind::ClobberedRead);
  addRecord(1, 1, abi::RaceKind::Conflict).Rec.Other = 2;
  addRecord(2, 1, abi::RaceKind::Conflict).Rec.Other = 1;
  addRecord(3, 3, abi::RaceKind::ClobberedRead); // Another line.
  addSite(4, {{"k()", "k.cu", 7, 4}}, abi::AccessKind::Store);
  addRecord(4, 1, abi::RaceKind::Conflict).Rec.Other = 2;
  addRecord(4, 2, abi::RaceKind::IntraWarpLostUpdate); // Of one warp alone.
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 4u);
  EXPECT_EQ(R.Findings[0].kind(), abi::RaceKind::Conflict);
  EXPECT_EQ(R.Findings[0].Count, 12u);
  EXPECT_EQ(R.Findings[0].OtherKinds,
            std::vector{abi::RaceKind::ClobberedRead});
  EXPECT_EQ(R.Findings[1].First.Site, 3u);
}

TEST_F(FindingTest, DifferentMemoryStaysApart) {
  addSite(1, {{"k()", "k.cu", 3, 4}});
  addSite(2, {{"k()", "k.cu", 3, 9}});
  addRecord(1).Memory = "byte 0 of 64 bytes from cudaMalloc (allocation 1)";
  addRecord(2).Memory = "byte 8 of 64 bytes from cudaMalloc (allocation 2)";
  EXPECT_EQ(build().Findings.size(), 2u);
  Occurrences.back().Memory =
      "byte 8 of 64 bytes from cudaMalloc (allocation 1)";
  EXPECT_EQ(build().Findings.size(), 1u);
}

TEST_F(FindingTest, MergesConflictsByBothPlaces) {
  addSite(1, {{"k()", "k.cu", 3, 4}});
  addSite(2, {{"k()", "k.cu", 5, 4}}, abi::AccessKind::Store);
  addSite(3, {{"k()", "k.cu", 6, 4}}, abi::AccessKind::Store);
  addSite(4, {{"k()", "k.cu", 6, 4}}, abi::AccessKind::Store);
  for (uint64_t Other = 2; Other <= 4; ++Other)
    addRecord(1, 1, abi::RaceKind::IntraWarpConflict).Rec.Other = Other;
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 2u);
  EXPECT_EQ(R.Findings[0].Count, 2u);
  EXPECT_EQ(R.Findings[0].Other->Id, 3u);
  EXPECT_EQ(R.Findings[1].Other->Id, 2u);
}

TEST_F(FindingTest, MergesTwoSidedByUnorderedPairs) {
  addSite(1, {{"k()", "k.cu", 3, 4}});
  addSite(2, {{"k()", "k.cu", 5, 4}}, abi::AccessKind::Store);
  addSite(3, {{"k()", "k.cu", 6, 4}}, abi::AccessKind::Store);
  const auto Add = [&](uint64_t Later, uint64_t Earlier, abi::RaceKind Kind,
                       uint64_t Count) {
    abi::Record &Rec = addRecord(Later, Count, Kind).Rec;
    Rec.Other = Earlier;
    Rec.Flags = abi::TwoSided;
  };
  Add(2, 1, abi::RaceKind::InterBlock, 3);
  Add(1, 2, abi::RaceKind::InterBlock, 4);
  Add(1, 2, abi::RaceKind::WarpBarrier, 5);
  Add(1, 2, abi::RaceKind::WarpBarrier, 6);
  Add(3, 1, abi::RaceKind::InterBlock, 1);
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 2u);
  EXPECT_EQ(R.Findings[0].Count, 18u);
  EXPECT_EQ(R.Findings[0].First.Site, 2u);
  EXPECT_EQ(R.Findings[0].kind(), abi::RaceKind::InterBlock);
  EXPECT_EQ(R.Findings[0].OtherKinds, std::vector{abi::RaceKind::WarpBarrier});
  EXPECT_EQ(R.Findings[1].Count, 1u);
}

TEST_F(FindingTest, ShowsThreadsThatAreFarthestApart) {
  addSite(1, {{"k()", "k.cu", 3, 4}}, abi::AccessKind::Load, "read()");
  addSite(2, {{"k()", "k.cu", 5, 4}}, abi::AccessKind::Store, "write()");
  struct {
    abi::RaceKind Kind;
    uint64_t Reasons;
  } Seen[] = {
      {abi::RaceKind::WarpBarrier, abi::SameWarp},
      {abi::RaceKind::IntraBlock, abi::SameBlock},
      {abi::RaceKind::InterBlock, 0},
  };
  std::vector<int> Order = {0, 1, 2};
  do {
    Occurrences.clear();
    for (int I : Order) {
      Occurrence &O = addRecord(1 + I % 2, 1, Seen[I].Kind);
      O.Rec.Other = 2 - I % 2;
      O.Rec.Flags = abi::TwoSided;
      O.Rec.After = Seen[I].Reasons;
      O.Memory = std::to_string(I);
      O.Device = I;
    }
    const Report R = build();
    ASSERT_EQ(R.Findings.size(), 1u);
    const Finding &F = R.Findings[0];
    EXPECT_EQ(F.kind(), abi::RaceKind::InterBlock);
    EXPECT_EQ(F.Count, 3u);
    EXPECT_EQ(F.Site->Id, 1u);
    EXPECT_EQ(F.Memory, "2");
    EXPECT_EQ(F.Devices.front(), 2);
    EXPECT_EQ(F.Devices.size(), 3u);
    EXPECT_EQ(F.Instances.front(), "read()");
    EXPECT_EQ(F.OtherKinds.size(), 2u);
  } while (std::next_permutation(Order.begin(), Order.end()));
}

TEST_F(FindingTest, RacesWithinAWarpKnowOfWiderOnes) {
  addSite(1, {{"k()", "k.cu", 3, 4}});
  addSite(2, {{"k()", "k.cu", 5, 4}}, abi::AccessKind::Store);
  addRecord(1, 2, abi::RaceKind::IntraWarpConflict).Rec.Other = 2;
  EXPECT_FALSE(build().Findings.at(0).HasWider);
  addRecord(2, 1, abi::RaceKind::LostUpdate);
  EXPECT_FALSE(build().Findings.at(0).HasWider) << "at another place";
  addRecord(1, 1, abi::RaceKind::ClobberedRead);
  EXPECT_TRUE(build().Findings.at(0).HasWider);
  for (Occurrence &O : Occurrences) {
    O.Grid = {1, 1, 1};
    O.BlockShape = {32, 1, 1};
  }
  EXPECT_FALSE(build().Findings.at(0).HasWider) << "there is one warp";
}

TEST_F(FindingTest, InstancesAreThoseOfTheSideShownFirst) {
  addSite(1, {{"k()", "k.cu", 3, 4}}, abi::AccessKind::Load, "read()");
  addSite(2, {{"k()", "k.cu", 5, 4}}, abi::AccessKind::Store, "write()");
  for (uint64_t Later : {1, 2}) {
    abi::Record &Rec = addRecord(Later, 1, abi::RaceKind::InterKernel).Rec;
    Rec.Other = 3 - Later;
    Rec.Flags = abi::TwoSided;
  }
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 1u);
  EXPECT_EQ(R.Findings[0].Instances, std::vector<std::string>{"read()"});
}

TEST_F(FindingTest, WhatSaysMostIsShown) {
  addSite(1, {{"k()", "k.cu", 3, 4}});
  addRecord(1, 1, abi::RaceKind::Conflict).Rec.Other = 1;
  abi::Record &Rec = addRecord(1, 1, abi::RaceKind::InterBlock).Rec;
  Rec.Other = 1;
  Rec.Flags = abi::TwoSided;
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 1u);
  EXPECT_EQ(R.Findings[0].kind(), abi::RaceKind::InterBlock);
}

TEST_F(FindingTest, SidesThatDoNotSuitTheKindAreDamage) {
  addRecord(1, 1, abi::RaceKind::InterBlock);
  addRecord(1, 1, abi::RaceKind::Conflict).Rec.Flags = abi::TwoSided;
  const Report R = build();
  EXPECT_TRUE(R.Findings.empty());
  EXPECT_EQ(R.Summary.Notes.size(), 1u);
}

TEST_F(FindingTest, ReasonsFollowFromOthers) {
  const auto ReasonsOf = [&](abi::RaceKind Kind, uint64_t Reasons) {
    Occurrences.clear();
    abi::Record &Rec = addRecord(1, 1, Kind).Rec;
    Rec.Flags = abi::TwoSided;
    Rec.After = Reasons;
    return build().Findings.at(0).reasons();
  };
  EXPECT_EQ(ReasonsOf(abi::RaceKind::WarpBarrier, abi::SameWarp),
            abi::SameWarp | abi::SameBlock);
  EXPECT_EQ(ReasonsOf(abi::RaceKind::InterKernel, 0), abi::OtherGrid);
  EXPECT_EQ(ReasonsOf(abi::RaceKind::InterBlock, 0), 0u);
}

TEST_F(FindingTest, CompanionsAreThoseThatConflict) {
  auto Access = [](uint32_t Line, abi::AccessKind Kind) {
    SiteInfo Site;
    Site.Id = Line;
    Site.Access = Kind;
    Site.Frames = {{"k()", "k.cu", Line, 1}};
    return Site;
  };
  auto Companion = [](uint32_t Line, abi::AccessKind Kind) {
    return CompanionInfo{Kind, {{"k()", "k.cu", Line, 1}}};
  };
  using abi::AccessKind;
  const CompanionInfo Read = Companion(3, AccessKind::Load);
  const CompanionInfo Write = Companion(4, AccessKind::Store);

  SiteInfo Writer = Access(1, AccessKind::Store);
  Writer.Companions = {Read, Write};
  Sites.add(Writer);
  Sites.add(Access(2, AccessKind::Load));
  Sites.add(Access(5, AccessKind::Store));
  SiteInfo Swap = Access(6, AccessKind::Update);
  Swap.Flags = abi::IsStrong | abi::IsAtomic | abi::IsSwap;
  Sites.add(Swap);

  auto Add = [&](uint64_t Site, uint64_t Other) {
    Occurrence &O = addRecord(Site, 1, abi::RaceKind::IntraBlock);
    O.Rec.Other = Other;
    O.Rec.Flags = abi::TwoSided;
  };
  // Two reads do not race; a swap may have failed, and have been one.
  for (uint64_t Other : {2, 6}) {
    Occurrences.clear();
    Add(1, Other);
    EXPECT_EQ(build().Findings.at(0).AlsoSite, std::vector{Write});
  }
  Occurrences.clear();
  Add(5, 1); // Of the earlier side, too.
  EXPECT_EQ(build().Findings.at(0).AlsoOther, (std::vector{Read, Write}));
  EXPECT_TRUE(build().Findings.at(0).AlsoSite.empty());

  // What has a finding of its own is not said twice.
  Sites.add(Access(4, AccessKind::Store));
  Add(5, 4);
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 2u);
  for (const Finding &F : R.Findings)
    EXPECT_EQ(F.AlsoOther, F.First.Other == 1 ? std::vector{Read}
                                              : std::vector<CompanionInfo>{});
}

TEST_F(FindingTest, TellsCallersWithoutLinesApartByName) {
  addSite(1, {{"f()", "f.h", 3, 4}, {"a()", "", 0, 0}});
  addSite(2, {{"f()", "f.h", 3, 4}, {"b()", "", 0, 0}});
  addRecord(1);
  addRecord(2);
  EXPECT_EQ(build().Findings.size(), 2u);
}

TEST_F(FindingTest, OneLowerBoundMakesTheSumOne) {
  addRecord(1).AtLeast = true;
  addRecord(1);
  EXPECT_TRUE(build().Findings.at(0).AtLeast);
}

TEST_F(FindingTest, MergesWithoutLinesOnlyTheSameSite) {
  addSite(1, {{"k()", "", 0, 0}});
  addSite(2, {{"k()", "", 0, 0}});
  addSite(3, {});
  addSite(4, {});
  for (uint64_t Id = 1; Id <= 5; ++Id) { // 5: in no table.
    addRecord(Id);
    addRecord(Id);
  }
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 5u);
  for (const Finding &F : R.Findings)
    EXPECT_EQ(F.Count, 2u);
}

TEST_F(FindingTest, SaturatesCounts) {
  constexpr uint64_t Most = std::numeric_limits<uint64_t>::max();
  addRecord(1, Most - 1);
  addRecord(1, 5);
  const Report R = build();
  ASSERT_EQ(R.Findings.size(), 1u);
  EXPECT_EQ(R.Findings[0].Count, Most);
  EXPECT_TRUE(R.Findings[0].AtLeast);
}

TEST_F(FindingTest, CountsARecordWithoutCountOnce) {
  addRecord(1, 0);
  addRecord(1, 0).AtLeast = true;
  const Report R = build();
  EXPECT_EQ(R.Findings.at(0).Count, 2u);
  EXPECT_TRUE(R.Findings.at(0).AtLeast);
}

TEST_F(FindingTest, SortsByCountThenPlaceWhateverTheOrder) {
  addSite(1, {{"k()", "b.cu", 1, 1}});
  addSite(2, {{"k()", "a.cu", 10, 1}});
  addSite(3, {{"k()", "a.cu", 9, 2}});
  addSite(4, {{"k()", "a.cu", 8, 3}});
  addSite(5, {{"k()", "z.cu", 99, 9}});
  const std::vector<uint64_t> Expected = {5, 4, 3, 2, 1, 6};
  std::vector<uint64_t> Order = {1, 2, 3, 4, 5, 6};
  do {
    Occurrences.clear();
    for (uint64_t Id : Order)
      addRecord(Id, Id == 5 ? 100 : 7);
    std::vector<uint64_t> Seen;
    for (const Finding &F : build().Findings)
      Seen.push_back(F.First.Site);
    ASSERT_EQ(Seen, Expected);
  } while (std::next_permutation(Order.begin(), Order.end()));
}

TEST_F(FindingTest, LeavesOutDamagedRecordsWithANote) {
  addRecord(1, 1, abi::RaceKind::None);
  addRecord(1, 1, abi::RaceKind(200));
  addRecord(1);
  const Report R = build();
  EXPECT_EQ(R.Findings.size(), 1u);
  ASSERT_EQ(R.Summary.Notes.size(), 1u);
  EXPECT_TRUE(R.Summary.Notes[0].starts_with(
      "2 race records are damaged and not shown"));
  EXPECT_TRUE(R.hasWarnings());
}

TEST_F(FindingTest, UnpacksTheThread) {
  addRecord(1).Rec.Thread = 1023u | 511u << 10 | 63u << 20;
  EXPECT_EQ(build().Findings.at(0).thread(),
            (std::array<uint32_t, 3>{1023, 511, 63}));
}

TEST_F(FindingTest, VerdictNeedsChecks) {
  RunSummary S;
  EXPECT_EQ(build(S).verdict(), Verdict::NothingChecked);
  S.KernelsLaunched = 1;
  S.Sites = 1;
  EXPECT_EQ(build(S).verdict(), Verdict::NothingChecked);
  S.CountsComplete = false;
  EXPECT_EQ(build(S).verdict(), Verdict::NotKnown);
  S.Checks = 1;
  EXPECT_EQ(build(S).verdict(), Verdict::Clean);
  S.KernelsLaunched = 0;
  EXPECT_EQ(build(S).verdict(), Verdict::NotKnown);
  addRecord(1);
  EXPECT_EQ(build(S).verdict(), Verdict::Racy);
  EXPECT_EQ(build({}).verdict(), Verdict::Racy);
}

TEST_F(FindingTest, WarnsOfLossesOnly) {
  RunSummary S;
  S.ExemptAccesses = 1; // As the user asked.
  EXPECT_FALSE(build(S).hasWarnings());
  for (uint64_t RunSummary::*Loss :
       {&RunSummary::SkippedAccesses, &RunSummary::KernelsNotInstrumented,
        &RunSummary::KernelsSwitchedOff, &RunSummary::KernelsFailed,
        &RunSummary::DroppedRecords}) {
    RunSummary With = S;
    With.*Loss = 1;
    EXPECT_TRUE(build(With).hasWarnings());
  }
}

TEST_F(FindingTest, TextShowsRacesEvenIfNothingWasCounted) {
  addRecord(1);
  const std::string Text = renderText(build());
  EXPECT_NE(Text.find("SUMMARY: CRSan: 1 data race (1 clobbered read)\n"),
            std::string::npos);
}

} // namespace crsan
