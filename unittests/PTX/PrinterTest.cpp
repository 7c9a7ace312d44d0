// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PTX/Printer.h"
#include "Dump.h"
#include "PTX/Parser.h"
#include "gtest/gtest.h"

using namespace crsan::ptx;

namespace {

std::string printedInline(std::string_view Text) {
  auto Result = parseInline(std::string(Text));
  if (const auto *E = std::get_if<ParseError>(&Result))
    return E->Message;
  return print(std::get<InlineBody>(Result).Body);
}

void expectRoundTrip(std::string_view Items) {
  const std::string Text =
      ".version 9.0\n.target sm_90\n.address_size 64\n" + std::string(Items);
  auto First = parseModule(Text);
  ASSERT_TRUE(std::holds_alternative<Module>(First))
      << std::get<ParseError>(First).Message;
  const Module &M = std::get<Module>(First);
  const std::string Printed = print(M);
  auto Second = parseModule(Printed);
  ASSERT_TRUE(std::holds_alternative<Module>(Second))
      << std::get<ParseError>(Second).Message << "\n"
      << Printed;
  const Module &Again = std::get<Module>(Second);
  EXPECT_EQ(Dump(&M).module(), Dump(&Again).module());
  EXPECT_EQ(print(Again), Printed);
}

} // namespace

TEST(PTXPrinter, Instructions) {
  // As ptxas reads it, and as written where there is nothing to choose.
  for (std::string_view Text :
       {"@!%p1 bra.uni $L__BB0_1;", "ld.global.v2.u32 {%r1, _}, [%rd1+-4];",
        "setp.eq.s32 %p1|%p2, %r1, -1;", "mov.f32 %f1, 0f3F800000;",
        "mov.f64 %d1, 0dBFF0000000000000;", "mov.u32 %r1, %tid.x;",
        "call (r), f, (a, b);", "call f, ();", "mov.u64 %rd1, x+8;",
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::"
        "complete_tx::bytes [%rd1], [%rd2, {%r1}], [%rd3+8];",
        "ld.u32 $0, [$1+$2];", "mov.u32 ${0:x}, -$1;", "ret;",
        "selp.b32 a, b, c, !p;", "vadd.u32.u32.u32 a, b.b0, c.h1;"})
    EXPECT_EQ(printedInline(Text), "\t" + std::string(Text) + "\n");
}

TEST(PTXPrinter, OneInstruction) {
  auto Result = parseInline("  @p  st.u32\n[a] , 1");
  const Block &B = std::get<InlineBody>(Result).Body;
  EXPECT_EQ(print(std::get<Instruction>(B.Statements[0])), "@p st.u32 [a], 1;");
}

TEST(PTXPrinter, Blocks) {
  EXPECT_EQ(printedInline("{.reg .pred p;L:{ret;}}"),
            "\t{\n\t\t.reg .pred p;\nL:\n\t\t{\n\t\t\tret;\n\t\t}\n\t}\n");
}

TEST(PTXPrinter, Variables) {
  expectRoundTrip(R"(
.extern .shared .align 16 .b8 smem[];
.global .attribute(.managed, .unified(1, 2)) .align 4 .u32 count = 7;
.const .align 16 .v4 .f32 quad = {0f3F800000, 0f00000000, 1.0, 2};
.weak .global .u32 matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
.global .u64 plain[4] = {x, x+8, generic(x)+16, 18446744073709551615};
.global .u8 bytes[2] = {0xFF(generic(x)+4), 0xFF00(x)};
.common .global .b8 common[8];)");
}

TEST(PTXPrinter, Functions) {
  expectRoundTrip(R"(
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.func stop() .noreturn;
.func .attribute(.unified(0xAB, 0xCD)) g(.reg .u32 a) { ret; }
.alias f, g;
.pragma "one";
.visible .entry k(.param .u64 .ptr .global .align 16 a,
                  .param .align 8 .b8 b[24])
.maxntid 256, 1, 1 .reqnctapercluster 2, 1, 1 .blocksareclusters
.pragma "two";
{
	.pragma "nounroll";
	.reg .b32 %r<10>;
	{ .param .b32 p0; call.uni (p0), %rd1, (p0), proto; }
proto: .callprototype (.param .b32 _) _ (.param .b32 _[]) ;
table: .branchtargets A, B;
A:
B:	brx.idx %r1, table;
}
.entry none { ret; })");
}

TEST(PTXPrinter, Lines) {
  expectRoundTrip(R"(.file 1 "a.cu"
.file 7 "b.h"
.entry k() {
	.loc 1 10 3
	.loc 7 5 1, function_name $L0, inlined_at 1 10 3
	add;
	.loc 1 99 3
	.loc 1 10 3
	sub;
	.loc 7 5 1, function_name $L0, inlined_at 1 10 3
	add;
	.loc 7 6 1, function_name $L1+4, inlined_at 7 5 1
	ret;
	.loc 7 8 1, function_name $L1, inlined_at 9 9 9
	ret;
}
.entry l() { ret; .loc 7 5 1, function_name $L0, inlined_at 1 10 3
	ret; }
.section .debug_str { $L0: .b8 65, 0
 $L1: .b8 0 }
.section	.debug_macinfo	{	})");
}
