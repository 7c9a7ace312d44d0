//===- ExecutionTest.cpp - Warps, barriers, faults, schedules, streams ----===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <algorithm>
#include <set>

using namespace crsan::sim;
using Policy = Options::Policy;

namespace {

Options withSeed(uint64_t Seed, Policy P = Policy::Random) {
  Options O;
  O.Seed = Seed;
  O.Schedule = P;
  return O;
}

/// For each policy and some seeds.
template <class Callable> void underSchedules(Callable F) {
  for (Policy P : {Policy::RoundRobin, Policy::Random, Policy::PCT})
    for (uint64_t Seed = 0; Seed < 10; ++Seed) {
      SCOPED_TRACE(testing::Message()
                   << "policy " << int(P) << ", seed " << Seed);
      F(withSeed(Seed, P));
    }
}

const char *const StoreResult = R"(
  mul.wide.u32 %rd10, %r1, 4;
  add.s64 %rd11, %rd1, %rd10;
  st.global.u32 [%rd11], %r9;
)";

} // namespace

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

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

/// Some tiles wait for the whole warp while others wait for themselves: the last
/// lane of a tile completes the tile, not the warp.
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

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

TEST(Barriers, ReverseThroughSharedMemory) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(std::string(R"(
  .shared .align 4 .b8 s[512];
  mov.u32 %r5, s;
  shl.b32 %r6, %r2, 2;
  add.u32 %r7, %r5, %r6;
  st.shared.u32 [%r7], %r2;
  bar.sync 0;
  mov.u32 %r8, 508;
  sub.u32 %r8, %r8, %r6;
  add.u32 %r8, %r5, %r8;
  ld.shared.u32 %r9, [%r8];
)") + StoreResult);
    auto *A = H.array<uint32_t>(256);
    H.runWell(A, 2, 128);
    for (unsigned N = 0; N < 256; ++N)
      ASSERT_EQ(A[N], 127 - N % 128);
  });
}

TEST(Barriers, ReduceAndExitedThreads) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(std::string(R"(
  setp.ge.u32 %p1, %r2, 70;
  @%p1 exit;
  setp.lt.u32 %p2, %r2, 10;
  bar.red.popc.u32 %r9, 0, %p2;
)") + StoreResult);
    auto *A = H.array<uint32_t>(96);
    H.runWell(A, 1, 96);
    ASSERT_EQ(A[0], 10u);
    ASSERT_EQ(A[69], 10u);
    ASSERT_EQ(A[70], 0u);
  });
}

TEST(Barriers, ProducersArriveAndConsumersWait) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(R"(
  setp.ge.u32 %p1, %r2, 32;
  @%p1 bra Wait;
  st.global.u32 [%rd1], 42;
  bar.arrive 3, 64;
  ret;
Wait:
  bar.sync 3, 64;
  ld.global.u32 %r5, [%rd1];
  st.global.u32 [%rd1+4], %r5;
)");
    auto *A = H.array<uint32_t>(2);
    H.runWell(A, 1, 64);
    ASSERT_EQ(A[1], 42u);
  });
}

TEST(Barriers, DivergenceIsAFault) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(R"(
  setp.lt.u32 %p1, %r2, 32;
  @%p1 bra A;
  bar.sync 1;
  ret;
A:
  bar.sync 2;
)");
    auto Bad = H.run(nullptr, 1, 64);
    ASSERT_TRUE(Bad);
    EXPECT_EQ(Bad->What, Fault::Kind::BarrierDivergence) << Bad->text();
  });
}

TEST(Barriers, LanesOfAWarpAtTwoPlacesAreAFault) {
  Harness H;
  H.loadBody(R"(
  setp.lt.u32 %p1, %r2, 16;
  @%p1 bra A;
  bar.sync 0;
  ret;
A:
  bar.sync 0;
)");
  auto Bad = H.run(nullptr, 1, 32);
  ASSERT_TRUE(Bad);
  EXPECT_EQ(Bad->What, Fault::Kind::BarrierDivergence) << Bad->text();
}

TEST(Barriers, WaitingForLanesThatNeverComeIsADeadlock) {
  Harness H;
  H.loadBody(R"(
  setp.lt.u32 %p1, %r2, 16;
  @%p1 bra A;
  bar.sync 0;
  ret;
A:
  bar.warp.sync -1;
)");
  auto Bad = H.run(nullptr, 1, 32);
  ASSERT_TRUE(Bad);
  EXPECT_EQ(Bad->What, Fault::Kind::Deadlock) << Bad->text();
}

TEST(Barriers, CooperativeGrid) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(R"(
  setp.ne.u32 %p1, %r2, 0;
  bar.sync 0;
  @%p1 bra Done;
  membar.gl;
  atom.global.add.u32 %r5, [%rd1], 1;
Spin:
  ld.volatile.global.u32 %r6, [%rd1];
  setp.lt.u32 %p2, %r6, 8;
  @%p2 bra Spin;
  membar.gl;
Done:
  bar.sync 0;
  atom.global.add.u32 %r5, [%rd1+4], %r6;
)");
    auto *A = H.array<uint32_t>(2);
    H.launch(A, 8, 64, 0, "k", 1, true);
    auto Bad = H.M.drive(Machine::Wait::All);
    ASSERT_FALSE(Bad) << Bad->text();
    ASSERT_EQ(A[1], 64u);
  });
}

TEST(Barriers, ClusterSharesMemory) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(std::string(R"(
  .shared .align 4 .b8 s[4];
  mov.u32 %r5, s;
  mov.u32 %r6, %cluster_ctarank;
  st.shared.u32 [%r5], %r6;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  xor.b32 %r7, %r6, 1;
  mapa.shared::cluster.u32 %r8, %r5, %r7;
  ld.shared::cluster.u32 %r9, [%r8];
  barrier.cluster.arrive;
  barrier.cluster.wait;
)") + StoreResult);
    auto *A = H.array<uint32_t>(128);
    H.launch(A, 4, 32, 0, "k", 2);
    auto Bad = H.M.drive(Machine::Wait::All);
    ASSERT_FALSE(Bad) << Bad->text();
    for (unsigned N = 0; N < 128; ++N)
      ASSERT_EQ(A[N], N / 32 % 2 == 0) << N;
  });
}

//===----------------------------------------------------------------------===//
// Atomics, asynchronous copies
//===----------------------------------------------------------------------===//

TEST(Atomics, AddExchangeCompareAndFloats) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(R"(
  atom.global.add.u32 %r5, [%rd1], 1;
  red.global.add.f32 [%rd1+4], 0f3F000000;
  atom.global.max.s32 %r6, [%rd1+8], %r1;
  atom.global.inc.u32 %r7, [%rd1+12], 9;
  red.global.add.noftz.f16x2 [%rd1+16], 1006648320;
  atom.global.add.f64 %fd1, [%rd1+24], 0d3FE0000000000000;
)");
    auto *A = H.array<uint32_t>(8);
    H.runWell(A, 2, 100);
    ASSERT_EQ(A[0], 200u);
    float F;
    std::memcpy(&F, &A[1], 4);
    ASSERT_EQ(F, 100.0f);
    ASSERT_EQ(A[2], 199u);
    ASSERT_EQ(A[3], 0u);
    ASSERT_EQ(A[4], 0x5A405A40u) << "200.0 twice";
    double D;
    std::memcpy(&D, &A[6], 8);
    ASSERT_EQ(D, 100.0);
  });
}

TEST(Atomics, Wide) {
  Harness H;
  H.loadBody(R"(
  .reg .b128 %q<3>;
  mov.b128 %q1, {3, 4};
  atom.global.exch.b128 %q2, [%rd1], %q1;
  mov.b128 {%rd5, %rd6}, %q2;
  st.global.v2.u64 [%rd1+16], {%rd5, %rd6};
)");
  auto *A = H.array<uint64_t>(4);
  A[0] = 1;
  A[1] = 2;
  H.runWell(A, 1, 1);
  EXPECT_EQ(A[0], 3u);
  EXPECT_EQ(A[1], 4u);
  EXPECT_EQ(A[2], 1u);
  EXPECT_EQ(A[3], 2u);
}

TEST(AsyncCopies, GroupsArriveBeforeTheWaitEnds) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(std::string(R"(
  .shared .align 16 .b8 s[512];
  mov.u32 %r5, s;
  shl.b32 %r6, %r2, 2;
  add.u32 %r5, %r5, %r6;
  mul.wide.u32 %rd5, %r2, 4;
  add.s64 %rd6, %rd1, %rd5;
  cp.async.ca.shared.global [%r5], [%rd6], 4;
  cp.async.commit_group;
  cp.async.wait_group 0;
  bar.sync 0;
  ld.shared.u32 %r7, [%r5];
  add.u32 %r9, %r7, 1;
)") + StoreResult);
    auto *A = H.array<uint32_t>(128);
    std::fill(A, A + 128, 41);
    H.runWell(A, 1, 128);
    for (unsigned N = 0; N < 128; ++N)
      ASSERT_EQ(A[N], 42u) << N;
  });
}

TEST(AsyncCopies, BulkCompletesAnMBarrier) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(std::string(R"(
  .shared .align 16 .b8 s[256];
  .shared .align 8 .b8 m[8];
  mov.u32 %r5, s;
  mov.u32 %r6, m;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra Skip;
  mbarrier.init.shared::cta.b64 [%r6], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 %rd5, [%r6], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd1], 256, [%r6];
Skip:
  bar.sync 0;
W:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r6], 0;
  @!%p2 bra W;
  shl.b32 %r7, %r2, 2;
  add.u32 %r7, %r5, %r7;
  ld.shared.u32 %r9, [%r7];
  add.u32 %r9, %r9, 1;
)") + StoreResult);
    auto *A = H.array<uint32_t>(64);
    for (unsigned N = 0; N < 64; ++N)
      A[N] = N;
    H.runWell(A, 1, 64);
    for (unsigned N = 0; N < 64; ++N)
      ASSERT_EQ(A[N], N + 1);
  });
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

TEST(Faults, InvalidAddressNamesLineAndThread) {
  Harness H;
  H.load(R"(
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  .loc 1 7 3
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  .loc 1 9 5
  st.global.u32 [%rd3], %r1;
  ret;
}
.file 1 "a.cu"
)");
  auto *A = H.array<uint32_t>(40);
  auto Bad = H.run(A, 1, 64);
  ASSERT_TRUE(Bad);
  EXPECT_EQ(Bad->What, Fault::Kind::InvalidAddress);
  EXPECT_EQ(Bad->Kernel, "k");
  EXPECT_EQ(Bad->Thread.X, 40u);
  ASSERT_FALSE(Bad->Where.empty());
  EXPECT_EQ(Bad->Where[0].File, "a.cu");
  EXPECT_EQ(Bad->Where[0].Line, 9u);
  EXPECT_NE(Bad->Message.find("0 bytes past the end of an allocation of 160"),
            std::string::npos)
      << Bad->Message;
  // It stays.
  EXPECT_TRUE(H.M.drive(Machine::Wait::All));
}

TEST(Faults, OthersToo) {
  struct {
    const char *Body;
    Fault::Kind Kind;
  } Cases[] = {
      {"ld.global.u32 %r5, [%rd1+2];", Fault::Kind::Misaligned},
      {"mov.u64 %rd5, 0; st.u32 [%rd5], 1;", Fault::Kind::InvalidAddress},
      {"ld.shared.u32 %r5, [4096];", Fault::Kind::InvalidAddress},
      {"trap;", Fault::Kind::Trap},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];",
       Fault::Kind::UnknownInstruction},
  };
  for (auto &C : Cases) {
    Harness H;
    H.loadBody(C.Body);
    auto Bad = H.run(H.array<uint32_t>(4), 1, 1);
    ASSERT_TRUE(Bad) << C.Body;
    EXPECT_EQ(Bad->What, C.Kind) << Bad->text();
  }
}

TEST(Faults, UninitialisedSharedMemoryOnRequest) {
  for (bool Checks : {false, true}) {
    Options O;
    O.CheckUninitialisedShared = Checks;
    Harness H(O);
    H.loadBody(".shared .align 4 .b8 s[8]; st.shared.u32 [s], 1; ld.shared.u32 "
               "%r5, [s]; ld.shared.u32 %r5, [s+4];");
    auto Bad = H.run(nullptr, 1, 1);
    EXPECT_EQ(Bad.has_value(), Checks);
    if (Bad) {
      EXPECT_EQ(Bad->What, Fault::Kind::UninitialisedShared);
    }
  }
}

TEST(Faults, StepLimit) {
  Options O;
  O.MaxSteps = 1000;
  Harness H(O);
  H.loadBody("L: bra L;");
  auto Bad = H.run(nullptr, 1, 1);
  ASSERT_TRUE(Bad);
  EXPECT_EQ(Bad->What, Fault::Kind::StepLimit);
}

//===----------------------------------------------------------------------===//
// Schedules and streams
//===----------------------------------------------------------------------===//

static std::vector<uint32_t> order(Options O) {
  Harness H(O);
  H.loadBody(std::string("atom.global.add.u32 %r9, [%rd1+4096], 1;") +
             StoreResult);
  auto *A = H.array<uint32_t>(1025);
  H.runWell(A, 4, 256);
  return {A, A + 1024};
}

TEST(Schedule, IsAFunctionOfTheSeed) {
  std::set<std::vector<uint32_t>> Seen;
  for (uint64_t Seed = 0; Seed < 5; ++Seed) {
    auto First = order(withSeed(Seed));
    EXPECT_EQ(First, order(withSeed(Seed)));
    Seen.insert(First);
  }
  EXPECT_EQ(Seen.size(), 5u);
  EXPECT_EQ(order(withSeed(1, Policy::RoundRobin)),
            order(withSeed(2, Policy::RoundRobin)));
}

TEST(Schedule, SleepOrders) {
  Harness H;
  H.loadBody(R"(
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra Late;
  nanosleep.u32 1000000;
  ld.global.u32 %r5, [%rd1];
  st.global.u32 [%rd1+4], %r5;
  ret;
Late:
  nanosleep.u32 100;
  st.global.u32 [%rd1], 42;
)");
  auto *A = H.array<uint32_t>(2);
  H.runWell(A, 2, 1);
  EXPECT_EQ(A[1], 42u);
}

TEST(Streams, IndependentKernelsTalk) {
  underSchedules([](Options O) {
    // Each waits for the other: they must run side by side.
    Harness H(O);
    H.loadBody(R"(
  ld.global.u64 %rd2, [%rd1];
  ld.global.u64 %rd3, [%rd1+8];
  st.release.gpu.global.u32 [%rd2], 1;
L:
  ld.acquire.gpu.global.u32 %r5, [%rd3];
  setp.eq.u32 %p1, %r5, 0;
  @%p1 bra L;
)");
    auto *Flags = H.array<uint32_t>(2);
    auto *P = H.array<uint64_t>(4);
    P[0] = P[3] = reinterpret_cast<uint64_t>(Flags);
    P[1] = P[2] = reinterpret_cast<uint64_t>(Flags + 1);
    Stream A = H.M.createStream(true), B = H.M.createStream(true);
    H.launch(P, 1, 1, A);
    H.launch(P + 2, 1, 1, B);
    auto Bad = H.M.drive(Machine::Wait::All);
    ASSERT_FALSE(Bad) << Bad->text();
  });
}

TEST(Streams, OrderEventsAndHostWork) {
  underSchedules([](Options O) {
    Harness H(O);
    std::string Log;
    Stream A = H.M.createStream(true), B = H.M.createStream(true);
    Event E = H.M.createEvent();
    auto Say = [&](char C) {
      return HostOp{"say", [&Log, C] { Log += C; }, {}, {}};
    };
    H.M.enqueue(A, Say('a'));
    H.M.enqueue(A, Say('b'));
    H.M.record(E, A);
    H.M.wait(B, E);
    H.M.enqueue(B, Say('c'));
    EXPECT_FALSE(H.M.isEventDone(E));
    ASSERT_FALSE(H.M.drive(Machine::Wait::Event, E));
    EXPECT_TRUE(H.M.isEventDone(E));
    EXPECT_EQ(Log.substr(0, 2), "ab");
    ASSERT_FALSE(H.M.drive(Machine::Wait::All));
    EXPECT_EQ(Log, "abc");
  });
}

TEST(Streams, DefaultStreamWaitsForBlockingOnes) {
  underSchedules([](Options O) {
    Harness H(O);
    std::string Log;
    Stream A = H.M.createStream(false);
    auto Say = [&](char C) {
      return HostOp{"say", [&Log, C] { Log += C; }, {}, {}};
    };
    H.M.enqueue(A, Say('1'));
    H.M.enqueue(0, Say('2'));
    H.M.enqueue(A, Say('3'));
    ASSERT_FALSE(H.M.drive(Machine::Wait::All));
    EXPECT_EQ(Log, "123");
  });
}

TEST(Printf, FormatsLikeTheHost) {
  Harness H;
  H.loadBody(R"(
  .local .align 8 .b8 args[24];
  mov.u64 %rd5, args;
  cvta.local.u64 %rd6, %rd5;
  st.local.u32 [args], 42;
  st.local.f64 [args+8], 0d3FF8000000000000;
  mov.u64 %rd8, name;
  st.local.u64 [args+16], %rd8;
  mov.u64 %rd7, format;
  { .param .b64 a; .param .b64 b; .param .b32 r;
    st.param.b64 [a], %rd7; st.param.b64 [b], %rd6;
    call.uni (r), vprintf, (a, b); ld.param.b32 %r9, [r]; }
)",
             R"(
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 format[16] = {37, 48, 51, 100, 32, 37, 46, 49, 102, 32, 37, 115, 37, 37, 10, 0};
.global .align 1 .b8 name[3] = {104, 105, 0};
)");
  H.runWell(nullptr, 1, 1);
  EXPECT_EQ(H.Printed, "042 1.5 hi%\n");
}
