// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PTX/Parser.h"
#include "PTX/DebugStrings.h"
#include "gtest/gtest.h"

using namespace crsan::ptx;
using Kind = Operand::Kind;

namespace {

constexpr std::string_view Head =
    ".version 8.7\n.target sm_90a, debug\n.address_size 64\n";

Module parsed(std::string_view Items) {
  auto Result = parseModule(std::string(Head) + std::string(Items));
  if (const auto *E = std::get_if<ParseError>(&Result)) {
    ADD_FAILURE() << E->Pos.Line << ':' << E->Pos.Column << ": " << E->Message;
    return {};
  }
  return std::move(std::get<Module>(Result));
}

InlineBody parsedInline(std::string_view Text) {
  auto Result = parseInline(std::string(Text));
  if (const auto *E = std::get_if<ParseError>(&Result)) {
    ADD_FAILURE() << E->Pos.Line << ':' << E->Pos.Column << ": " << E->Message;
    return {};
  }
  return std::move(std::get<InlineBody>(Result));
}

const Function &function(const Module &M, size_t Index = 0) {
  return std::get<Function>(M.Items.at(Index));
}
const Variable &variable(const Module &M, size_t Index = 0) {
  return std::get<Variable>(M.Items.at(Index));
}
const Instruction &instruction(const Block &B, size_t Index = 0) {
  return std::get<Instruction>(B.Statements.at(Index));
}

/// "LINE:COLUMN: MESSAGE" of what must not parse.
std::string errorOf(std::string_view Items) {
  auto Result = parseModule(std::string(Head) + std::string(Items));
  const auto *E = std::get_if<ParseError>(&Result);
  if (!E)
    return "no error";
  return std::to_string(E->Pos.Line) + ':' + std::to_string(E->Pos.Column) +
         ": " + E->Message;
}

} // namespace

TEST(PTXParser, Header) {
  const Module M = parsed("");
  EXPECT_EQ(M.VersionMajor, 8u);
  EXPECT_EQ(M.VersionMinor, 7u);
  EXPECT_EQ(M.Targets, (std::vector<std::string_view>{"sm_90a", "debug"}));
  EXPECT_EQ(M.AddressSize, 64u);
}

TEST(PTXParser, InstructionWithGuardAndModifiers) {
  const InlineBody I =
      parsedInline("@!p ld.relaxed.gpu.shared::cluster.L1::no_allocate.v2.u32 "
                   "{%r1, _}, [%rd2+-4];");
  const Instruction &Load = instruction(I.Body);
  EXPECT_EQ(Load.If->Register, "p");
  EXPECT_TRUE(Load.If->IsNegated);
  EXPECT_EQ(Load.Opcode, "ld");
  EXPECT_EQ(Load.Modifiers,
            (std::vector<std::string_view>{"relaxed", "gpu", "shared::cluster",
                                           "L1::no_allocate", "v2", "u32"}));
  EXPECT_TRUE(Load.has("relaxed"));
  EXPECT_FALSE(Load.has("shared"));
  EXPECT_EQ(Load.type(), ScalarType::U32);
  ASSERT_EQ(Load.Operands.size(), 2u);
  EXPECT_EQ(Load.Operands[0].What, Kind::Vector);
  EXPECT_EQ(Load.Operands[0].Elements[1].What, Kind::Discard);
  EXPECT_EQ(Load.Operands[1].What, Kind::Address);
  EXPECT_EQ(Load.Operands[1].Elements[0].Text, "%rd2");
  EXPECT_EQ(static_cast<int64_t>(Load.Operands[1].Bits), -4);
}

TEST(PTXParser, TypesOfConversions) {
  const InlineBody I = parsedInline("cvt.rn.satfinite.e4m3x2.f32 a, b, c;");
  EXPECT_EQ(instruction(I.Body).type(0), ScalarType::E4M3x2);
  EXPECT_EQ(instruction(I.Body).type(1), ScalarType::F32);
  EXPECT_EQ(instruction(I.Body).type(2), ScalarType::None);
}

TEST(PTXParser, EveryTypeHasItsName) {
  for (int I = 1; I <= int(ScalarType::SurfRef); ++I) {
    const auto Type = static_cast<ScalarType>(I);
    EXPECT_EQ(parseScalarType(name(Type)), Type) << name(Type);
    EXPECT_GT(sizeOf(Type), 0u) << name(Type);
  }
  EXPECT_FALSE(parseScalarType("sync"));
  EXPECT_EQ(sizeOf(ScalarType::B128), 16u);
  EXPECT_TRUE(isSigned(ScalarType::S16x2));
  EXPECT_TRUE(isFloat(ScalarType::BF16x2));
}

TEST(PTXParser, Numbers) {
  const InlineBody I = parsedInline(
      "f 12, -1, 0x1F, 017, 0b101, 18446744073709551615, 7U, 0f3F800000, "
      "0d3FF0000000000000, 1.5, -0f3F800000, 1<<4, 2+3*4, ~0;");
  const std::vector<Operand> &Ops = instruction(I.Body).Operands;
  const uint64_t Bits[] = {12,
                           ~0ull,
                           31,
                           15,
                           5,
                           ~0ull,
                           7,
                           0x3F800000,
                           0x3FF0000000000000,
                           0x3FF8000000000000,
                           0xBF800000,
                           16,
                           14,
                           ~0ull};
  ASSERT_EQ(Ops.size(), std::size(Bits));
  for (size_t J = 0; J < Ops.size(); ++J)
    EXPECT_EQ(Ops[J].Bits, Bits[J]) << J;
  EXPECT_EQ(Ops[7].What, Kind::Float);
  EXPECT_FALSE(Ops[7].IsDouble);
  EXPECT_TRUE(Ops[8].IsDouble);
  EXPECT_TRUE(Ops[9].IsDouble);
}

TEST(PTXParser, Operands) {
  const InlineBody I = parsedInline(
      "f p|q, _|p, %tid.x, !p, x+8, [smem], [4096], [t, {a, b}], [m+8, {c}];");
  const std::vector<Operand> &Ops = instruction(I.Body).Operands;
  ASSERT_EQ(Ops.size(), 9u);
  EXPECT_EQ(Ops[0].What, Kind::Pair);
  EXPECT_EQ(Ops[0].Elements[1].Text, "q");
  EXPECT_EQ(Ops[1].Elements[0].What, Kind::Discard);
  EXPECT_EQ(Ops[2].Text, "%tid");
  EXPECT_EQ(Ops[2].Member, 'x');
  EXPECT_TRUE(Ops[3].IsNegated);
  EXPECT_EQ(Ops[4].What, Kind::Sum);
  EXPECT_EQ(Ops[4].Text, "x");
  EXPECT_EQ(Ops[4].Bits, 8u);
  EXPECT_EQ(Ops[5].Elements[0].Text, "smem");
  EXPECT_EQ(Ops[6].Elements[0].What, Kind::Integer);
  EXPECT_EQ(Ops[7].Elements[1].What, Kind::Vector);
  EXPECT_EQ(Ops[8].Elements[0].What, Kind::Name);
  EXPECT_EQ(Ops[8].Bits, 8u);
}

TEST(PTXParser, Calls) {
  const Module M = parsed(R"(.func f() {
	call.uni (r), g, (a, b);
	call (r), %rd1, (a), proto;
	call g;
proto : .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16]) .noreturn;
table: .branchtargets $L__BB0_1, $L__BB0_2;
	brx.idx %r1, table;
})");
  const Block &B = *function(M).Body;
  EXPECT_EQ(instruction(B, 0).Operands[0].What, Kind::List);
  EXPECT_EQ(instruction(B, 0).Operands[2].Elements.size(), 2u);
  EXPECT_EQ(instruction(B, 1).Operands[3].Text, "proto");
  EXPECT_EQ(instruction(B, 2).Operands.size(), 1u);
  const auto &Prototype = std::get<Directive>(B.Statements[3]);
  EXPECT_EQ(Prototype.Label, "proto");
  EXPECT_EQ(Prototype.Text, ".callprototype (.param .b32 _) _ (.param .align 8 "
                            ".b8 _[16]) .noreturn");
  const auto &Targets = std::get<Directive>(B.Statements[4]);
  EXPECT_EQ(Targets.Name, ".branchtargets");
  ASSERT_EQ(Targets.Operands.size(), 2u);
  EXPECT_EQ(Targets.Operands[1].Text, "$L__BB0_2");
}

TEST(PTXParser, Kernel) {
  const Module M = parsed(R"(.weak .entry k(
	.param .u64 .ptr .global .align 16 k_param_0,
	.param .align 8 .b8 k_param_1[24]
)
.maxntid 256, 1, 1
.minnctapersm 2
.explicitcluster
.reqnctapercluster 2, 1, 1
{ ret; })");
  const Function &F = function(M);
  EXPECT_TRUE(F.IsKernel);
  EXPECT_EQ(F.Link, Variable::Linkage::Weak);
  ASSERT_EQ(F.Parameters.size(), 2u);
  EXPECT_TRUE(F.Parameters[0].IsPointer);
  EXPECT_EQ(F.Parameters[0].PointerSpace, StateSpace::Global);
  EXPECT_EQ(F.Parameters[0].PointerAlign, 16u);
  EXPECT_EQ(F.Parameters[0].Space, StateSpace::Param);
  EXPECT_EQ(F.Parameters[1].size(), 24u);
  ASSERT_EQ(F.Directives.size(), 4u);
  EXPECT_EQ(F.Directives[0].Name, ".maxntid");
  EXPECT_EQ(F.Directives[0].Operands[0].Bits, 256u);
  EXPECT_EQ(F.Directives[3].Operands.size(), 3u);
}

TEST(PTXParser, Declarations) {
  const Module M = parsed(R"(.extern .func (.param .b32 r) vprintf
(
	.param .b64 a,
	.param .b64 b
)
;
.func stop() .noreturn;
.visible .func .attribute(.unified(0xAB, 0xCD)) g();
.alias f, g;
.pragma "nounroll";)");
  EXPECT_EQ(function(M, 0).Results.size(), 1u);
  EXPECT_EQ(function(M, 0).Parameters.size(), 2u);
  EXPECT_FALSE(function(M, 0).Body);
  EXPECT_EQ(function(M, 1).Directives[0].Name, ".noreturn");
  EXPECT_EQ(function(M, 2).Directives[0].Text,
            ".attribute(.unified(0xAB, 0xCD))");
  EXPECT_EQ(std::get<Directive>(M.Items[3]).Operands[1].Text, "g");
  EXPECT_EQ(std::get<Directive>(M.Items[4]).Operands[0].Text, "\"nounroll\"");
}

TEST(PTXParser, Variables) {
  const Module M = parsed(R"(
.extern .shared .align 16 .b8 smem[];
.common .global .attribute(.managed) .align 4 .u32 count;
.visible .const .align 16 .v4 .f32 quad = {0f3F800000, 0f00000000, 1.0, 2};
.global .u32 matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};)");
  EXPECT_EQ(variable(M, 0).Link, Variable::Linkage::Extern);
  EXPECT_EQ(variable(M, 0).Extents, std::vector<uint64_t>{0});
  EXPECT_EQ(variable(M, 0).size(), 0u);
  EXPECT_EQ(variable(M, 1).Link, Variable::Linkage::Common);
  EXPECT_EQ(variable(M, 1).Attributes,
            std::vector<std::string_view>{"managed"});
  EXPECT_EQ(variable(M, 2).VectorLength, 4u);
  EXPECT_EQ(variable(M, 2).Initialiser.size(), 4u);
  EXPECT_EQ(variable(M, 2).size(), 16u);
  EXPECT_EQ(variable(M, 3).Initialiser[1].What, Kind::Vector);
  EXPECT_EQ(variable(M, 3).size(), 24u);
}

TEST(PTXParser, AddressesAsInitialisers) {
  const Module M = parsed(R"(
.global .u64 plain[3] = {x, x+8, generic(x)+16};
.global .u8 bytes[2] = {0xFF(generic(x)+4), 0xFF00(x)};)");
  const std::vector<Operand> &Plain = variable(M, 0).Initialiser;
  EXPECT_EQ(Plain[0].What, Kind::Name);
  EXPECT_EQ(Plain[1].What, Kind::Sum);
  EXPECT_EQ(Plain[2].What, Kind::Symbols);
  EXPECT_EQ(Plain[2].Elements[0].Text, "x");
  EXPECT_EQ(Plain[2].Bits, 16u);
  const Operand &Byte = variable(M, 1).Initialiser[0];
  EXPECT_EQ(Byte.What, Kind::Name);
  EXPECT_EQ(Byte.Text, "0xFF(generic(x)+4)");
  EXPECT_EQ(Byte.Elements[0].Bits, 0xFFu);
  EXPECT_EQ(Byte.Elements[1].What, Kind::Symbols);
  EXPECT_EQ(Byte.Elements[1].Bits, 4u);
}

TEST(PTXParser, RegistersAndNestedBlocks) {
  const InlineBody I = parsedInline(
      "{ .reg .pred p, q; .reg .b32 %r<10>; L: { ret; } @p bra L; }");
  const Block &B = *std::get<std::unique_ptr<Block>>(I.Body.Statements.at(0));
  EXPECT_EQ(std::get<Variable>(B.Statements[1]).Name, "q");
  EXPECT_EQ(std::get<Variable>(B.Statements[2]).Count, 10u);
  EXPECT_EQ(std::get<Label>(B.Statements[3]).Name, "L");
  EXPECT_TRUE(std::holds_alternative<std::unique_ptr<Block>>(B.Statements[4]));
}

TEST(PTXParser, InlineOperands) {
  const InlineBody I = parsedInline("@$0 mov.u32 ${1:x}, $$L_${:uid}; // end\n"
                                    "ld.u32 $2, [$3+$4] /* no ; */");
  EXPECT_EQ(instruction(I.Body, 0).If->Register, "$0");
  EXPECT_EQ(instruction(I.Body, 0).Operands[0].Text, "${1:x}");
  EXPECT_EQ(instruction(I.Body, 0).Operands[1].Text, "$$L_${:uid}");
  const Operand &Address = instruction(I.Body, 1).Operands[1];
  EXPECT_EQ(Address.Elements[0].What, Kind::Sum);
  EXPECT_EQ(Address.Elements[0].Elements[1].Text, "$4");
  EXPECT_TRUE(parsedInline("").Body.Statements.empty());
  EXPECT_TRUE(parsedInline(" ; // nothing").Body.Statements.empty());
}

TEST(PTXParser, Lines) {
  const Module M = parsed(R"(.file 1 "a.cu"
.file 2 "b.h", 123, 456
.entry k() {
	nop;
	.loc 1 10 3
	.loc 2 5 1, function_name $L__info_string0, inlined_at 1 10 3
	add;
	.loc 2 6 1, function_name .debug_str+4, inlined_at 2 5 1
	ret;
}
.entry other() { ret; }
.section .debug_str
{
$L__info_string0: // a name
.b8 95,90,49,0
$L__info_string1:
.b8 102
.b8 0
}
.section	.debug_macinfo	{	})");
  EXPECT_EQ(M.Files[1].Name, "b.h");
  const Block &B = *function(M).Body;
  EXPECT_EQ(instruction(B, 0).Where, -1);
  const Location &Inner = M.Locations[instruction(B, 1).Where];
  EXPECT_EQ(Inner.File, 2u);
  EXPECT_EQ(Inner.Line, 5u);
  const Location &Outer = M.Locations[Inner.InlinedAt];
  EXPECT_EQ(Outer.Line, 10u);
  EXPECT_EQ(Outer.InlinedAt, -1);
  const Location &Innermost = M.Locations[instruction(B, 2).Where];
  EXPECT_EQ(Innermost.InlinedAt, instruction(B, 1).Where);
  EXPECT_EQ(instruction(*function(M, 1).Body).Where, -1);
  EXPECT_EQ(M.Sections.size(), 2u);

  const DebugStrings Strings(M);
  EXPECT_EQ(Strings.find(Inner.Function), "_Z1");
  EXPECT_EQ(Strings.find(Innermost.Function), "f");
  EXPECT_EQ(Strings.find("$L__nothing"), "");
}

TEST(PTXParser, Positions) {
  const Module M = parsed("/* two\nlines */ .entry k() {\n  ret;\n}");
  EXPECT_EQ(function(M).Pos.Line, 5u);
  EXPECT_EQ(function(M).Pos.Column, 17u);
  EXPECT_EQ(instruction(*function(M).Body).Pos.Line, 6u);
  EXPECT_EQ(instruction(*function(M).Body).Pos.Column, 3u);
}

TEST(PTXParser, Errors) {
  EXPECT_EQ(errorOf(".entry k() {\n  mov.u32 %r1, 2\n  ret;\n}"),
            "6:3: expected ';' after 'mov', found 'ret'");
  EXPECT_EQ(errorOf(".entry k() { ld.u32 %r1, [%rd1; }"),
            "4:31: expected ',' or ']', found ';'");
  EXPECT_EQ(errorOf(".entry k() { ret;"),
            "4:18: expected a statement or '}', found the end");
  EXPECT_EQ(errorOf(".entry k() { mov.f32 f, 0f3F80; }"),
            "4:25: expected a floating-point number, found '0f3F80'");
  EXPECT_EQ(errorOf(".entry k() { mov.u64 r, 0x1FFFFFFFFFFFFFFFF; }"),
            "4:25: expected an integer of at most 64 bits, found "
            "'0x1FFFFFFFFFFFFFFFF'");
  EXPECT_EQ(errorOf(".entry k() { @ 1 ret; }"),
            "4:16: expected a predicate after '@', found '1'");
  EXPECT_EQ(errorOf(".entry k() { mov.u32 r, 1/0; }"),
            "4:26: division by zero in a constant");
  EXPECT_EQ(errorOf(".global .u33 x;"),
            "4:9: expected a state space, a type, or a variable's name, found "
            "'.u33'");
  EXPECT_EQ(errorOf("hello"), "4:1: expected a directive, found 'hello'");
  EXPECT_EQ(errorOf(".loc 1 2 3"),
            "4:1: expected a function, a variable or a directive of file "
            "scope, found '.loc'");
  EXPECT_EQ(errorOf(".file 1 \"open"),
            "4:9: expected a file's name in quotes, found '\"'");
  EXPECT_EQ(errorOf(".entry k() { mov.u32 r, \x01; }"),
            "4:25: expected an operand, found '\x01'");
}

TEST(PTXParser, ErrorHasItsLine) {
  auto Result = parseModule(std::string(Head) + ".global\n.u32 = 1;\nmore");
  const auto &E = std::get<ParseError>(Result);
  EXPECT_EQ(E.Pos.Line, 5u);
  EXPECT_EQ(E.Line, ".u32 = 1;");
  EXPECT_TRUE(std::holds_alternative<ParseError>(parseModule("")));
  EXPECT_TRUE(std::holds_alternative<ParseError>(parseInline("{ ret;")));
  EXPECT_TRUE(std::holds_alternative<ParseError>(parseInline("ret; }")));
}

TEST(PTXParser, EveryPrefixEnds) {
  // Whatever is cut off, parsing ends with a tree or an error.
  const std::string Text =
      std::string(Head) +
      ".file 1 \"a\"\n.global .u8 x[2] = {0xFF(generic(y)+4), q};\n"
      ".func (.param .b32 r) f(.param .u64 .ptr .align 4 a) .noreturn {\n"
      "@!p ld.shared::cta.v2.f32 {f1, _}, [a+-4]; /* c */ call (r), f, (a);\n"
      ".loc 1 2 3, function_name x, inlined_at 1 2 3\n}\n.section .s { }";
  for (size_t Size = 0; Size <= Text.size(); ++Size) {
    (void)parseModule(Text.substr(0, Size));
    (void)parseInline(Text.substr(Size));
  }
}
