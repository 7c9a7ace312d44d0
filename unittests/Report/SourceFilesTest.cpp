// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Excerpts of source files.
#include "Report/SourceFiles.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace crsan {

namespace {
class SourceFilesTest : public testing::Test {
protected:
  SourceFilesTest() {
    std::ofstream(Path) << "__global__ void k(int *A) {\r\n"
                           "  A[f(1, A[2])] += B->C.D[3] * 2;\n"
                           "  *A = 1;\n"
                           "}";
  }
  ~SourceFilesTest() override { std::filesystem::remove(Path); }

  std::string underlined(uint32_t Line, uint32_t Column) {
    SourceFrame Frame{"k", Path, Line, Column};
    const SourceExcerpt E = Files.around(Frame, 0);
    return E.Lines.empty() ? "" : E.Lines[0].substr(E.Begin, E.Length);
  }

  const std::string Path = testing::TempDir() + "crsan-source-files.cu";
  SourceFiles Files;
};
} // namespace

TEST_F(SourceFilesTest, LinesAroundAreThoseOfTheFile) {
  const SourceExcerpt E = Files.around({"k", Path, 1, 1}, 1);
  EXPECT_EQ(E.FirstLine, 1u);
  ASSERT_EQ(E.Lines.size(), 2u);
  EXPECT_EQ(E.Lines[0], "__global__ void k(int *A) {");
  EXPECT_EQ(Files.around({"k", Path, 4, 1}, 2).FirstLine, 2u);
}

TEST_F(SourceFilesTest, ExpressionsEndWhereAReaderEndsThem) {
  EXPECT_EQ(underlined(2, 3), "A[f(1, A[2])]");
  EXPECT_EQ(underlined(2, 17), "A[f(1, A[2])]");
  EXPECT_EQ(underlined(2, 20), "B->C.D[3]");
  EXPECT_EQ(underlined(3, 3), "*A");
  EXPECT_EQ(underlined(3, 6), "*A");
  EXPECT_EQ(underlined(2, 30), "*");
  EXPECT_EQ(underlined(3, 99), "");
}

TEST_F(SourceFilesTest, WhatCannotBeReadIsEmpty) {
  EXPECT_TRUE(Files.around({"k", Path, 5, 1}, 1).Lines.empty());
  EXPECT_TRUE(Files.around({"k", "/no/such.cu", 1, 1}, 1).Lines.empty());
  EXPECT_TRUE(Files.around({"k", "/dev/zero", 1, 1}, 1).Lines.empty());
  EXPECT_TRUE(Files.around({"k", "", 1, 1}, 1).Lines.empty());
}

} // namespace crsan
