// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX in what a program loads.

#include "FatBuilder.h"
#include "image/ProgramCode.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace crsan;

namespace {

constexpr auto PTX = FatBuilder::PTX, Cubin = FatBuilder::Cubin;

std::string textFor(unsigned Architecture) {
  std::string Text = ".version 8.8\n.target sm_" + std::to_string(Architecture);
  for (unsigned I = 0; I < 100; ++I)
    Text += "\n// padding that compresses well";
  return Text;
}

std::vector<std::string> found(const void *Code) {
  auto Result = findPTX(Code, 90);
  if (auto *Error = std::get_if<std::string>(&Result))
    return {"error: " + *Error};
  return std::get<std::vector<std::string>>(Result);
}

TEST(ProgramCode, EveryPackingIsUnpacked) {
  for (Pack How : {Pack::Plain, Pack::LZ4, Pack::Zstandard}) {
    FatBuilder B;
    const void *Code = B.add(PTX, 90, textFor(90), How).finish();
    EXPECT_EQ(found(Code), std::vector{textFor(90)});
  }
}

TEST(ProgramCode, TheNewestThatRunsIsTaken) {
  FatBuilder B;
  const void *Code = B.add(PTX, 75, textFor(75))
                         .add(PTX, 90, textFor(90), Pack::Zstandard)
                         .add(PTX, 80, textFor(80))
                         .add(PTX, 100, textFor(100))
                         .finish();
  EXPECT_EQ(found(Code), std::vector{textFor(90)});
  EXPECT_EQ(
      found(B.add(PTX, 120, textFor(120)).add(PTX, 100, textFor(100)).finish()),
      std::vector{textFor(100)});
}

TEST(ProgramCode, MachineCodeAloneHasARemedy) {
  FatBuilder B;
  std::string Error =
      found(B.add(Cubin, 86, "not read").add(Cubin, 90, "nor this").finish())
          .front();
  EXPECT_NE(Error.find("only machine code for sm_86, sm_90"), Error.npos)
      << Error;
  EXPECT_NE(Error.find("--cuda-include-ptx=all"), Error.npos) << Error;
}

TEST(ProgramCode, DamageIsAnError) {
  FatBuilder B;
  auto *Code = static_cast<const char *>(
      B.add(PTX, 90, textFor(90), Pack::Zstandard).finish());
  std::string Damaged(Code, 16 + 64 + 40);
  Damaged[16 + 64] ^= 1;
  EXPECT_NE(found(Damaged.data()).front().find("damaged Zstandard"),
            std::string::npos);
}

TEST(ProgramCode, PlainPTXIsTakenAsItIs) {
  EXPECT_EQ(found(textFor(75).c_str()), std::vector{textFor(75)});
}

TEST(ProgramCode, DefinedFunctions) {
  constexpr std::string_view Text = R"(
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b) ;
.visible .func (.param .b32 func_retval0) _Z1fi( .param .b32 p ) .noreturn
{
}
.func helper() { }
.visible .entry _Z1kPi( .param .u64 .ptr .align 1 _Z1kPi_param_0 )
.maxntid 128 { }
.extern .entry later ( .param .u64 x );
)";
  std::vector<DefinedFunction> Found = definedFunctions(Text);
  ASSERT_EQ(Found.size(), 3u);
  EXPECT_EQ(Found[0].Name, "_Z1fi");
  EXPECT_EQ(Found[1].Name, "helper");
  EXPECT_FALSE(Found[1].IsKernel);
  EXPECT_EQ(Found[2].Name, "_Z1kPi");
  EXPECT_TRUE(Found[2].IsKernel);
}

TEST(ProgramCode, Target) {
  EXPECT_EQ(targetIn(textFor(75)), (crsan::Target{75}));
  EXPECT_EQ(targetIn(".version 8.7\n.target sm_90a, debug").text(), "sm_90a");
  EXPECT_EQ(targetIn("nothing").Number, 0u);
}

TEST(ProgramCode, WordsWithPrefix) {
  std::vector<std::string_view> Words =
      wordsWithPrefix(".b8 __t_01[4]; mov x, __t_01; a__t_02 __t_03,", "__t_");
  EXPECT_EQ(Words, (std::vector<std::string_view>{"__t_01", "__t_03"}));
}

} // namespace
