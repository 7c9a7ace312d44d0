// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ModuleItems.h"
#include "gtest/gtest.h"

using namespace crsan::assembler;
using Kind = ModuleItem::Kind;

namespace {

constexpr char Text[] = R"(// Generated
.version 8.7 // behind
.target sm_90, debug
.visible .global .attribute(.unified(1, 2)) .align 4 .u32 mine[2] = {7, 8};
.extern .func (.param .b32 result) other(.param .b64 p);
// between
.weak .entry kernel()  // a { in a comment
.maxntid 16, 16
{
	{ st.global.u32 [mine], 1; /* } */ }
}
.file	1 "a;b{.cu"
.section	.debug_str { .b8 1 }
.pragma "no;thing";
)";

TEST(ModuleItems, AreTheDirectivesOfFileScope) {
  auto Items = readItems(Text);
  ASSERT_TRUE(bool(Items));
  ASSERT_EQ(Items->size(), 8u);
  const auto &I = *Items;
  EXPECT_EQ(I[0].What, Kind::Header);
  EXPECT_EQ(I[1].Text, ".target sm_90, debug");
  EXPECT_EQ(I[2].Name, "mine");
  EXPECT_EQ(I[2].Linkage, ".visible");
  EXPECT_TRUE(I[2].Signature.ends_with("mine[2] "));
  EXPECT_TRUE(I[2].Text.ends_with("{7, 8};"));
  EXPECT_EQ(I[3].Name, "other");
  EXPECT_EQ(I[3].What, Kind::Function);
  EXPECT_FALSE(I[3].HasBody);
  EXPECT_EQ(I[4].Name, "kernel");
  EXPECT_TRUE(I[4].definesKernel());
  EXPECT_TRUE(I[4].Signature.ends_with(".maxntid 16, 16\n"));
  EXPECT_TRUE(I[4].Text.ends_with("/* } */ }\n}"));
  EXPECT_EQ(I[5].Text, ".file\t1 \"a;b{.cu\"");
  EXPECT_TRUE(I[6].Text.starts_with(".section"));
  EXPECT_EQ(I[6].Name, "");
  EXPECT_EQ(I[7].Text, ".pragma \"no;thing\";");
}

TEST(ModuleItems, OneWithoutAnEndIsAnErrorAtItsLine) {
  for (llvm::StringRef Cut : {"{ st", "[mine]", "/* }", "}\n}\n.file", "7, 8",
                              "(.param", "1 }\n", "\"no;"}) {
    const llvm::StringRef Part =
        llvm::StringRef(Text).take_front(llvm::StringRef(Text).find(Cut));
    EXPECT_NE("", llvm::toString(readItems(Part).takeError())) << Part.str();
  }
  EXPECT_EQ("the declaration at line 2 has no end",
            llvm::toString(readItems("\n.func f( {").takeError()));
}

} // namespace
