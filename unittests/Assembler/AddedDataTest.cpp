// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AddedData.h"
#include "crsan/abi/Config.h"
#include "crsan/abi/Names.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace crsan::assembler;

namespace {

std::string config(const std::string &Linkage, size_t Size) {
  return Linkage + " .const .align 8 .b8 __crsan_config[" +
         std::to_string(Size) + "];\n";
}

TEST(Mark, IsTheLastWordOfTheConfigurationThatTheModuleDefines) {
  const std::string Before = ".version 8.7\n.func f() { ret; }\n";
  for (const char *Linkage : {".weak", ".visible"}) {
    const auto Text = withMark(
        Before + config(Linkage, sizeof(crsan::abi::Config)) + "// end\n");
    ASSERT_TRUE(Text);
    EXPECT_TRUE(llvm::StringRef(*Text).starts_with(Before));
    // abi::AssembledMark, the lowest byte first.
    EXPECT_TRUE(llvm::StringRef(*Text).ends_with(
        ",0,99,114,115,97,116,112,120,116};\n// end\n"))
        << *Text;
    EXPECT_EQ(llvm::StringRef(*Text).count(','),
              sizeof(crsan::abi::Config) - 1);
  }
}

TEST(Mark, IsNotPutElsewhere) {
  EXPECT_FALSE(withMark(".version 8.7\n"));
  EXPECT_FALSE(withMark(config(".extern", sizeof(crsan::abi::Config))));
  EXPECT_FALSE(withMark(config(".weak", sizeof(crsan::abi::Config) + 8)));
  EXPECT_FALSE(withMark("// " + config(".weak", sizeof(crsan::abi::Config))));
}

TEST(EmbeddedPTX, IsAWeakVariableOfItsOwn) {
  const std::string Text = ".version 8.7\n.func f() { ret; }\n";
  const std::string With = withItself(Text);
  EXPECT_TRUE(llvm::StringRef(With).starts_with(Text));
  auto Items = readItems(With);
  ASSERT_TRUE(bool(Items));
  ASSERT_EQ(Items->size(), 3u);
  EXPECT_TRUE(Items->back().Name.starts_with(crsan::abi::PTXPrefix));
  EXPECT_EQ(Items->back().Linkage, ".weak");
}

} // namespace
