// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page and its JSON block.
#include "Report/HtmlReport.h"
#include "Report/ReportFile.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace crsan {

using nlohmann::json;

namespace {

class HtmlReportTest : public testing::Test {
protected:
  void TearDown() override { std::filesystem::remove(Source); }

  /// A finding whose two sides are at two lines of the source.
  void addFinding(const std::string &Kernel = "k()") {
    for (uint64_t Id : {1, 2}) {
      SiteInfo Site;
      Site.Id = Id;
      Site.Access = Id == 1 ? abi::AccessKind::Load : abi::AccessKind::Store;
      Site.Kernel = Kernel;
      Site.Frames = {{Kernel, Source, uint32_t(Id), 5}};
      File.Sites.add(Site);
    }
    Occurrence &O = File.Occurrences.emplace_back();
    O.Rec.Site = 1;
    O.Rec.Other = 2;
    O.Rec.Kind = abi::RaceKind::InterBlock;
    O.Rec.MemorySpace = abi::Space::Global;
    O.Rec.Flags = abi::TwoSided;
    O.Rec.Before = abi::earlierThread(3, 7);
    O.Rec.After = abi::EarlierNoSync;
    O.Rec.Lanes = 1 << 4;
  }

  void writeSource(const std::string &Text) {
    std::ofstream(Source, std::ios::binary) << Text;
  }

  std::string page() const { return renderHTML(buildReport(File), Options); }

  /// The text of the page's JSON block.
  static std::string blockOf(const std::string &Page) {
    const std::string Begin = R"(<script type="application/json" id="data">)";
    const size_t At = Page.find(Begin) + Begin.size();
    return Page.substr(At, Page.find("</script>", At) - At);
  }

  json data() const { return json::parse(blockOf(page())); }

  const std::string Source = testing::TempDir() + "crsan-html-report.cu";
  ReportFile File;
  TextOptions Options;
};

} // namespace

TEST_F(HtmlReportTest, FindingsHaveSidesAndPlaces) {
  addFinding();
  const json Data = data();
  EXPECT_EQ(Data["verdict"], "racy");
  ASSERT_EQ(Data["findings"].size(), 1u);
  const json &F = Data["findings"][0];
  EXPECT_EQ(F["kind"], "race between blocks");
  EXPECT_EQ(F["code"], "DR");
  EXPECT_EQ(F["space"], "global");
  EXPECT_EQ(F["kernels"], json::array({"k()"}));
  EXPECT_EQ(F["count"], 1);
  EXPECT_EQ(F["twoSided"], true);
  ASSERT_EQ(F["sides"].size(), 2u);
  EXPECT_EQ(F["sides"][0]["access"], "read");
  EXPECT_EQ(F["sides"][1]["access"], "write");
  EXPECT_EQ(F["sides"][1]["thread"], "block 3 thread 7");
  EXPECT_EQ(F["sides"][1]["frames"][0]["line"], 2);
  EXPECT_EQ(F["places"]["blocks"], json::parse("[[[0, 0, 0], 1]]"));
  EXPECT_EQ(F["places"]["lanes"], json::parse("[[4, 1]]"));
  EXPECT_TRUE(F["runs"].is_null());
}

TEST_F(HtmlReportTest, LinesOfTheSourceAreThereOnce) {
  writeSource("int x = *A;\nint y = B[1];\nend\n");
  addFinding();
  const json Data = data();
  ASSERT_EQ(Data["sources"].size(), 1u);
  EXPECT_EQ(
      Data["sources"][0]["lines"],
      json::parse(R"([[1, "int x = *A;"], [2, "int y = B[1];"], [3, "end"]])"));
  const json &Sides = Data["findings"][0]["sides"];
  EXPECT_EQ(Sides[0]["frames"][0]["mark"], json::parse("[4, 1]"));
}

TEST_F(HtmlReportTest, LongLinesAreCut) {
  writeSource(std::string(10000, 'x') + "\n");
  addFinding();
  const json Data = data();
  EXPECT_EQ(Data["sources"][0]["lines"][0][1].get<std::string>().size(), 500u);
}

TEST_F(HtmlReportTest, SourceThatIsNotThereHasNoLines) {
  addFinding();
  const json Data = data();
  EXPECT_EQ(Data["sources"][0]["name"], Source);
  EXPECT_TRUE(Data["sources"][0]["lines"].empty());
  EXPECT_FALSE(Data["findings"][0]["sides"][0]["frames"][0].contains("mark"));
}

TEST_F(HtmlReportTest, PrefixesOfPathsAreTakenOff) {
  writeSource("int x = *A;\n");
  addFinding();
  Options.StripPathPrefix = testing::TempDir();
  const json Data = data();
  EXPECT_EQ(Data["sources"][0]["name"], "crsan-html-report.cu");
  EXPECT_FALSE(Data["sources"][0]["lines"].empty());
}

TEST_F(HtmlReportTest, TextOfTheReportCannotEndTheBlock) {
  const std::string Hostile = "</script><!--<script>{{script}}\xff\u2028";
  writeSource(Hostile + "\n");
  addFinding(Hostile);
  File.Summary.Notes = {Hostile};
  const std::string Page = page(), Block = blockOf(Page);
  EXPECT_EQ(Block.find('<'), std::string::npos);
  EXPECT_EQ(Block.find("\xe2\x80\xa8"), std::string::npos);
  const std::string Shown = "</script><!--<script>{{script}}\ufffd\u2028";
  const json Data = json::parse(Block);
  EXPECT_EQ(Data["findings"][0]["kernels"][0], Shown);
  EXPECT_EQ(Data["sources"][0]["lines"][0][1], Shown);
  EXPECT_EQ(Data["coverage"]["sentences"][0], Shown);
  EXPECT_TRUE(Page.ends_with("</html>\n"));
}

TEST_F(HtmlReportTest, RunsThatShowAFindingAreNamed) {
  addFinding();
  File.Occurrences[0].Run = 2;
  File.Runs = {{1, "./a", "", ""},
               {2, "./a", "", "exit code 3"},
               {7, "./a", "again 7", ""}};
  const json Data = data();
  EXPECT_EQ(Data["runs"][1]["failure"], "exit code 3");
  EXPECT_EQ(
      Data["findings"][0]["runs"],
      json::parse(R"({"indices": [2], "seeds": "7", "replay": "again 7"})"));
}

TEST_F(HtmlReportTest, CoverageHasWhatTheRunCounted) {
  File.Summary.KernelsLaunched = 3;
  File.Summary.Sites = 12;
  File.Summary.Checks = 99;
  File.Summary.KernelsNotInstrumented = 2;
  json Data = data();
  EXPECT_EQ(Data["verdict"], "clean");
  const json &Coverage = Data["coverage"];
  EXPECT_EQ(Coverage["counts"]["run"]["checks"], 99);
  EXPECT_EQ(Coverage["sentences"][0],
            "2 launches of kernels that are not instrumented were not checked; "
            "build the source with -fsanitize=cuda-race, or let CRSan put checks "
            "into the code as it is: crsan run --detector=metadata");
  EXPECT_FALSE(Coverage["counts"].contains("oracle"));
  File.Summary = {};
  File.Summary.Oracle.emplace().Grids = 1;
  Data = data();
  EXPECT_EQ(Data["verdict"], "nothing-checked");
  EXPECT_EQ(Data["coverage"]["counts"]["oracle"]["grids"], 1);
  EXPECT_FALSE(Data["coverage"]["counts"].contains("run"));
}

} // namespace crsan
