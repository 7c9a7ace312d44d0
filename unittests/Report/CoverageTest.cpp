// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adding up how often accesses were checked.
#include "Report/ReportFile.h"

#include <gtest/gtest.h>

#include <limits>

using namespace crsan;

namespace {

AccessCoverage access(uint32_t Line, std::string Kernel, uint64_t Checks) {
  return {.Place = {"f()", "a.cu", Line, 1},
          .Kernel = std::move(Kernel),
          .Checks = Checks};
}

TEST(CoverageTest, AddsUpWhatIsOneAccess) {
  Coverage All;
  addCoverage(All, {access(7, "k()", 2), access(3, "k()", 0),
                    access(7, "k()", 3), access(7, "other()", 1)});
  EXPECT_EQ(All, (Coverage{access(3, "k()", 0), access(7, "k()", 5),
                           access(7, "other()", 1)}));
  AccessCoverage Followed = access(3, "k()", 0);
  Followed.IsFollowed = true;
  addCoverage(All, {Followed, access(7, "k()", ~uint64_t(0))});
  EXPECT_EQ(All[0], Followed);
  EXPECT_EQ(All[1].Checks, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(All.size(), 3u);
}

// Intent: of a function whose calls are all inlined, the copy that nobody calls
// is no access that was left out.
TEST(CoverageTest, LeavesOutTheCopyOfAnInlinedFunction) {
  Coverage All;
  addCoverage(All, {access(7, "", 0), access(7, "k()", 1), access(9, "", 0)});
  EXPECT_EQ(All, (Coverage{access(7, "k()", 1), access(9, "", 0)}));
  addCoverage(All, {access(7, "", 4)});
  EXPECT_EQ(All[0].Checks, 4u);
  EXPECT_EQ(All.size(), 3u);
}

TEST(CoverageTest, CountsAndSurvivesAFile) {
  ReportFile File;
  AccessCoverage Omitted = access(8, "k()", 0);
  Omitted.NotChecked = "it is \"special\"";
  addCoverage(File.Checked,
              {access(7, "k()", 2), access(9, "k()", 0), Omitted});
  const CoverageCounts Counts = countCoverage(File.Checked);
  EXPECT_EQ(Counts.Checked, 1u);
  EXPECT_EQ(Counts.NotExecuted, 1u);
  EXPECT_EQ(Counts.NotChecked, 1u);
  const auto Read = parseReportFile(writeReportFile(File, buildReport(File)));
  ASSERT_TRUE(std::holds_alternative<ReportFile>(Read));
  EXPECT_EQ(std::get<ReportFile>(Read).Checked, File.Checked);
}

} // namespace
