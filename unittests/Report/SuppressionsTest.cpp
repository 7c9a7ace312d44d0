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
            "line 2: 'rce:b' is neither race:PATTERN nor race_top:PATTERN");
  EXPECT_EQ(ErrorOf("race"),
            "line 1: 'race' is neither race:PATTERN nor race_top:PATTERN");
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

} // namespace crsan
