// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Faults among findings.
#include "Report/CiReports.h"
#include "Report/Comparison.h"
#include "Report/KindGuide.h"
#include "Report/ReportFile.h"
#include "Report/RunFilter.h"
#include "Report/SarifReport.h"
#include "Report/Suppressions.h"
#include "Report/TextReport.h"
#include "Report/Words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Not `using`: GoogleTest brings another `abi` into the global namespace.
namespace crsan {

using testing::HasSubstr;
using testing::Not;

namespace {

/// Line 7 of a.cu in the kernel k(): a lost update, and an address that is not
/// there.
class FaultTest : public testing::Test {
protected:
  FaultTest() {
    SiteInfo Site;
    Site.Id = 1;
    Site.Access = abi::AccessKind::Store;
    Site.Kernel = "k()";
    Site.Frames = {{"k()", "a.cu", 7, 3}};
    File.Sites.add(Site);
    Site.Id = 2;
    Site.IsFault = true;
    File.Sites.add(Site);
    Site.Id = 3;
    Site.Frames.clear();
    File.Sites.add(Site);
  }

  void addRace() {
    Occurrence &O = File.Occurrences.emplace_back();
    O.Rec.Site = 1;
    O.Rec.Kind = abi::RaceKind::LostUpdate;
  }
  Occurrence &addFault(std::string What = "invalid address",
                       uint64_t Site = 2) {
    Occurrence &O = File.Occurrences.emplace_back();
    O.Rec.Site = Site;
    O.Rec.Kind = KernelFault;
    O.Fault = std::move(What);
    O.Explanation = "Write to 4 bytes.";
    return O;
  }

  ReportFile File;
};

} // namespace

TEST_F(FaultTest, StandsBesideARaceInItsLine) {
  addRace();
  addFault();
  const Report R = buildReport(File);
  ASSERT_EQ(R.Findings.size(), 2u);
  EXPECT_TRUE(R.hasRaces());
  EXPECT_TRUE(R.Findings[0].OtherKinds.empty());
  EXPECT_THAT(renderText(R), HasSubstr("SUMMARY: CRSan: 1 data race (1 lost "
                                       "update), 1 kernel fault\n"));
}

TEST_F(FaultTest, IsNoRace) {
  addFault();
  const Report R = buildReport(File);
  EXPECT_FALSE(R.hasRaces());
  EXPECT_EQ(R.verdict(), Verdict::Racy);
  EXPECT_FALSE(isDataRace(R.Findings[0].kind()));
  EXPECT_THAT(renderText(R), Not(HasSubstr("data race")));
  EXPECT_THAT(renderText(R), HasSubstr("SUMMARY: CRSan: 1 kernel fault\n"));
}

TEST_F(FaultTest, AnotherFaultInTheLineIsAnotherFinding) {
  addFault();
  addFault();
  addFault("misaligned address");
  const Report R = buildReport(File);
  ASSERT_EQ(R.Findings.size(), 2u);
  EXPECT_EQ(R.Findings[0].Count, 2u);
  EXPECT_EQ(heading(R.Findings[0]), "kernel fault: invalid address");
  EXPECT_EQ(heading(R.Findings[1]), "kernel fault: misaligned address");
}

TEST_F(FaultTest, CannotBeSuppressed) {
  addRace();
  addFault();
  const auto All = std::get<Suppressions>(Suppressions::parse("race:*"));
  Report R = buildReport(File);
  EXPECT_EQ(suppressionFor(R.Findings[1]), "");
  All.apply(R);
  ASSERT_EQ(R.Findings.size(), 1u);
  EXPECT_TRUE(R.Findings[0].isFault());
  All.apply(File);
  ASSERT_EQ(File.Occurrences.size(), 1u);
  EXPECT_EQ(File.Occurrences[0].Fault, "invalid address");
}

TEST_F(FaultTest, IsNotLeftOutWithItsKernel) {
  addRace();
  addFault();
  std::get<RunFilter>(RunFilter::parse("other", "")).apply(File);
  ASSERT_EQ(File.Occurrences.size(), 1u);
  EXPECT_EQ(File.Occurrences[0].Fault, "invalid address");
}

TEST_F(FaultTest, WhatADeviceRecordsIsNone) {
  addRace();
  File.Occurrences[0].Rec.Kind = KernelFault;
  EXPECT_TRUE(buildReport(File).Findings.empty());
}

TEST_F(FaultTest, SurvivesItsFile) {
  Occurrence &O = addFault();
  O.Rec.Address = 0x40;
  O.Rec.Lanes = 8;
  O.Rec.Thread = 3;
  O.Rec.Block[1] = 2;
  O.Grid = {4, 4, 1};
  O.BlockShape = {32, 1, 1};
  O.LaunchedAt = "a.cu:9 in main";
  addFault("launch failure", 3);
  const std::string Text = writeReportFile(File, buildReport(File));
  auto Read = parseReportFile(Text);
  ASSERT_TRUE(std::holds_alternative<ReportFile>(Read))
      << std::get<ReportFileError>(Read).Message;
  const ReportFile &Again = std::get<ReportFile>(Read);
  EXPECT_EQ(renderText(buildReport(Again)), renderText(buildReport(File)));
  EXPECT_EQ(writeReportFile(Again, buildReport(Again)), Text);
  EXPECT_THAT(renderText(buildReport(Again)),
              HasSubstr("first seen: block (0,2,0) thread (3,0,0) address "
                        "0x40\n"));
  EXPECT_THAT(renderText(buildReport(Again)),
              HasSubstr("first seen: a thread that is not known\n"));
}

TEST_F(FaultTest, OfAnUnknownKindOfWordsIsRefused) {
  const auto Read = parseReportFile(
      R"({"records": [{"site": 1, "kind": "kernel_fault"}], "summary": {}})");
  ASSERT_TRUE(std::holds_alternative<ReportFileError>(Read));
}

TEST_F(FaultTest, OnAGpuIsWhereItsKernelWasLaunched) {
  addFault("stack overflow", 3).LaunchedAt = "src/a.cu:9 in main";
  const Report R = buildReport(File);
  const std::string Quality = renderCodeQuality(R, {});
  EXPECT_THAT(Quality, HasSubstr("\"path\": \"src/a.cu\""));
  EXPECT_THAT(Quality, HasSubstr("\"begin\": 9"));
  EXPECT_THAT(Quality, HasSubstr("cuda-race/kernel_fault"));
  EXPECT_THAT(renderSARIF(R, {}),
              HasSubstr("kernel fault: stack overflow: kernel k(), launched at "
                        "src/a.cu:9 in main. Write to 4 bytes."));
  EXPECT_THAT(renderText(R), Not(HasSubstr("-gline-tables-only")));
}

TEST_F(FaultTest, IsComparedAsAnyFinding) {
  const Report None = buildReport(File);
  addFault();
  const Report One = buildReport(File);
  File.Occurrences[0].Fault = "trap";
  const Report Other = buildReport(File);
  EXPECT_EQ(compare(None, One).New.size(), 1u);
  EXPECT_EQ(compare(One, None).Fixed.size(), 1u);
  EXPECT_EQ(compare(One, One).Persistent.size(), 1u);
  EXPECT_EQ(compare(One, Other).New.size(), 1u);
}

} // namespace crsan
