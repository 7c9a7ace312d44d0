//===- RuntimeSplitTest.cpp -----------------------------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeSplit.h"
#include "gtest/gtest.h"

using crsan::ptx::splitRuntime;

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

static bool has(const std::string &S, const char *Part) {
  return S.find(Part) != S.npos;
}

TEST(RuntimeSplit, TheProgramKeepsItsOwnAndDeclaresTheRest) {
  auto S = splitRuntime(Module);
  ASSERT_TRUE(S);
  EXPECT_TRUE(has(S->Program, ".visible .entry kernel"));
  EXPECT_TRUE(has(S->Program, "__crsan_table_ab[3] = {1, 2, 3};"));
  EXPECT_TRUE(has(S->Program, "mine = {7};"));
  EXPECT_TRUE(has(S->Program, ".section	.debug_str { .b8 1 }"));
  EXPECT_TRUE(
      has(S->Program, ".extern  .const .align 8 .b8 __crsan_config[64];"));
  EXPECT_FALSE(has(S->Program, "ld.const"));
}

TEST(RuntimeSplit, TheRuntimeHasItsDefinitionsOnly) {
  auto S = splitRuntime(Module);
  ASSERT_TRUE(S);
  EXPECT_TRUE(has(S->Runtime, ".version 8.7"));
  EXPECT_TRUE(has(S->Runtime, ".address_size 64"));
  EXPECT_TRUE(has(S->Runtime, "ld.const.b32 %r1, [__crsan_config+4];"));
  EXPECT_TRUE(has(S->Runtime, ".visible  .const .align 8 .b8 __crsan_config"));
  EXPECT_FALSE(has(S->Runtime, "kernel"));
  EXPECT_FALSE(has(S->Runtime, "__crsan_table_ab"));
}

TEST(RuntimeSplit, WhatHasNoRuntimeIsLeftAlone) {
  EXPECT_FALSE(splitRuntime(".version 8.7\n.visible .entry k() { ret; }\n"));
}

TEST(RuntimeSplit, WhatIsNotUnderstoodIsLeftAlone) {
  std::string Text = Module;
  EXPECT_FALSE(splitRuntime(Text.substr(0, Text.find("ret;"))));
}
