// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lane's arithmetic.
#include "Evaluate.h"

#include <cmath>

using namespace crsan::sim;

TEST(Integer, AddsAndMultiplies) {
  EXPECT_EQ(one32("add.s32 %r7, %r5, %r6;", 7, 0xFFFFFFFF), 6u);
  EXPECT_EQ(one32("mul.hi.u32 %r7, %r5, %r6;", 0x80000000, 6), 3u);
  EXPECT_EQ(one32("mul.hi.s32 %r7, %r5, %r6;", 0xFFFFFFFF, 6), 0xFFFFFFFFu);
  EXPECT_EQ(one("mul.hi.u64 %rd4, %rd2, %rd3;", ~uint64_t(0), ~uint64_t(0)),
            ~uint64_t(1));
  EXPECT_EQ(one("mul.wide.s32 %rd4, %r5, %r6;", 0xFFFFFFFF, 5), uint64_t(-5));
  EXPECT_EQ(one32("mad.lo.s32 %r7, %r5, %r6, 3;", 5, 6), 33u);
  EXPECT_EQ(one32("add.sat.s32 %r7, %r5, %r6;", 0x7FFFFFFF, 1), 0x7FFFFFFFu);
  EXPECT_EQ(one32("mul24.lo.s32 %r7, %r5, %r6;", 0x00FFFFFF, 2), uint32_t(-2));
  EXPECT_EQ(one32("sad.u32 %r7, %r5, %r6, 1;", 3, 10), 8u);
}

TEST(Integer, DividesAsTheHardware) {
  EXPECT_EQ(one32("div.s32 %r7, %r5, %r6;", uint32_t(-7), 2), uint32_t(-3));
  EXPECT_EQ(one32("rem.s32 %r7, %r5, %r6;", uint32_t(-7), 2), uint32_t(-1));
  EXPECT_EQ(one32("div.u32 %r7, %r5, %r6;", 7, 0), ~0u);
  EXPECT_EQ(one32("div.s32 %r7, %r5, %r6;", 0x80000000, ~0u), 0x80000000u);
  EXPECT_EQ(one("rem.u64 %rd4, %rd2, %rd3;", 1000000007ull * 5 + 3, 1000000007),
            3u);
}

TEST(Integer, CarriesThroughChains) {
  EXPECT_EQ(one(R"(
    mov.b64 {%r10, %r11}, %rd2; mov.b64 {%r12, %r13}, %rd3;
    add.cc.u32 %r14, %r10, %r12; addc.u32 %r15, %r11, %r13;
    mov.b64 %rd4, {%r14, %r15};)",
                0xFFFFFFFF'FFFFFFFF, 0x1'00000002),
            0xFFFFFFFF'FFFFFFFF + 0x1'00000002);
  EXPECT_EQ(one(R"(
    mov.b64 {%r10, %r11}, %rd2; mov.b64 {%r12, %r13}, %rd3;
    sub.cc.u32 %r14, %r10, %r12; subc.u32 %r15, %r11, %r13;
    mov.b64 %rd4, {%r14, %r15};)",
                0x1'00000000, 1),
            0xFFFFFFFFu);
}

TEST(Integer, DotProducts) {
  EXPECT_EQ(one32("dp4a.s32.s32 %r7, %r5, %r6, 10;", 0x01FF0203, 0x02030405),
            10u + 2 - 3 + 8 + 15);
  EXPECT_EQ(one32("dp2a.lo.u32.u32 %r7, %r5, %r6, 0;", 0x00020003, 0x04030201),
            3u * 1 + 2 * 2);
}

TEST(Logic, ShiftsClampAndFunnelsWrap) {
  EXPECT_EQ(one32("shl.b32 %r7, %r5, %r6;", 1, 40), 0u);
  EXPECT_EQ(one32("shr.s32 %r7, %r5, %r6;", 0x80000000, 99), ~0u);
  EXPECT_EQ(one32("shr.u32 %r7, %r5, %r6;", 0x80000000, 31), 1u);
  EXPECT_EQ(one32("shf.l.wrap.b32 %r7, %r5, %r6, 33;", 0x80000000, 1), 3u);
  EXPECT_EQ(one32("shf.r.clamp.b32 %r7, %r5, %r6, 40;", 0x12345678, 7), 7u);
}

TEST(Logic, Fields) {
  EXPECT_EQ(one32("bfe.u32 %r7, %r5, 4, 8;", 0xABCDE), 0xCDu);
  EXPECT_EQ(one32("bfe.s32 %r7, %r5, 4, 8;", 0xABCDE), 0xFFFFFFCDu);
  EXPECT_EQ(one32("bfi.b32 %r7, %r5, %r6, 8, 4;", 0xF, 0), 0xF00u);
  EXPECT_EQ(one32("bfind.u32 %r7, %r5;", 0x00010000), 16u);
  EXPECT_EQ(one32("bfind.s32 %r7, %r5;", ~0u), ~0u);
  EXPECT_EQ(one32("bfind.shiftamt.u32 %r7, %r5;", 0x00010000), 15u);
  EXPECT_EQ(one32("fns.b32 %r7, %r5, 0, 3;", 0xB0), 7u);
  EXPECT_EQ(one32("fns.b32 %r7, %r5, 7, -2;", 0xB0), 5u);
  EXPECT_EQ(one32("fns.b32 %r7, %r5, 4, 0;", 0xB0), 4u);
  EXPECT_EQ(one32("fns.b32 %r7, %r5, 6, 0;", 0xB0), ~0u);
  EXPECT_EQ(one32("fns.b32 %r7, %r5, 6, 2;", 0xB0), ~0u);
  EXPECT_EQ(one32("popc.b64 %r7, %rd2;", 0xF0F), 8u);
  EXPECT_EQ(one32("clz.b32 %r7, %r5;", 1), 31u);
  EXPECT_EQ(one32("brev.b32 %r7, %r5;", 1), 0x80000000u);
  EXPECT_EQ(one32("prmt.b32 %r7, %r5, %r6, 0x5140;", 0x33221100, 0x77665544),
            0x55114400u);
  EXPECT_EQ(one32("prmt.b32.rc16 %r7, %r5, %r6, 1;", 0x33221100, 0),
            0x33223322u);
  EXPECT_EQ(one32("lop3.b32 %r7, %r5, %r6, 0, 0x3c;", 0xF0F0, 0xFF00),
            0xF0F0u ^ 0xFF00u);
}

TEST(Float, RoundsAsAsked) {
  EXPECT_EQ(
      asFloat(one32("add.rn.f32 %r7, %r5, %r6;", bits(1), bits(0x1p-30f))),
      1.0f);
  EXPECT_GT(
      asFloat(one32("add.rp.f32 %r7, %r5, %r6;", bits(1), bits(0x1p-30f))),
      1.0f);
  EXPECT_EQ(asFloat(one32("fma.rn.f32 %r7, %r5, %r6, %r5;", bits(3), bits(4))),
            15.0f);
  EXPECT_EQ(asFloat(one32("div.rn.f32 %r7, %r5, %r6;", bits(1), bits(3))),
            1.0f / 3);
  EXPECT_EQ(asFloat(one32("sqrt.rn.f32 %r7, %r5;", bits(2))), std::sqrt(2.0f));
  EXPECT_EQ(one32("add.f32 %r7, %r5, %r6;", bits(INFINITY), bits(-INFINITY)),
            0x7FFFFFFFu);
  EXPECT_EQ(asFloat(one32("add.sat.f32 %r7, %r5, %r6;", bits(3), bits(4))),
            1.0f);
  EXPECT_EQ(
      one32("mul.ftz.f32 %r7, %r5, %r6;", bits(0x1p-100f), bits(0x1p-40f)), 0u);
  EXPECT_EQ(std::bit_cast<double>(one("add.f64 %rd4, %rd2, %rd3;",
                                      std::bit_cast<uint64_t>(1.5),
                                      std::bit_cast<uint64_t>(2.25))),
            3.75);
}

TEST(Float, MinimumsAndSigns) {
  EXPECT_EQ(asFloat(one32("min.f32 %r7, %r5, %r6;", bits(NAN), bits(2))), 2.0f);
  EXPECT_TRUE(std::isnan(
      asFloat(one32("min.NaN.f32 %r7, %r5, %r6;", bits(NAN), bits(2)))));
  EXPECT_EQ(one32("min.f32 %r7, %r5, %r6;", bits(0.0f), bits(-0.0f)),
            bits(-0.0f));
  EXPECT_EQ(asFloat(one32("copysign.f32 %r7, %r5, %r6;", bits(-1), bits(3))),
            -3.0f);
  EXPECT_EQ(asFloat(one32("neg.f32 %r7, %r5;", bits(3))), -3.0f);
}

TEST(Float, Halves) {
  // 1.5 + 2.25 and 1 + 1.
  EXPECT_EQ(one32("add.rn.f16x2 %r7, %r5, %r6;", 0x3E003C00, 0x40803C00),
            0x43804000u);
  EXPECT_EQ(one32("mul.rn.bf16x2 %r7, %r5, %r6;", 0x40004040, 0x40404000),
            0x40C040C0u);
  EXPECT_EQ(one32("fma.rn.f16x2 %r7, %r5, %r6, %r5;", 0x3C004000, 0x40004200),
            0x42004800u);
}

TEST(Convert, IntegersOfAllSizes) {
  EXPECT_EQ(one("cvt.s64.s32 %rd4, %r5;", 0xFFFFFFFF), ~uint64_t(0));
  EXPECT_EQ(one32("cvt.s32.s8 %r7, %r5;", 0x80), 0xFFFFFF80u);
  EXPECT_EQ(one32("cvt.sat.u8.s32 %r7, %r5;", 300), 255u);
  EXPECT_EQ(one("cvt.u64.u16 %rd4, %rs1;", 0), 0u);
}

TEST(Convert, FloatsAndIntegers) {
  EXPECT_EQ(one32("cvt.rzi.s32.f32 %r7, %r5;", bits(-2.7f)), uint32_t(-2));
  EXPECT_EQ(one32("cvt.rni.s32.f32 %r7, %r5;", bits(2.5f)), 2u);
  EXPECT_EQ(one32("cvt.rzi.u32.f32 %r7, %r5;", bits(-2.7f)), 0u);
  EXPECT_EQ(one32("cvt.rzi.s32.f32 %r7, %r5;", bits(1e20f)), 0x7FFFFFFFu);
  EXPECT_EQ(asFloat(one32("cvt.rn.f32.u32 %r7, %r5;", 0xFFFFFFFF)),
            4294967296.0f);
  EXPECT_EQ(asFloat(one32("cvt.rz.f32.u32 %r7, %r5;", 0xFFFFFFFF)),
            4294967040.0f);
  EXPECT_EQ(
      asFloat(uint32_t(one("cvt.rn.f32.f64 %r7, %rd2; cvt.u64.u32 %rd4, %r7;",
                           std::bit_cast<uint64_t>(0.1)))),
      0.1f);
  EXPECT_EQ(one32("cvt.rn.f16x2.f32 %r7, %r5, %r6;", bits(1), bits(2)),
            0x3C004000u);
  EXPECT_EQ(one32("cvt.rna.tf32.f32 %r7, %r5;", bits(1.0f + 0x1p-11f)),
            bits(1.0f + 0x1p-10f));
  EXPECT_EQ(asFloat(one32("cvt.rni.f32.f32 %r7, %r5;", bits(2.5f))), 2.0f);
}

TEST(Compare, CombinesAndPairs) {
  EXPECT_EQ(one32("setp.lt.s32 %p1|%p2, %r5, %r6; selp.u32 %r7, 1, 2, %p1; "
                  "@%p2 add.u32 %r7, %r7, 10;",
                  ~0u, 1),
            1u);
  EXPECT_EQ(
      one32("setp.lo.u32 %p1, %r5, %r6; selp.u32 %r7, 1, 2, %p1;", ~0u, 1), 2u);
  EXPECT_EQ(one32("setp.eq.u32 %p1, 1, 1; setp.ne.and.u32 %p2, %r5, %r6, !%p1; "
                  "selp.u32 %r7, 1, 2, %p2;",
                  1, 2),
            2u);
  EXPECT_EQ(one32("setp.equ.f32 %p1, %r5, %r6; selp.u32 %r7, 1, 2, %p1;",
                  bits(NAN), 1),
            1u);
  EXPECT_EQ(one32("set.gt.u32.s32 %r7, %r5, %r6;", 3, 2), ~0u);
  EXPECT_EQ(one32("slct.u32.s32 %r7, %r5, %r6, -1;", 3, 2), 2u);
}

TEST(Refusal, NamesTheInstruction) {
  Harness H;
  H.loadBody("frobnicate.u32 %r5, %r6;");
  auto Bad = H.run(nullptr, 1, 1);
  ASSERT_TRUE(Bad);
  EXPECT_EQ(Bad->What, Fault::Kind::UnknownInstruction);
  EXPECT_NE(Bad->Message.find("frobnicate.u32"), std::string::npos)
      << Bad->Message;
}

TEST(Refusal, NamesModifiersThatItDoesNotKnow) {
  Harness H;
  H.loadBody("add.fancy.u32 %r5, %r6, %r7;");
  auto Bad = H.run(nullptr, 1, 1);
  ASSERT_TRUE(Bad);
  EXPECT_NE(Bad->Message.find(".fancy"), std::string::npos) << Bad->Message;
}
