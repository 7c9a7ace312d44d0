// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes that part and meet.
#include "Harness.h"

#include <algorithm>
#include <numeric>

using namespace crsan::sim;
using Policy = Options::Policy;

TEST(Divergence, LanesMeetAgain) {
  // The ballot after the branches sees the whole warp at round robin.
  Harness H(withSeed(0, Policy::RoundRobin));
  H.loadBody(std::string(R"(
  and.b32 %r5, %r2, 3;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 bra A;
  setp.eq.u32 %p2, %r5, 1;
  @%p2 bra B;
  mov.u32 %r6, 7;
  bra.uni C;
B:
  mov.u32 %r6, 5;
  bra.uni C;
A:
  mov.u32 %r6, 3;
C:
  activemask.b32 %r7;
  setp.eq.u32 %p3, %r7, -1;
  selp.u32 %r9, %r6, 0, %p3;
)") + StoreResult);
  auto *A = H.array<uint32_t>(64);
  H.runWell(A, 1, 64);
  for (unsigned N = 0; N < 64; ++N)
    EXPECT_EQ(A[N], N % 4 == 0 ? 3u : N % 4 == 1 ? 5u : 7u) << N;
}

/// How many lanes of a warp execute an instruction together, on the average, if
/// the kernel calls a function with many branches in a loop.
static double lanesTogether(const std::string &Function) {
  std::string Branches;
  for (int N = 0; N < 32; ++N)
    Branches += "shr.u32 %r2, %r1, " + std::to_string(N) +
                "; and.b32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0;\n@%p1 bra A" +
                std::to_string(N) + ";\nadd.u32 %r3, %r3, %r1;\nA" +
                std::to_string(N) + ":\n";
  Harness H(withSeed(1));
  H.loadBody(R"(
  mov.u32 %r5, 0;
  mov.u32 %r6, %r2;
Loop:
  mad.lo.u32 %r6, %r6, 1664525, 1013904223;
  { .param .b32 x; st.param.b32 [x], %r6; call.uni )" +
                 Function + R"(, (x); }
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 100;
  @%p1 bra Loop;
)",
             ".func " + Function +
                 "(.param .b32 x)\n{ .reg .pred %p<2>; .reg .b32 %r<4>;\n"
                 "ld.param.b32 %r1, [x]; mov.u32 %r3, 0;\n" +
                 Branches + "ret; }\n");
  H.runWell(H.array<uint32_t>(1), 1, 32);
  return double(H.M.instructions()) / double(H.M.steps());
}

TEST(Divergence, ChecksDoNotTakeLoopsApart) {
  EXPECT_GT(lanesTogether("__crsan_md_check"), 16);
  EXPECT_LT(lanesTogether("check"), 8); // As the program's own code may.
}

TEST(Divergence, LoopsOfDifferentLengths) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(std::string(R"(
  mov.u32 %r9, 0;
  mov.u32 %r5, 0;
L:
  setp.ge.u32 %p1, %r5, %r2;
  @%p1 bra E;
  add.u32 %r9, %r9, %r5;
  add.u32 %r5, %r5, 1;
  bra L;
E:
)") + StoreResult);
    auto *A = H.array<uint32_t>(40);
    H.runWell(A, 1, 40);
    for (unsigned N = 0; N < 40; ++N)
      ASSERT_EQ(A[N], N * (N - 1) / 2) << N;
  });
}

TEST(Divergence, LaneLocksMakeProgress) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(R"(
L:
  atom.global.acquire.gpu.cas.b32 %r5, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra L;
  ld.global.u32 %r6, [%rd1+4];
  add.u32 %r6, %r6, 1;
  st.global.u32 [%rd1+4], %r6;
  st.release.gpu.global.u32 [%rd1], 0;
)");
    auto *A = H.array<uint32_t>(2);
    H.runWell(A, 2, 64);
    ASSERT_EQ(A[1], 128u);
  });
}

TEST(Collectives, ShuffleVoteMatchReduce) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(std::string(R"(
  shfl.sync.bfly.b32 %r5, %r2, 1, 31, -1;
  shfl.sync.up.b32 %r6|%p1, %r2, 4, 0, -1;
  selp.u32 %r7, 100, 0, %p1;
  and.b32 %r8, %r2, 1;
  setp.eq.u32 %p2, %r8, 1;
  vote.sync.ballot.b32 %r10, %p2, -1;
  match.any.sync.b32 %r11, %r8, -1;
  redux.sync.add.u32 %r12, %r2, -1;
  add.u32 %r9, %r5, %r7;
  add.u32 %r9, %r9, %r12;
  setp.ne.u32 %p3, %r10, 0xAAAAAAAA;
  @%p3 mov.u32 %r9, 0;
)") + StoreResult);
    auto *A = H.array<uint32_t>(32);
    H.runWell(A, 1, 32);
    for (unsigned N = 0; N < 32; ++N)
      ASSERT_EQ(A[N], (N ^ 1) + (N >= 4 ? 100 : 0) + 496) << N;
  });
}

TEST(Collectives, LanesThatPartedMeetAtTheShuffle) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(std::string(R"(
  mov.u32 %r6, %r2;
  mov.u32 %r7, 0;
L:
  setp.lt.u32 %p1, %r6, 16;
  @%p1 bra A;
  add.u32 %r6, %r6, 1;
  ld.global.u32 %r8, [%rd1];
  bra.uni B;
A:
  ld.global.u32 %r8, [%rd1];
B:
  shfl.sync.bfly.b32 %r6, %r6, 16, 31, -1;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r7, 10;
  @%p2 bra L;
  mov.u32 %r9, %r6;
)") + StoreResult);
    auto *A = H.array<uint32_t>(32);
    H.runWell(A, 1, 32);
    uint32_t Want[32];
    for (unsigned N = 0; N < 32; ++N)
      Want[N] = N;
    for (unsigned Round = 0; Round < 10; ++Round) {
      for (uint32_t &V : Want)
        V += V >= 16;
      for (unsigned N = 0; N < 16; ++N)
        std::swap(Want[N], Want[N + 16]);
    }
    ASSERT_TRUE(std::equal(A, A + 32, Want));
  });
}

TEST(Collectives, SyncwarpFromTwoPlaces) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(std::string(R"(
  setp.lt.u32 %p1, %r2, 16;
  @%p1 bra A;
  bar.warp.sync -1;
  mov.u32 %r9, 1;
  bra.uni B;
A:
  bar.warp.sync -1;
  mov.u32 %r9, 2;
B:
)") + StoreResult);
    auto *A = H.array<uint32_t>(32);
    H.runWell(A, 1, 32);
    ASSERT_EQ(A[0], 2u);
    ASSERT_EQ(A[31], 1u);
  });
}

namespace {
struct Arrivals : Observer {
  std::vector<uint32_t> Lanes;
  void barrierArrive(const ThreadRef &T, uint64_t, BarrierKind, MemoryOrder,
                     Scope) override {
    Lanes.push_back(T.Thread);
  }
};
} // namespace

/// Lanes of the program meet lanes that a check gathers: only the former order
/// what the program does.
TEST(Collectives, ObserversSeeNoHiddenSyncwarp) {
  Arrivals Seen;
  Options O;
  O.Hidden = "__crsan_";
  Harness H(O);
  H.loadBody(R"(
  call.uni __crsan_check, ();
  setp.lt.u32 %p1, %r2, 16;
  @%p1 bra A;
  call __crsan_check, ();
  bra.uni B;
A:
  bar.warp.sync -1;
B:
)",
             ".func __crsan_check() { bar.warp.sync -1; ret; }\n");
  H.M.setObserver(&Seen);
  H.runWell(H.array<uint32_t>(1), 1, 32);
  std::sort(Seen.Lanes.begin(), Seen.Lanes.end());
  std::vector<uint32_t> FirstHalf(16);
  std::iota(FirstHalf.begin(), FirstHalf.end(), 0);
  EXPECT_EQ(Seen.Lanes, FirstHalf);
}

/// Some tiles wait for the whole warp while others wait for themselves: the
/// last lane of a tile completes the tile, not the warp.
TEST(Collectives, SyncwarpOfTilesBeforeThatOfTheWarp) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(std::string(R"(
  and.b32 %r5, %r2, 28;
  mov.u32 %r6, 15;
  shl.b32 %r6, %r6, %r5;
  and.b32 %r7, %r2, 4;
  setp.ne.u32 %p1, %r7, 0;
  and.b32 %r7, %r2, 1;
  setp.ne.u32 %p2, %r7, 0;
  @%p1 bra ODD;
  bar.warp.sync %r6;
  bar.warp.sync -1;
  bra.uni END;
ODD:
  @%p2 bra LATE;
  bar.warp.sync %r6;
  bra.uni WHOLE;
LATE:
  nanosleep.u32 100000;
  bar.warp.sync %r6;
WHOLE:
  bar.warp.sync -1;
END:
  mov.u32 %r9, 1;
  shfl.sync.idx.b32 %r9, %r9, 0, 31, -1;
)") + StoreResult);
    auto *A = H.array<uint32_t>(32);
    H.runWell(A, 1, 32);
    ASSERT_EQ(A[0], 1u);
    ASSERT_EQ(A[31], 1u);
  });
}

TEST(Calls, RecursionAndPointers) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(std::string(R"(
  mov.u64 %rd5, fib;
  { .param .b32 a; .param .b32 b;
    and.b32 %r5, %r2, 7;
    st.param.b32 [a], %r5;
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
    call (b), %rd5, (a), prototype_0;
    ld.param.b32 %r9, [b]; }
)") + StoreResult,
               R"(
.func (.param .b32 r) fib(.param .b32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  ld.param.b32 %r1, [n];
  setp.lt.u32 %p1, %r1, 2;
  @%p1 bra Leaf;
  sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r2; call.uni (b), fib, (a); ld.param.b32 %r3, [b]; }
  sub.u32 %r4, %r1, 2;
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r4; call.uni (b), fib, (a); ld.param.b32 %r5, [b]; }
  add.u32 %r1, %r3, %r5;
Leaf:
  st.param.b32 [r], %r1;
  ret;
}
)");
    auto *A = H.array<uint32_t>(32);
    H.runWell(A, 1, 32);
    const uint32_t Fib[] = {0, 1, 1, 2, 3, 5, 8, 13};
    for (unsigned N = 0; N < 32; ++N)
      ASSERT_EQ(A[N], Fib[N % 8]) << N;
  });
}
