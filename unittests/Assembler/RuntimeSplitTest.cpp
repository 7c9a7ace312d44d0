// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RuntimeSplit.h"
#include "Has.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"

using namespace crsan::assembler;

static RuntimeSplit split(llvm::StringRef PTX,
                          const llvm::StringSet<> &Asked = {}) {
  return splitRuntime(llvm::cantFail(readItems(PTX)), Asked);
}

static constexpr char Module[] = R"(//
// Generated
.version 8.7
.target sm_90
.address_size 64
.func (.param .b64 func_retval0) __crsan_pause
(
	.param .b64 __crsan_pause_param_0
)
;
.weak .const .align 8 .b8 __crsan_config[64];
.visible .global .align 8 .b8 __crsan_table_ab[3] = {1, 2, 3};
.global .align 4 .u32 mine = {7};
.visible .entry kernel()  // a { in a comment
{
	.reg .b32 %r;
	{ // nested
	call (retval0), __crsan_pause, (param0);
	}
	ret;
}
.func (.param .b64 func_retval0) __crsan_pause( // -- Begin
	.param .b64 __crsan_pause_param_0
) // @__crsan_pause
{
	ld.const.b32 %r1, [__crsan_config+4];
	ret;
}
.file	1 "a;b{.cu"
.section	.debug_str { .b8 1 }
)";

TEST(RuntimeSplit, TheProgramKeepsItsOwnAndDeclaresTheRest) {
  const RuntimeSplit S = split(Module);
  EXPECT_TRUE(has(S.Program, ".visible .entry kernel"));
  EXPECT_TRUE(has(S.Program, "__crsan_table_ab[3] = {1, 2, 3};"));
  EXPECT_TRUE(has(S.Program, "mine = {7};"));
  EXPECT_TRUE(has(S.Program, ".section	.debug_str { .b8 1 }"));
  EXPECT_TRUE(
      has(S.Program, ".extern  .const .align 8 .b8 __crsan_config[64];"));
  EXPECT_FALSE(has(S.Program, "ld.const"));
}

TEST(RuntimeSplit, TheRuntimeHasItsDefinitionsOnly) {
  const RuntimeSplit S = split(Module);
  EXPECT_TRUE(has(S.Runtime, ".version 8.7"));
  EXPECT_TRUE(has(S.Runtime, ".address_size 64"));
  EXPECT_TRUE(has(S.Runtime, "ld.const.b32 %r1, [__crsan_config+4];"));
  EXPECT_TRUE(has(S.Runtime, ".visible  .const .align 8 .b8 __crsan_config"));
  EXPECT_FALSE(has(S.Runtime, "kernel"));
  EXPECT_FALSE(has(S.Runtime, "__crsan_table_ab"));
}

TEST(RuntimeSplit, ModulesThatNeedTheSameHaveTheSameRuntime) {
  constexpr char First[] = R"(.version 8.7
.func __crsan_a();
.visible .entry kernel() { ret; }
.visible .global .align 8 .b8 __crsan_accesses_ab[3] = {1, 2, 3};
.func __crsan_b() // -- Begin
{
	.local .b8 __local_depot1[8];
$L__func_begin1:
	@%p1 bra $L__BB1_2; // Header=BB1_1
$L__BB1_2:
	ts: .branchtargets $L__BB1_2, $L__BB1_2;
$L__func_end1:
}
.func __crsan_a() { ret; }
)";
  constexpr char Second[] = R"(.version 8.7
.func __crsan_a() { ret; }
.visible .global .align 8 .b8 __crsan_accesses_cd[4] = {1, 2, 3, 4};
.func __crsan_b()
{
	.local .b8 __local_depot12[8];
$L__func_begin12:
	@%p1 bra $L__BB12_2;
$L__BB12_2:
	ts: .branchtargets $L__BB12_2, $L__BB12_2;
$L__func_end12:
}
.func __crsan_a();
)";
  const RuntimeSplit S = split(First);
  EXPECT_EQ(S.Runtime, split(Second).Runtime);
  EXPECT_TRUE(has(S.Runtime, "bra $L__BB_2;\n$L__BB_2:"));
  EXPECT_TRUE(has(S.Program, "__crsan_accesses_ab[3] = {1, 2, 3};"));
  // All functions are declared ahead of all definitions.
  for (const char *Declared : {"__crsan_a()\n;", "__crsan_b()\n;"})
    EXPECT_LT(S.Runtime.find(Declared), S.Runtime.find("{ ret; }"));
}

TEST(RuntimeSplit, WhatHasNoRuntimeIsAllProgram) {
  const RuntimeSplit S =
      split(".version 8.7\n.visible .entry k() { ret; }\n"
            ".weak .const .align 8 .b8 __crsan_config[64];\n");
  EXPECT_EQ(S.Runtime, "");
  EXPECT_TRUE(has(S.Program, "entry k"));
}

static constexpr char Kernels[] = R"(.version 8.7
.target sm_90, debug
.address_size 64
.extern .func vprintf(.param .b64 a);
.extern .func addressed();
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
.visible .global .align 4 .b8 table[4] = {1, 2, 3, 4};
.global .align 4 .u32 other = {7};
.func __crsan_twin_helper() { ret; }
.visible .entry __crsan_twin_waits()
{
	call vprintf, (p);
	call __crsan_twin_helper, ();
	mov.b64 %rd1, table;
	ret;
}
.visible .entry __crsan_twin_bounded()
.maxntid 16, 16, 4
{
	ret;
}
.func __crsan_spare_twin_helper() { ret; }
.visible .entry __crsan_spare_twin_limited()
{
	call __crsan_spare_twin_helper, ();
	mov.b64 %rd1, addressed;
	ret;
}
.func __crsan_pause() { ret; }
)";

TEST(RuntimeSplit, AskedTwinsAreApartWithWhatTheyMention) {
  const RuntimeSplit S = split(Kernels, {"waits", "limited"});
  EXPECT_TRUE(has(S.Twins, "entry __crsan_twin_waits"));
  EXPECT_TRUE(has(S.Twins, "entry __crsan_spare_twin_limited"));
  EXPECT_TRUE(has(S.Twins, ".func __crsan_twin_helper"));
  EXPECT_TRUE(has(S.Twins, ".func __crsan_spare_twin_helper"));
  EXPECT_TRUE(has(S.Twins, ".visible .global .align 4 .b8 table[4];"));
  EXPECT_TRUE(has(S.Twins, "vprintf"));
  EXPECT_TRUE(has(S.Twins, ".target sm_90\n"));
  EXPECT_TRUE(has(S.Twins, "addressed"));
  EXPECT_FALSE(has(S.Twins, "unused"));
  EXPECT_FALSE(has(S.Twins, "other"));
  EXPECT_FALSE(has(S.Twins, "bounded"));
  EXPECT_FALSE(has(S.Twins, ".func helper"));
  EXPECT_FALSE(has(S.Runtime, "twin_"));
  EXPECT_EQ(split(Kernels).Twins, "");
}

TEST(RuntimeSplit, TheProgramKeepsTheTwinsThatAreLaunched) {
  const std::string Whole =
      dropSpareTwins(Kernels, llvm::cantFail(readItems(Kernels)));
  for (const std::string &Text : {split(Kernels).Program, Whole}) {
    EXPECT_TRUE(has(Text, "entry __crsan_twin_waits"));
    EXPECT_TRUE(has(Text, "entry __crsan_twin_bounded"));
    EXPECT_TRUE(has(Text, "__crsan_twin_helper"));
    EXPECT_FALSE(has(Text, "__crsan_spare_twin_"));
  }
  EXPECT_TRUE(has(Whole, "__crsan_pause"));
}
