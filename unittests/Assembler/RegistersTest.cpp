// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Registers.h"
#include "Has.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"

using namespace crsan::assembler;

static constexpr char TwoKernels[] = R"(.version 8.7
.target sm_90, debug
.address_size 64
.extern .func vprintf(.param .b64 a);
.extern .func (.param .b32 r) unused(.param .b64 a);
.func helper();
.visible .entry waits(
	.param .b64 waits_param_0
)
{
	ret;
}
.visible .entry bounded()
.maxntid 16, 16, 4
.minnctapersm 2
{
	ret;
}
.visible .entry limited()
.maxnreg 40
{
	ret;
}
)";

TEST(Registers, BoundsSayHowManyRegistersFit) {
  const auto Bounds = entryBounds(llvm::cantFail(readItems(TwoKernels)));
  ASSERT_EQ(Bounds.size(), 3u);
  EXPECT_EQ(Bounds[0].Name, "waits");
  EXPECT_EQ(Bounds[0].registersThatFit(), 0u);
  EXPECT_EQ(Bounds[1].MaxThreads, 1024u);
  EXPECT_EQ(Bounds[1].registersThatFit(), 32u);
  EXPECT_EQ(Bounds[2].registersThatFit(), 40u);
}

TEST(Registers, KernelsWithoutALimitGetOne) {
  const std::string Text =
      limitRegisters(TwoKernels, llvm::cantFail(readItems(TwoKernels)),
                     {{"waits", 32}, {"limited", 24}, {"absent", 8}});
  EXPECT_TRUE(has(Text, "waits_param_0\n)\n\n.maxnreg 32\n{"));
  EXPECT_TRUE(has(Text, ".maxnreg 40"));
  EXPECT_FALSE(has(Text, ".maxnreg 24"));
  EXPECT_FALSE(has(Text, ".maxnreg 8"));
}

TEST(Registers, PtxasSaysHowManyRegistersAreUsed) {
  auto Used = usedRegisters(
      "ptxas info    : 4004 bytes gmem\n"
      "ptxas info    : Compiling entry function 'one' for 'sm_90'\n"
      "ptxas info    : Function properties for one\n"
      "    0 bytes stack frame, 0 bytes spill stores\n"
      "ptxas info    : Used 16 registers, used 1 barriers\n"
      "ptxas info    : Compiling entry function 'two' for 'sm_90'\n"
      "ptxas info    : Used 255 registers\n");
  EXPECT_EQ(Used.size(), 2u);
  EXPECT_EQ(Used["one"], 16u);
  EXPECT_EQ(Used["two"], 255u);
}

TEST(Registers, AKernelIsLimitedByItsBoundsItsTwinAndTheMost) {
  const RegisterLimits Limits =
      registerLimits(llvm::cantFail(readItems(TwoKernels)),
                     {{"limited", 36}, {"bounded", 48}}, {}, 64);
  EXPECT_EQ(Limits.Kernels, (KernelRegisters{{"waits", 64}, {"limited", 36}}));
  EXPECT_EQ(Limits.Functions, FullResidency);
}

TEST(Registers, AKernelThatNeedsManyMayUseAsManyAsItsTwin) {
  const auto Items = llvm::cantFail(readItems(TwoKernels));
  RegisterNeeds Needs;
  Needs.Many.insert("waits");
  const auto LimitOf = [&](unsigned Native, unsigned Most) {
    return registerLimits(Items, {{"waits", Native}}, Needs, Most)
        .Kernels["waits"];
  };
  EXPECT_EQ(LimitOf(96, MostRegisters), 96u);
  EXPECT_EQ(LimitOf(96, 80), 80u);
  EXPECT_EQ(LimitOf(40, MostRegisters), LargestBlock);
  // One that waits is limited by its twin.
  EXPECT_EQ(registerLimits(Items, {{"waits", 40}}, {}, MostRegisters)
                .Kernels["waits"],
            40u);
}

TEST(Registers, AKernelThatNeedsFewLimitsNoFunctions) {
  const auto Items = llvm::cantFail(readItems(
      ".visible .entry small() { ret; }\n.visible .entry large() { ret; }\n"));
  RegisterNeeds Needs;
  Needs.Few.insert("small");
  const RegisterLimits Limits = registerLimits(Items, {}, Needs, MostRegisters);
  EXPECT_EQ(Limits.Kernels, (KernelRegisters{{"small", FullResidency},
                                             {"large", LargestBlock}}));
  EXPECT_EQ(Limits.Functions, LargestBlock);
}

TEST(Registers, ATwinIsLimitedToWhatItNeedsNatively) {
  const auto Items = llvm::cantFail(readItems(
      ".visible .entry __crsan_twin_waits() { ret; }\n"
      ".visible .entry __crsan_twin_small() { ret; }\n"
      ".visible .entry __crsan_twin_other() { ret; }\n"
      ".visible .entry __crsan_twin_bounded() .maxnreg 24 { ret; }\n"));
  RegisterNeeds Needs;
  Needs.Few.insert("small");
  EXPECT_EQ(registerLimits(Items, {{"waits", 40}, {"bounded", 40}}, Needs,
                           MostRegisters)
                .Kernels,
            (KernelRegisters{{"__crsan_twin_waits", 40},
                             {"__crsan_twin_small", FullResidency},
                             {"__crsan_twin_other", MostRegisters}}));
}

TEST(Registers, OfATwinAreRoundedUpToWhatAWarpIsGiven) {
  EXPECT_EQ(limitByTwin(16), FullResidency);
  EXPECT_EQ(limitByTwin(40), 40u);
  EXPECT_EQ(limitByTwin(41), 48u);
}
