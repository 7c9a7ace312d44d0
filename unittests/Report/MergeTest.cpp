// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several runs in one report.
#include "Report/ReportFile.h"
#include "Report/TextReport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crsan {

using testing::ElementsAre;
using testing::HasSubstr;

/// One run with one race, of a site of this id at this line.
static ReportFile runWith(uint32_t Seed, uint64_t Site, uint32_t Line) {
  ReportFile File;
  SiteInfo Info;
  Info.Id = Site;
  Info.Kernel = "k()";
  Info.Frames = {{"k()", "k.cu", Line, 3}};
  File.Sites.add(Info);
  Occurrence O;
  O.Rec.Site = Site;
  O.Rec.Kind = abi::RaceKind::ClobberedRead;
  O.Count = 2;
  File.Occurrences.push_back(O);
  File.Summary.KernelsLaunched = 1;
  File.Summary.Sites = 5;
  File.Summary.Checks = 10;
  File.Summary.Seed = Seed;
  File.Summary.Notes = {"a note"};
  File.Runs = {{.Seed = Seed, .Replay = "replay " + std::to_string(Seed)}};
  return File;
}

static ReportFile runWithout(uint32_t Seed) {
  ReportFile File = runWith(Seed, 1, 1);
  File.Occurrences.clear();
  return File;
}

TEST(Merge, CountsTheRunsThatShowAFinding) {
  ReportFile All = runWith(3, 7, 31);
  All.add(runWithout(4));
  All.add(runWith(5, 7, 31));
  const Report R = buildReport(All);
  ASSERT_EQ(R.Findings.size(), 1u);
  EXPECT_THAT(R.Findings[0].Runs, ElementsAre(0, 2));
  EXPECT_EQ(R.Findings[0].Count, 4u);
  EXPECT_EQ(R.Summary.KernelsLaunched, 3u);
  EXPECT_EQ(R.Summary.Sites, 5u);
  EXPECT_EQ(R.Summary.Checks, 30u);
  EXPECT_THAT(R.Summary.Notes, ElementsAre("a note"));
  const std::string Text = renderText(R);
  EXPECT_THAT(Text, HasSubstr("  found in: 2 of 3 runs (seeds 3, 5)\n"));
  EXPECT_THAT(Text, HasSubstr("  replay: replay 3\n"));
  EXPECT_THAT(Text, HasSubstr("CRSan: 3 runs, 2 of them with findings\n"));
  EXPECT_THAT(Text, HasSubstr("seeds 3-5"));
}

TEST(Merge, OneIdMayNameTwoSites) {
  ReportFile All = runWith(0, 7, 31);
  All.add(runWith(1, 7, 40)); // Of another program.
  All.add(runWith(2, 7, 40));
  const Report R = buildReport(All);
  ASSERT_EQ(R.Findings.size(), 2u);
  EXPECT_EQ(R.Findings[0].Site->Frames[0].Line, 40u);
  EXPECT_THAT(R.Findings[0].Runs, ElementsAre(1, 2));
  EXPECT_THAT(R.Findings[1].Runs, ElementsAre(0));
}

TEST(Merge, ProcessesOfOneRunAreOneRun) {
  ReportFile Run = runWith(3, 7, 31);
  Run.add(runWith(3, 8, 40));
  Run.becomeOneRun({.Seed = 3, .Failure = "exit code 2"});
  ReportFile All = runWithout(2);
  All.add(Run);
  const Report R = buildReport(All);
  ASSERT_EQ(R.Runs.size(), 2u);
  EXPECT_EQ(R.Findings.size(), 2u);
  EXPECT_THAT(R.Findings[1].Runs, ElementsAre(1));
  EXPECT_THAT(renderText(R), HasSubstr("CRSan: 2 runs, 1 of them with "
                                       "findings; 1 failed: seed 3 (exit code "
                                       "2)\n"));
}

TEST(Merge, SurvivesAFile) {
  ReportFile All = runWith(3, 7, 31);
  All.add(runWith(4, 9, 32));
  const std::string Text = writeReportFile(All, buildReport(All));
  auto Again = parseReportFile(Text);
  ASSERT_TRUE(std::holds_alternative<ReportFile>(Again));
  const auto &File = std::get<ReportFile>(Again);
  EXPECT_EQ(File.Runs, All.Runs);
  EXPECT_EQ(renderText(buildReport(File)), renderText(buildReport(All)));
}

} // namespace crsan
