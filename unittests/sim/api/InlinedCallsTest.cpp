// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "InlinedCalls.h"

#include "gtest/gtest.h"

using namespace crsan;
using namespace crsan::api;

namespace {

/// The sites of a.cu: its kernel k(int) calls put() twice, which is of a.cu,
/// and get() of b.h once; copy() of c.h is inlined into both.
class InlinedCallsTest : public testing::Test {
protected:
  InlinedCallsTest() {
    const SourceFrame Copy{"copy(int*)", "/usr/c.h", 3, 5};
    const SourceFrame Put{"put(int*)", "a.cu", 10, 3};
    add({Copy, Put, {"k(int)", "a.cu", 20, 1}});
    add({Copy, Put, {"k(int)", "a.cu", 21, 1}});
    add({{"get(int*)", "b.h", 7, 1}, {"k(int)", "a.cu", 22, 1}});
    add({Copy, {"other(int)", "a.cu", 30, 1}});
  }

  void add(std::vector<SourceFrame> Frames) {
    SiteInfo Site;
    Site.Id = Sites.size() + 1;
    Site.Frames = std::move(Frames);
    Sites.add(std::move(Site));
  }

  /// Of an instruction at a line that was inlined into a function.
  std::string complete(std::string File, uint32_t Line, uint32_t Column,
                       std::string Function) const {
    std::vector<SourceFrame> Frames = {
        {std::move(Function), std::move(File), Line, Column}};
    InlinedCalls(Sites).complete(Frames);
    std::string Out;
    for (const SourceFrame &F : Frames)
      Out += F.Function + " " + F.File + ":" + std::to_string(F.Line) + " ";
    return Out;
  }

  SiteTable Sites;
};

} // namespace

TEST_F(InlinedCallsTest, OfOneSite) {
  EXPECT_EQ(complete("/d/b.h", 7, 1, "_Z1ki"),
            "get(int*) b.h:7 k(int) a.cu:22 ");
}

TEST_F(InlinedCallsTest, WhatTheSitesOfTheFunctionShare) {
  EXPECT_EQ(complete("/usr/c.h", 3, 5, "_Z1ki"),
            "copy(int*) /usr/c.h:3 put(int*) a.cu:10 ");
  EXPECT_EQ(complete("/usr/c.h", 3, 5, "_Z5otheri"),
            "copy(int*) /usr/c.h:3 other(int) a.cu:30 ");
}

/// Line tables have no mangled names.
TEST_F(InlinedCallsTest, NamesOfFunctionsMayBeShort) {
  add({{"get", "b.h", 8, 1}, {"k<int>", "a.cu", 40, 1}});
  EXPECT_EQ(complete("/d/b.h", 8, 1, "_ZN12_GLOBAL__N_11kIiEEvPT_"),
            "get b.h:8 k<int> a.cu:40 ");
}

TEST_F(InlinedCallsTest, OthersStayAsTheyAre) {
  EXPECT_EQ(complete("/d/b.h", 7, 2, "_Z1ki"), "_Z1ki b.h:7 ");
  EXPECT_EQ(complete("/d/b.h", 7, 1, "_Z5otheri"), "_Z5otheri b.h:7 ");
}

/// A file is named as the sites name it: by the longest name that the path
/// ends in, and by the path if the sites have no such name.
TEST_F(InlinedCallsTest, NamesOfFiles) {
  add({{"k(int)", "d/b.h", 50, 1}});
  EXPECT_EQ(complete("/e/d/b.h", 9, 1, "f"), "f d/b.h:9 ");
  EXPECT_EQ(complete("/e/b.h", 9, 1, "f"), "f b.h:9 ");
  EXPECT_EQ(complete("/e/xb.h", 9, 1, "f"), "f /e/xb.h:9 ");
  EXPECT_EQ(complete("/e/b.h/other.h", 9, 1, "f"), "f /e/b.h/other.h:9 ");
}
