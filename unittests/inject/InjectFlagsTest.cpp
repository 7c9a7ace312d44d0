// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Run-time options.

#include "common/Flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crsan {
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

static std::string errorOf(std::string_view Text) {
  Flags F;
  return F.parse(Text).value_or("");
}

TEST(InjectFlags, EmptyTextKeepsDefaults) {
  Flags F;
  EXPECT_EQ(F.parse(""), std::nullopt);
  EXPECT_TRUE(F.enabled);
  EXPECT_EQ(F.exitcode, 66u);
  EXPECT_EQ(F.delay_ns, 5000u);
  EXPECT_EQ(F.log_path, "");
}

TEST(InjectFlags, EverySeparatorOfTheSanitizersSeparates) {
  Flags F;
  EXPECT_EQ(F.parse(" ::seed=7:exitcode=0,verbosity=2 trap=1\nbudget=5\t:"),
            std::nullopt);
  EXPECT_EQ(F.seed, 7u);
  EXPECT_EQ(F.exitcode, 0u);
  EXPECT_EQ(F.verbosity, 2u);
  EXPECT_TRUE(F.trap);
  EXPECT_EQ(F.budget, 5u);
}

TEST(InjectFlags, EffortSetsOthersThatLaterOnesOverride) {
  const Flags Default;
  Flags F;
  EXPECT_EQ(F.parse("budget=7:effort=light:delay_ns=1"), std::nullopt);
  EXPECT_EQ(F.launch_one_in, 16u);
  EXPECT_EQ(F.budget, 8u);
  EXPECT_EQ(F.launch_first, 0u);
  EXPECT_EQ(F.launch_pause_us, 2000u);
  EXPECT_EQ(F.overhead, 10u);
  EXPECT_EQ(F.delay_ns, 1u);
  EXPECT_EQ(F.warp_one_in, 2u);
  EXPECT_EQ(F.warpOneIn(), 2u);
  EXPECT_EQ(F.follow_launch_ms, 1u);
  EXPECT_EQ(F.parse("effort=thorough"), std::nullopt);
  EXPECT_EQ(F.launch_one_in, 1u);
  EXPECT_EQ(F.warp_one_in, 1u);
  EXPECT_FALSE(F.early_blocks);
  EXPECT_GT(F.budget, Default.budget);
  EXPECT_GT(F.overhead, Default.overhead);
  EXPECT_EQ(F.parse("effort=default"), std::nullopt);
  EXPECT_EQ(F.budget, Default.budget);
  EXPECT_EQ(F.overhead, Default.overhead);
  EXPECT_EQ(F.follow_launch_ms, Default.follow_launch_ms);
  EXPECT_EQ(F.parse("effort=light:budget=0"), std::nullopt);
  EXPECT_EQ(F.warpOneIn(), 1u);
  EXPECT_THAT(errorOf("effort=much"), HasSubstr("light|default|thorough"));
}

TEST(InjectFlags, QuotesKeepSeparators) {
  Flags F;
  EXPECT_EQ(F.parse("log_path='/a b:c,d':strip_path_prefix=\"x'y\":seed=1"),
            std::nullopt);
  EXPECT_EQ(F.log_path, "/a b:c,d");
  EXPECT_EQ(F.strip_path_prefix, "x'y");
  EXPECT_EQ(F.seed, 1u);
}

TEST(InjectFlags, TheLastOfARepeatedOptionCounts) {
  Flags F;
  EXPECT_EQ(F.parse("seed=1:seed=0x10"), std::nullopt);
  EXPECT_EQ(F.seed, 16u);
}

TEST(InjectFlags, AnEmptyValueOfAStringIsAllowed) {
  Flags F;
  EXPECT_EQ(F.parse("log_path=a:log_path=:seed=3"), std::nullopt);
  EXPECT_EQ(F.log_path, "");
  EXPECT_EQ(F.seed, 3u);
}

TEST(InjectFlags, UnknownOptionNamesTheNearOnes) {
  EXPECT_THAT(errorOf("halt_on_eror=1"),
              AllOf(HasSubstr("unknown option 'halt_on_eror'"),
                    HasSubstr("did you mean 'halt_on_error'?"),
                    HasSubstr("help=1")));
  EXPECT_THAT(errorOf("delay=1"), HasSubstr("'delay_ns'"));
  EXPECT_THAT(errorOf("exit_code=1"), HasSubstr("'exitcode'"));
}

TEST(InjectFlags, UnknownOptionWithoutNearOnesPointsToTheList) {
  EXPECT_THAT(errorOf("qqqqqqqqqqqqqqqq=1"),
              AllOf(HasSubstr("unknown option"), HasSubstr("help=1"),
                    Not(HasSubstr("did you mean"))));
}

TEST(InjectFlags, MalformedValuesAreErrors) {
  for (const char *Text :
       {"trap=2", "trap=", "trap", "seed=", "seed=-1", "seed=1x",
        "seed=4294967296", "exitcode=256", "poll_ms=0", "verbosity=9",
        "seed=99999999999999999999", "seed=0x", "=1", "seed", "seed :trap=1"})
    EXPECT_NE(errorOf(Text), "") << Text;
  EXPECT_THAT(errorOf("exitcode=256"), HasSubstr("from 0 to 255"));
  EXPECT_THAT(errorOf("log_path='x"), HasSubstr("closing '"));
  EXPECT_THAT(errorOf("log_path='x'y"), HasSubstr("separator"));
  EXPECT_THAT(errorOf("seed:trap=1"), HasSubstr("'seed' has no value"));
}

TEST(InjectFlags, ErrorsAreOneLine) {
  EXPECT_THAT(errorOf("nonsense=1"), Not(HasSubstr("\n")));
}

TEST(InjectFlags, HelpListsEveryOptionWithItsDefault) {
  std::string Help = Flags::helpText();
  for (const char *Line :
       {"  halt_on_error=0\n", "  exitcode=66\n", "  log_path=\"\"\n",
        "  delay_ns=5000\n", "  max_records=4096\n", "  shuffle=1\n"})
    EXPECT_THAT(Help, HasSubstr(Line));
}

TEST(InjectFlags, ChoicesAreChecked) {
  Flags F;
  EXPECT_EQ(F.schedule, "random");
  EXPECT_EQ(F.parse("schedule=pct:detector=oracle"), std::nullopt);
  EXPECT_EQ(F.schedule, "pct");
  EXPECT_EQ(F.detector, "oracle");
  EXPECT_EQ(
      F.parse("schedule=round"),
      "option 'schedule' takes one of roundrobin|random|pct, not 'round'");
  EXPECT_EQ(F.schedule, "pct");
}

TEST(InjectFlags, AnOptionMayBeCalledLikeAKeyword) {
  Flags F;
  EXPECT_EQ(F.volatile_, "strong");
  EXPECT_EQ(F.parse("volatile=weak"), std::nullopt);
  EXPECT_EQ(F.volatile_, "weak");
  EXPECT_THAT(errorOf("volatile_=weak"), HasSubstr("did you mean 'volatile'"));
  EXPECT_THAT(Flags::helpText(), HasSubstr("  volatile=strong (of "));
}

} // namespace crsan
