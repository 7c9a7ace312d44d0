// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compilers seldom emit.
#include "Evaluate.h"

#include <cmath>

using namespace crsan::sim;

TEST(RareInteger, DotProductsOfUpperBytes) {
  EXPECT_EQ(one32("dp2a.hi.u32.u32 %r7, %r5, %r6, 1;", 0x00020003, 0x04030201),
            1u + 3 * 3 + 2 * 4);
  EXPECT_EQ(one32("dp2a.hi.s32.u32 %r7, %r5, %r6, 0;", 0xFFFE0003, 0x04030201),
            3u * 3 - 2 * 4);
  EXPECT_EQ(one32("dp2a.hi.s32.s32 %r7, %r5, %r6, 0;", 0x00010001, 0xFFFE0000),
            uint32_t(-3));
}

TEST(RareInteger, Products24) {
  EXPECT_EQ(one32("mad24.lo.u32 %r7, %r5, %r6, 7;", 0x01000005, 3), 22u);
  EXPECT_EQ(one32("mad24.hi.u32 %r7, %r5, %r6, 1;", 0xFFFFFF, 0xFFFFFF),
            0xFFFFFE01u);
  EXPECT_EQ(one32("mad24.lo.s32 %r7, %r5, %r6, 1;", 0xFFFFFF, 5), uint32_t(-4));
  EXPECT_EQ(
      one32("mad24.hi.sat.s32 %r7, %r5, %r6, 0x7fffffff;", 0x7FFFFF, 0x7FFFFF),
      0x7FFFFFFFu);
}

TEST(RareLogic, MasksOfBits) {
  EXPECT_EQ(one32("bmsk.clamp.b32 %r7, %r5, %r6;", 4, 8), 0xFF0u);
  EXPECT_EQ(one32("bmsk.clamp.b32 %r7, %r5, %r6;", 30, 8), 0xC0000000u);
  EXPECT_EQ(one32("bmsk.clamp.b32 %r7, %r5, %r6;", 0, 99), ~0u);
  EXPECT_EQ(one32("bmsk.clamp.b32 %r7, %r5, %r6;", 36, 8), 0u);
  EXPECT_EQ(one32("bmsk.wrap.b32 %r7, %r5, %r6;", 36, 40), 0xFF0u);
}

TEST(RareLogic, ExtendsFromAnyBit) {
  EXPECT_EQ(one32("szext.wrap.s32 %r7, %r5, %r6;", 0x80, 8), 0xFFFFFF80u);
  EXPECT_EQ(one32("szext.wrap.s32 %r7, %r5, %r6;", 0x180, 40), 0xFFFFFF80u);
  EXPECT_EQ(one32("szext.clamp.s32 %r7, %r5, %r6;", 0x180, 40), 0x180u);
  EXPECT_EQ(one32("szext.clamp.u32 %r7, %r5, %r6;", 0x1FF, 8), 0xFFu);
  EXPECT_EQ(one32("szext.clamp.u32 %r7, %r5, %r6;", 0x1FF, 0), 0u);
}

TEST(RareFloat, TestsProperties) {
  auto Is = [](const char *What, float V) {
    return one32("testp." + std::string(What) +
                     ".f32 %p1, %r5; selp.u32 %r7, 1, 0, %p1;",
                 bits(V)) == 1;
  };
  EXPECT_TRUE(Is("finite", 1));
  EXPECT_FALSE(Is("finite", INFINITY));
  EXPECT_TRUE(Is("infinite", -INFINITY));
  EXPECT_TRUE(Is("number", INFINITY));
  EXPECT_FALSE(Is("number", NAN));
  EXPECT_TRUE(Is("notanumber", NAN));
  EXPECT_TRUE(Is("normal", 0));
  EXPECT_FALSE(Is("normal", 0x1p-140f));
  EXPECT_TRUE(Is("subnormal", 0x1p-140f));
  EXPECT_EQ(one("testp.subnormal.f64 %p1, %rd2; selp.u64 %rd4, 1, 0, %p1;", 1),
            1u);
}

TEST(RareFloat, PairsOfSingles) {
  auto Pair = [](float High, float Low) {
    return uint64_t(bits(High)) << 32 | bits(Low);
  };
  EXPECT_EQ(one("add.rn.f32x2 %rd4, %rd2, %rd3;", Pair(1, 2), Pair(10, 20)),
            Pair(11, 22));
  EXPECT_EQ(one("mul.rn.ftz.f32x2 %rd4, %rd2, %rd3;", Pair(3, 0x1p-100f),
                Pair(4, 0x1p-40f)),
            Pair(12, 0));
  EXPECT_EQ(one("fma.rn.f32x2 %rd4, %rd2, %rd3, %rd3;", Pair(2, 3), Pair(5, 7)),
            Pair(15, 28));
}

TEST(RareConvert, FloatsOfEightBits) {
  auto Narrow = [](const char *To, float High, float Low) {
    return one32(std::string("cvt.rn.satfinite.") + To +
                     ".f32 %rs1, %r5, %r6; cvt.u32.u16 %r7, %rs1;",
                 bits(High), bits(Low));
  };
  EXPECT_EQ(Narrow("e4m3x2", 1, 2), 0x3840u);
  EXPECT_EQ(Narrow("e4m3x2", 1000, -448), 0x7EFEu);
  EXPECT_EQ(Narrow("e4m3x2", NAN, 0x1p-9f), 0x7F01u);
  EXPECT_EQ(Narrow("e4m3x2", 1.0625f, 1.1875f), 0x383Au); // To even.
  EXPECT_EQ(Narrow("e5m2x2", 1, 57344), 0x3C7Bu);
  EXPECT_EQ(Narrow("e5m2x2", -1e6f, 0x1p-16f), 0xFB01u);
  EXPECT_EQ(Narrow("relu.e5m2x2", -1, 1), 0x003Cu);
  EXPECT_EQ(
      one32("cvt.u16.u32 %rs1, %r5; cvt.rn.f16x2.e4m3x2 %r7, %rs1;", 0x38C0),
      0x3C00C000u);
  EXPECT_EQ(
      one32("cvt.u16.u32 %rs1, %r5; cvt.rn.f16x2.e5m2x2 %r7, %rs1;", 0x7C01),
      0x7C000100u);
  EXPECT_EQ(one32("cvt.rn.satfinite.e4m3x2.f16x2 %rs1, %r5;"
                  "cvt.u32.u16 %r7, %rs1;",
                  0x3C007BFF),
            0x387Eu);
}

TEST(RareConvert, PacksTwoIntegers) {
  EXPECT_EQ(one32("cvt.pack.sat.u16.s32 %r7, %r5, %r6;", 70000, uint32_t(-5)),
            0xFFFF0000u);
  EXPECT_EQ(one32("cvt.pack.sat.s16.s32 %r7, %r5, %r6;", 70000, uint32_t(-5)),
            0x7FFFFFFBu);
  EXPECT_EQ(one32("cvt.pack.sat.u8.s32.b32 %r7, %r5, %r6, 0xaabbccdd;", 300, 7),
            0xCCDDFF07u);
  EXPECT_EQ(one32("cvt.pack.sat.s4.s32.b32 %r7, %r5, %r6, 0x12345678;",
                  uint32_t(-100), 100),
            0x34567887u);
  EXPECT_EQ(one32("cvt.pack.sat.u2.s32.b32 %r7, %r5, %r6, 1;", 2, 9), 0x1Bu);
}

TEST(RareCompare, SetsHalves) {
  // 1 and 3 against 2 and 2: the upper half is first.
  EXPECT_EQ(one32("set.lt.f16x2.f16x2 %r7, %r5, %r6;", 0x3C004200, 0x40004000),
            0x3C000000u);
  EXPECT_EQ(one32("set.gt.u32.f16x2 %r7, %r5, %r6;", 0x3C004200, 0x40004000),
            0x0000FFFFu);
  EXPECT_EQ(one32("set.neu.s32.bf16x2 %r7, %r5, %r6;", 0x3F804040, 0x7FFF4040),
            0xFFFF0000u);
  EXPECT_EQ(
      one32("set.le.bf16x2.bf16x2 %r7, %r5, %r6;", 0x3F804040, 0x3F804000),
      0x3F800000u);
  EXPECT_EQ(one32("setp.eq.u32 %p1, 1, 2;"
                  "set.lt.or.f16x2.f16x2 %r7, %r5, %r6, !%p1;",
                  0x42004200, 0x40004000),
            0x3C003C00u);
  EXPECT_EQ(one32("set.gt.f16.f32 %rs1, %r5, %r6; cvt.u32.u16 %r7, %rs1;",
                  bits(2), bits(1)),
            0x3C00u);
  EXPECT_EQ(one32("set.gt.bf16.f32 %rs1, %r5, %r6; cvt.u32.u16 %r7, %rs1;",
                  bits(2), bits(1)),
            0x3F80u);
}

TEST(RareAtomics, Vectors) {
  Harness H;
  H.loadBody(R"(
  mov.f32 %f1, 0f3F800000;
  mov.f32 %f2, 0f40000000;
  red.global.add.v2.f32 [%rd1], {%f1, %f2};
  atom.relaxed.gpu.global.add.v4.f32 {%f3,%f4,%f5,%f6}, [%rd1+16],
    {%f1, %f2, %f1, %f2};
  mov.u32 %r5, 0x3C004200;
  mov.u32 %r6, 0x42003C00;
  atom.global.max.noftz.v2.f16x2 {%r7,%r8}, [%rd1+32], {%r5, %r6};
)");
  auto *P = H.array<float>(16);
  P[4] = 100;
  const uint32_t Halves[] = {0x40004000, 0x40004000};
  std::memcpy(P + 8, Halves, 8);
  H.runWell(P, 2, 40);
  EXPECT_EQ(P[0], 80);
  EXPECT_EQ(P[1], 160);
  EXPECT_EQ(P[4], 180);
  EXPECT_EQ(P[7], 160);
  EXPECT_EQ(bits(P[8]), 0x40004200u);
  EXPECT_EQ(bits(P[9]), 0x42004000u);
}

TEST(RareMemory, AllocaGivesEachLaneItsOwn) {
  // The sizes differ, too.
  auto R = evaluate(R"(
  alloca.u64 %rd5, %rd3, 32;
  alloca.u64 %rd6, 8;
  st.local.u64 [%rd5], %rd2;
  st.local.u64 [%rd6], %rd3;
  bar.warp.sync -1;
  ld.local.u64 %rd7, [%rd5];
  cvta.local.u64 %rd8, %rd6;
  ld.u64 %rd9, [%rd8];
  and.b64 %rd5, %rd5, 31;
  shl.b64 %rd9, %rd9, 8;
  add.u64 %rd4, %rd7, %rd9;
  add.u64 %rd4, %rd4, %rd5;)",
                    {{1, 8}, {2, 64}, {3, 16}, {4, 4096}});
  EXPECT_EQ(R, (std::vector<uint64_t>{0x801, 0x4002, 0x1003, 0x100004}));
}

TEST(RareMemory, BulkReductionsAreAtomic) {
  for (uint64_t Seed = 0; Seed < 10; ++Seed) {
    Options O;
    O.Seed = Seed;
    Harness H(O);
    H.loadBody(R"(
  mov.u32 %r20, tile;
  shl.b32 %r21, %r2, 2;
  add.u32 %r20, %r20, %r21;
  st.shared.u32 [%r20], %r2;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra Done;
  mov.u32 %r20, tile;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r20], 128;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%rd1+128],
    [%r20], 128;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
Done:)",
               ".shared .align 16 .b8 tile[128];\n");
    auto *P = H.array<int32_t>(64);
    for (int N = 0; N < 32; ++N)
      P[32 + N] = 10;
    H.runWell(P, 5, 32);
    for (int N = 0; N < 32; ++N) {
      ASSERT_EQ(P[N], 5 * N);
      ASSERT_EQ(P[32 + N], std::max(10, N));
    }
  }
}

TEST(RareMemory, BulkReductionsBetweenBlocksCompleteOnBarriers) {
  // Block 0's tile gets what both blocks of the cluster add to it.
  Harness H;
  H.loadBody(R"(
  mov.u32 %r20, tile;
  mov.u32 %r25, done;
  shl.b32 %r21, %r2, 2;
  add.u32 %r22, %r20, %r21;
  add.u32 %r23, %r2, 1;
  st.shared.u32 [%r22], %r23;
  mov.u32 %r24, 1000;
  st.shared.u32 [%r22+128], %r24;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra Ready;
  mbarrier.init.shared.b64 [%r25], 1;
  mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r25], 256;
Ready:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  @%p1 bra Wait;
  add.u32 %r26, %r20, 128;
  mapa.shared::cluster.u32 %r27, %r26, 0;
  mapa.shared::cluster.u32 %r28, %r25, 0;
  cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32
    [%r27], [%r20], 128, [%r28];
Wait:
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra Done;
Again:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r25], 0;
  @!%p3 bra Again;
  ld.shared.u32 %r29, [%r22+128];
  mul.wide.u32 %rd10, %r2, 4;
  add.s64 %rd11, %rd1, %rd10;
  st.global.u32 [%rd11], %r29;
Done:
  barrier.cluster.arrive;
  barrier.cluster.wait;)",
             ".shared .align 16 .b8 tile[256];\n.shared .align 8 .b64 done;\n");
  auto *P = H.array<uint32_t>(32);
  H.launch(P, 2, 32, 0, "k", 2);
  auto Bad = H.M.drive(Machine::Wait::All);
  ASSERT_FALSE(Bad) << Bad->text();
  for (uint32_t N = 0; N < 32; ++N)
    EXPECT_EQ(P[N], 1000 + 2 * (N + 1));
}

TEST(RareMemory, BlocksEndAfterTheirCopies) {
  struct Recorder : Observer {
    bool HasEnded = false, HasCopied = false;
    void access(const ThreadRef &, const Access &A) override {
      HasCopied |= A.IsAsync;
      EXPECT_FALSE(A.IsAsync && HasEnded);
    }
    void blockEnd(uint64_t, uint32_t, uint64_t) override { HasEnded = true; }
  };
  for (uint64_t Seed = 0; Seed < 10; ++Seed) {
    Options O;
    O.Seed = Seed;
    Harness H(O);
    Recorder R;
    H.M.setObserver(&R);
    H.loadBody(R"(
  mov.u32 %r20, tile;
  st.shared.u32 [%r20], 5;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r20], 16;
  cp.async.bulk.commit_group;)",
               ".shared .align 16 .b8 tile[16];\n");
    auto *P = H.array<uint32_t>(4);
    H.runWell(P, 1, 1);
    EXPECT_TRUE(R.HasCopied && R.HasEnded);
    EXPECT_EQ(P[0], 5u);
  }
}

// Intent: loads and stores of one value may have it in braces, as Triton
// writes them.
TEST(RareMemory, VectorsOfOneElement) {
  EXPECT_EQ(one32(".shared .b32 s; st.shared.b32 [ s + 0 ], { %r5 };"
                  "ld.shared.b32 { %r7 }, [ s + 0 ];",
                  77),
            77u);
}

// Intent: what says how long a cache shall keep lines changes no result.
TEST(RareMemory, CachePolicies) {
  for (const char *Policy :
       {"createpolicy.fractional.L2::evict_last.b64 %rd20, 1.0;",
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 "
        "%rd20;",
        "createpolicy.range.global.L2::evict_last.b64 %rd20, [%rd11], 64, 128;",
        "createpolicy.cvt.L2.b64 %rd20, 5;"})
    EXPECT_EQ(
        one32(Policy + std::string("ld.global.L1::evict_last.L2::cache_hint"
                                   ".b32 %r7, [%rd11], %rd20;"),
              77),
        77u)
        << Policy;
}
