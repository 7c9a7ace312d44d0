// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers, atomics, asynchronous copies.
#include "Harness.h"

using namespace crsan::sim;

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

TEST(Barriers, FencesThatOrderNoAccess) {
  struct Recorder : Observer {
    void fence(const ThreadRef &, MemoryOrder, Scope) override { ++Fences; }
    unsigned Fences = 0;
  } R;
  Harness H;
  H.loadBody("fence.mbarrier_init.release.cluster;\n"
             "fence.proxy.async.shared::cta;\n");
  H.M.setObserver(&R);
  H.runWell(H.array<uint32_t>(1), 1, 32);
  H.M.setObserver(nullptr);
  EXPECT_EQ(R.Fences, 0u);
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
