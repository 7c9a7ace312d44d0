// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandLine.h"
#include "gtest/gtest.h"

using namespace crsan::driver;

namespace {

/// The number of words of each argument.
std::vector<size_t> lengths(const CommandLine &Line) {
  std::vector<size_t> Lengths;
  for (const Argument &A : Line.Arguments)
    Lengths.push_back(A.Words.size());
  return Lengths;
}

/// Whether \p Words are one option with its values, and not also an input.
bool isOneOption(const std::vector<std::string> &Words) {
  const CommandLine Line = CommandLine::parse(Words);
  return Line.Arguments.size() == 1 && !Line.Arguments[0].IsInput &&
         Line.Arguments[0].Words == Words;
}

TEST(CommandLine, ClangSaysWhichOptionsTakeTheNextWord) {
  EXPECT_TRUE(isOneOption({"-o", "a.cu"}));
  EXPECT_TRUE(isOneOption({"--output", "a.cu"}));
  EXPECT_TRUE(isOneOption({"-Xarch_device", "-O3"}));
  EXPECT_TRUE(isOneOption({"-Xarch_sm_90", "-O3"}));
  EXPECT_TRUE(isOneOption({"-Xoffload-linker", "a.cu"}));
  EXPECT_TRUE(isOneOption({"-Xthinlto-distributor=a.cu"}));
  EXPECT_TRUE(isOneOption({"-sectcreate", "a", "b", "c.cu"}));
  EXPECT_TRUE(isOneOption({"-cudart", "static"})); // nvcc's, as we take it.
  EXPECT_TRUE(isOneOption({"-oa.cu"}));
  EXPECT_FALSE(isOneOption({"-c", "a.cu"}));
  EXPECT_FALSE(isOneOption({"-rdc=true", "a.cu"}));
}

TEST(CommandLine, AMissingValueIsLeftToClang) {
  for (const char *Option :
       {"-o", "-x", "-sectcreate", "-Xarch_device", "-cudart"})
    EXPECT_TRUE(isOneOption({Option})) << Option;
}

TEST(CommandLine, AnAliasIsTheOptionThatItStandsFor) {
  const CommandLine Line = CommandLine::parse(
      {"--output=a.o", "--language", "cuda", "a.x", "--compile",
       "--cuda-device-only", "--cuda-gpu-arch=sm_75"});
  EXPECT_EQ(Line.last(options::OPT_o), "a.o");
  EXPECT_TRUE(Line.has(options::OPT_offload_device_only));
  EXPECT_EQ(Line.last(options::OPT_offload_arch_EQ), "sm_75");
  EXPECT_EQ(Line.phase(), Phase::Assemble);
  EXPECT_TRUE(Line.hasInput(InputKind::Cuda));
  EXPECT_EQ(lengths(Line), (std::vector<size_t>{1, 2, 1, 1, 1, 1}));
}

TEST(CommandLine, TheLastOfAnOptionCounts) {
  const CommandLine Line = CommandLine::parse({"-oa", "-o", "b"});
  EXPECT_EQ(Line.last(options::OPT_o), "b");
  EXPECT_FALSE(Line.last(options::OPT_MF));
}

TEST(CommandLine, PathsAndWordsBehindDashesAreInputs) {
  const CommandLine Line =
      CommandLine::parse({"/tmp/a.cu", "-", "--", "-b.cu", "c.cpp"});
  ASSERT_EQ(Line.Arguments.size(), 4u);
  for (const Argument &A : Line.Arguments)
    EXPECT_TRUE(A.IsInput);
  EXPECT_EQ(Line.Arguments[2].Words[0], "./-b.cu");
  EXPECT_EQ(Line.Arguments[2].Input, InputKind::Cuda);
  EXPECT_EQ(Line.Arguments[3].Input, InputKind::Host);
}

TEST(CommandLine, WordsForTheLinkerAreInputs) {
  EXPECT_TRUE(CommandLine::parse({"-lm"}).hasAnyInput());
  EXPECT_TRUE(CommandLine::parse({"-Wl,-a,b"}).hasAnyInput());
  EXPECT_TRUE(CommandLine::parse({"--for-linker", "x"}).hasAnyInput());
  EXPECT_FALSE(CommandLine::parse({"-v", "-O2"}).hasAnyInput());
}

} // namespace
