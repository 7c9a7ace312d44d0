// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings that a user does not want.
#include "Report/Suppressions.h"
#include "TwoSided.h"

#include <gtest/gtest.h>

// Not `using`: GoogleTest brings another `abi` into the global namespace.
namespace crsan {

static bool suppresses(const std::string &Text, const Finding &F) {
  auto Result = Suppressions::parse(Text);
  auto *Error = std::get_if<SuppressionsError>(&Result);
  EXPECT_FALSE(Error) << Error->Message;
  return !Error && std::get<Suppressions>(Result).matches(F);
}

/// A write in put(), inlined into line 31 of a.cu, and a read in line 40 of
/// b.cu.
static Finding finding() {
  Finding F = twoSided(abi::RaceKind::InterBlock);
  F.Site->Frames = {{"put(int*)", "lib/put.h", 3, 1},
                    {"fill<int>(int*)", "src/a.cu", 31, 5}};
  F.Site->Kernel = "fill<int>(int*)";
  F.Other->Frames = {{"sum(int*)", "src/b.cu", 40, 5}};
  F.Other->Kernel = "total(int*)";
  return F;
}

TEST(Suppressions, MatchEitherSide) {
  EXPECT_TRUE(suppresses("race:put", finding()));
  EXPECT_TRUE(suppresses("race:src/b.cu", finding()));
  EXPECT_FALSE(suppresses("race:src/c.cu", finding()));
}

TEST(Suppressions, MatchAnyFrameLineAndKernel) {
  EXPECT_TRUE(suppresses("race:fill<int>", finding()));
  EXPECT_TRUE(suppresses("race:a.cu:31$", finding()));
  EXPECT_FALSE(suppresses("race:a.cu:3$", finding()));
  EXPECT_TRUE(suppresses("race:^total", finding()));
}

TEST(Suppressions, TopIsTheAccessItself) {
  EXPECT_TRUE(suppresses("race_top:put.h", finding()));
  EXPECT_TRUE(suppresses("race_top:sum(", finding()));
  EXPECT_FALSE(suppresses("race_top:a.cu", finding()));
  EXPECT_FALSE(suppresses("race_top:total", finding()));
}

TEST(Suppressions, UnderstandStarsAndEnds) {
  const Finding F = finding();
  EXPECT_TRUE(suppresses("race:p*t(*)", F));
  EXPECT_TRUE(suppresses("race:^src/*.cu$", F));
  EXPECT_FALSE(suppresses("race:^rc/*.cu$", F));
  EXPECT_FALSE(suppresses("race:^src/b.c$", F));
  EXPECT_TRUE(suppresses("race:s*c/b*u", F));
  EXPECT_TRUE(suppresses("race:*", F));
  EXPECT_TRUE(suppresses("race:^*cu:4*$", F));
}

TEST(Suppressions, SkipCommentsAndBlankLines) {
  EXPECT_TRUE(
      suppresses("# race:nothing\r\n\n  \t\n  race: put \r\n", finding()));
  EXPECT_FALSE(suppresses("", finding()));
  EXPECT_FALSE(suppresses("#race:put", finding()));
}

TEST(Suppressions, SparePlacesThatAreNotKnown) {
  Finding F = finding();
  F.Site.reset();
  F.Other->Frames = {{"", "", 0, 0}};
  F.Other->Kernel.clear();
  EXPECT_FALSE(suppresses("race:*", F));
  EXPECT_FALSE(suppresses("race_top:^$", F));
}

TEST(Suppressions, RefuseWhatTheyDoNotUnderstand) {
  const auto ErrorOf = [](const char *Text) {
    auto Result = Suppressions::parse(Text);
    auto *Error = std::get_if<SuppressionsError>(&Result);
    return Error ? Error->Message : "";
  };
  EXPECT_EQ(ErrorOf("race:a\nrce:b\n"),
            "line 2: 'rce:b' is none of race:PATTERN, race_top:PATTERN and "
            "race_pair:PATTERN");
  EXPECT_EQ(ErrorOf("race"), "line 1: 'race' is none of race:PATTERN, "
                             "race_top:PATTERN and race_pair:PATTERN");
  EXPECT_EQ(ErrorOf("\nrace: \n"), "line 2: the pattern is empty");
}

TEST(Suppressions, TakeFindingsOutAndCountThem) {
  Report R;
  R.Findings = {finding(), twoSided(abi::RaceKind::InterBlock), finding()};
  R.Summary.Checks = R.Summary.KernelsLaunched = 1;
  std::get<Suppressions>(Suppressions::parse("race:put")).apply(R);
  EXPECT_EQ(R.Findings.size(), 1u);
  EXPECT_EQ(R.Summary.Suppressed, 2u);
  std::get<Suppressions>(Suppressions::parse("race:k.cu")).apply(R);
  EXPECT_EQ(R.Summary.Suppressed, 3u);
  EXPECT_EQ(R.verdict(), Verdict::Clean);
}

TEST(Suppressions, APairIsOfBothSides) {
  EXPECT_TRUE(suppresses("race_pair:a.cu:31$ & b.cu:40$", finding()));
  EXPECT_TRUE(suppresses("race_pair:total & put", finding()));
  EXPECT_FALSE(suppresses("race_pair:a.cu:31$ & put", finding()));
  EXPECT_FALSE(suppresses("race_pair:a.cu:31$", finding()));
  EXPECT_TRUE(suppresses("race_pair:src", finding()));
  Finding OneSide = finding();
  OneSide.Other.reset();
  EXPECT_FALSE(suppresses("race_pair:a.cu", OneSide));
}

// Intent: the line that a report proposes takes out its finding, also where the
// sides are swapped, and nothing that has another line.
TEST(Suppressions, AProposedLineIsExact) {
  const Finding F = finding();
  const std::string Line = suppressionFor(F);
  EXPECT_EQ(Line, "race_pair:^lib/put.h:3$ & ^src/b.cu:40$");
  EXPECT_TRUE(suppresses(Line, F));
  Finding Swapped = F;
  std::swap(Swapped.Site, Swapped.Other);
  EXPECT_EQ(suppressionFor(Swapped), Line);
  EXPECT_TRUE(suppresses(Line, Swapped));
  Finding Elsewhere = F;
  Elsewhere.Other->Frames[0].Line = 4;
  EXPECT_FALSE(suppresses(Line, Elsewhere));
  Elsewhere.Other->Frames[0] = {"sum(int*)", "other/src/b.cu", 40, 5};
  EXPECT_FALSE(suppresses(Line, Elsewhere));
}

TEST(Suppressions, AProposedLineSaysWhatIsKnown) {
  Finding F = finding();
  F.Other = F.Site;
  EXPECT_EQ(suppressionFor(F), "race_pair:^lib/put.h:3$");
  EXPECT_TRUE(suppresses(suppressionFor(F), F));
  F.Other.reset();
  EXPECT_EQ(suppressionFor(F), "race_top:^lib/put.h:3$");
  EXPECT_EQ(suppressionFor(F, "lib/"), "race_top:put.h:3$");
  EXPECT_TRUE(suppresses(suppressionFor(F, "lib/"), F));
  // What CUDA's own headers access is named by the user's line.
  F.Site->Frames[0].File = "/usr/local/cuda/include/sm_20_intrinsics.hpp";
  if (&frameToName(F.Site->Frames) != &F.Site->Frames[0]) {
    EXPECT_EQ(suppressionFor(F), "race:^src/a.cu:31$");
    EXPECT_TRUE(suppresses(suppressionFor(F), F));
  }
  F.Site->Frames.clear();
  EXPECT_EQ(suppressionFor(F), "race:^fill<int>(int*)$");
  EXPECT_TRUE(suppresses(suppressionFor(F), F));
  F.Site->Operation = "cudaMemcpyAsync";
  EXPECT_EQ(suppressionFor(F), "race:^cudaMemcpyAsync$");
  EXPECT_TRUE(suppresses(suppressionFor(F), F));
  F.Site->Operation = F.Site->Kernel = "";
  EXPECT_EQ(suppressionFor(F), "");
}

TEST(Suppressions, AProposedLineCopesWithAnyPath) {
  Finding F = finding();
  F.Site->Frames[0].File = "a & b/put*.h";
  EXPECT_TRUE(suppresses(suppressionFor(F), F));
}

TEST(Suppressions, LinesThatMatchNothingAreNamed) {
  auto Parsed = Suppressions::parse("# known\nrace:put\n\nrace:gone\n"
                                    "race_pair:put & nothing\n");
  auto &List = std::get<Suppressions>(Parsed);
  EXPECT_FALSE(List.hasMatched());
  EXPECT_TRUE(List.matches(finding()));
  EXPECT_TRUE(List.hasMatched());
  EXPECT_EQ(List.unmatched(),
            "line 4 (race:gone), line 5 (race_pair:put & nothing)");
}

// Intent: the records of a suppressed finding are taken out, and counted as
// one.
TEST(Suppressions, RecordsAreTakenOutOfAFile) {
  const Finding F = finding();
  ReportFile File;
  SiteInfo Site = *F.Site, Other = *F.Other, Third = *F.Other;
  Site.Id = 1, Other.Id = 2, Third.Id = 3;
  Third.Frames = {{"keep(int*)", "src/c.cu", 7, 5}};
  Third.Kernel = "keep(int*)";
  for (const SiteInfo &S : {Site, Other, Third})
    File.Sites.add(S);
  for (auto [A, B] : {std::pair(1, 2), {2, 1}, {3, 3}}) {
    Occurrence &O = File.Occurrences.emplace_back();
    O.Rec = F.First;
    O.Rec.Site = uint64_t(A);
    O.Rec.Other = uint64_t(B);
  }
  std::get<Suppressions>(Suppressions::parse("race:put")).apply(File);
  EXPECT_EQ(File.Occurrences.size(), 1u);
  EXPECT_EQ(File.Summary.Suppressed, 1u);
  EXPECT_EQ(buildReport(File).Findings.size(), 1u);
}

} // namespace crsan
