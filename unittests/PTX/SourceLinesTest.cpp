// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PTX/SourceLines.h"
#include "PTX/Parser.h"
#include "PTX/Printer.h"
#include "gtest/gtest.h"

using namespace crsan::ptx;

namespace {

/// The frames of the last instruction of the only function.
std::string framesOf(const Module &M) {
  const SourceLines Lines(M);
  const Block &B = *std::get<Function>(M.Items.at(0)).Body;
  std::string Out;
  for (const SourceFrame &F :
       Lines.at(std::get<Instruction>(B.Statements.back()).Where))
    Out += std::string(F.File) + ':' + std::to_string(F.Line) + ':' +
           std::to_string(F.Column) + '(' + std::string(F.Function) + ") ";
  return Out;
}

/// As parsed, which must be the same as printed and parsed again.
std::string frames(std::string_view Body, std::string_view Sections = "") {
  std::string Text = ".version 8.0\n.target sm_90\n.address_size 64\n"
                     ".entry k() {\n" +
                     std::string(Body) +
                     "\nret;\n}\n.file 1 \"/d/a.cu\"\n.file 2 \"/d/b.h\"\n" +
                     std::string(Sections);
  auto First = parseModule(Text);
  if (!std::holds_alternative<Module>(First))
    return std::get<ParseError>(First).Message;
  const std::string Frames = framesOf(std::get<Module>(First));
  auto Second = parseModule(print(std::get<Module>(First)));
  EXPECT_EQ(Frames, framesOf(std::get<Module>(Second)));
  return Frames;
}

} // namespace

TEST(PTXSourceLines, Unknown) {
  EXPECT_EQ(frames(""), "");
  EXPECT_EQ(frames(".loc 9 1 2"), ":1:2() ");
}

TEST(PTXSourceLines, Plain) {
  EXPECT_EQ(frames(".loc 1 10 3"), "/d/a.cu:10:3() ");
  EXPECT_EQ(frames(".loc 1 10 3 // a.cu:10:3"), "/d/a.cu:10:3() ");
}

TEST(PTXSourceLines, InlinedByDirective) {
  EXPECT_EQ(frames(".loc 1 10 3\n"
                   ".loc 2 5 1, function_name $L0, inlined_at 1 10 3\n"
                   ".loc 2 7 1, function_name $L1, inlined_at 2 5 1",
                   ".section .debug_str { $L0: .b8 102, 0\n$L1: .b8 103, 0 }"),
            "/d/b.h:7:1(g) /d/b.h:5:1(f) /d/a.cu:10:3() ");
}

TEST(PTXSourceLines, InlinedByComment) {
  EXPECT_EQ(frames(".loc 2 7 1 // b.h:7:1 @[ b.h:5 @[ /d/a.cu:10:3 ] ]\n"),
            "/d/b.h:7:1() /d/b.h:5:0() /d/a.cu:10:3() ");
}

// Intent: a name that several files end with, or none, stays as the comment
// has it.
TEST(PTXSourceLines, InlinedByCommentFromSomeFile) {
  EXPECT_EQ(frames(".loc 1 7 1 // a.cu:7:1 @[ b.h:5:1 @[ c.h:2:3 ] ]\n",
                   ".file 3 \"/other/b.h\"\n"),
            "/d/a.cu:7:1() b.h:5:1() c.h:2:3() ");
}

// Intent: where a comment says what is inlined, DWARF says which function; but
// not where two functions are called in one place.
TEST(PTXSourceLines, InlinedByCommentNamesOfDWARF) {
  const std::string Abbreviations = ".section .debug_abbrev\n{\n"
                                    ".b8 1, 17, 1, 0, 0\n"
                                    ".b8 2, 46, 0, 3, 8, 0, 0\n"
                                    ".b8 3, 29, 0, 49, 19, 17, 1, 88, 11\n"
                                    ".b8 89, 11, 87, 11, 0, 0\n.b8 0\n}\n";
  // At 12 is f, and at 15 g; calls are at a.cu:10:3.
  const std::string Begin = ".section .debug_info\n{\n.b32 80\n.b8 2, 0\n"
                            ".b32 .debug_abbrev\n.b8 8\n.b8 1\n"
                            ".b8 2, 102, 0\n.b8 2, 103, 0\n";
  const std::string CallOfF = ".b8 3\n.b32 12\n.b64 $L__tmp0+4\n.b8 1, 10, 3\n";
  const std::string CallOfG = ".b8 3\n.b32 15\n.b64 $L__tmp1\n.b8 1, 10, 3\n";
  const std::string Line = ".loc 2 7 1 // b.h:7:1 @[ a.cu:10:3 ]\n";
  EXPECT_EQ(frames(Line, Abbreviations + Begin + CallOfF + ".b8 0\n}\n"),
            "/d/b.h:7:1(f) /d/a.cu:10:3() ");
  EXPECT_EQ(frames(Line, Abbreviations + Begin + CallOfF + CallOfG + "}\n"),
            "/d/b.h:7:1() /d/a.cu:10:3() ");
  EXPECT_EQ(frames(Line, Begin + CallOfF + "}\n"),
            "/d/b.h:7:1() /d/a.cu:10:3() ");
}
