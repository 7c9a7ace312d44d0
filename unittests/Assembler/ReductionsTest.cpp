// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reductions.h"
#include "Has.h"
#include "gtest/gtest.h"

using namespace crsan::assembler;

static std::string reduced(const std::string &Body) {
  return useReductions(".visible .entry k()\n{\n\t.reg .b32 \t%r<9>;\n" + Body +
                       "\tret;\n}");
}

TEST(Reductions, AnAtomicWithoutAUseIsAReduction) {
  const std::string S =
      reduced("\tatom.global.add.u32 \t%r1, [%rd8], 1;\n"
              "\tatom.relaxed.gpu.max.s64 \t%rd2, [%rd8], %rd9;\n"
              "\tatom.release.sys.global.add.noftz.f16 \t%h1, [%rd8], %h2;\n");
  EXPECT_TRUE(has(S, "\tred.global.add.u32 \t[%rd8], 1;\n"));
  EXPECT_TRUE(has(S, "\tred.relaxed.gpu.max.s64 \t[%rd8], %rd9;\n"));
  EXPECT_TRUE(has(S, "\tred.release.sys.global.add.noftz.f16 \t[%rd8], %h2;"));
  EXPECT_TRUE(has(S, "\tret;\n}"));
}

TEST(Reductions, OthersStay) {
  for (const char *Line :
       {"\tatom.global.add.u32 \t%r1, [%rd8], 1;\n\tst.b32 \t[%rd1], %r1;\n",
        "\tatom.global.exch.b32 \t%r1, [%rd8], 1;\n",
        "\tatom.global.cas.b32 \t%r1, [%rd8], 1, 2;\n",
        "\tatom.acq_rel.gpu.global.add.u32 \t%r1, [%rd8], 1;\n",
        "\tatom.acquire.gpu.global.add.u32 \t%r1, [%rd8], 1;\n",
        "\tatom.shared.add.u32 \t%r1, [%rd8], 1;\n",
        "\tatom.global.v2.f32.add \t{%f1, %f2}, [%rd8], {%f3, %f4};\n",
        "\tatom.global.add.u32 \t%r1, [%rd8], %r1;\n",
        "\t{ .reg .b32 t; atom.global.add.u32 t, [%rd8], 1; }\n"})
    EXPECT_TRUE(has(reduced(Line), Line)) << Line;
}
