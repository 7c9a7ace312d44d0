// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies and stores that write to global memory or to other
// blocks.
#include "Harness.h"

using namespace crsan::sim;

namespace {

/// What a thread has waited for: copy and whether it was only for what it
/// reads.
struct Waits : Observer {
  void asyncWaited(const ThreadRef &, uint64_t Async, bool ReadsOnly) override {
    All.push_back({Async, ReadsOnly});
  }
  std::vector<std::pair<uint64_t, bool>> All;
};

/// A thread stores a tile of fives; the body goes on.
std::string storeTile(const std::string &Body) {
  return R"(
  .shared .align 16 .b8 tile[16];
  mov.u32 %r20, tile;
  mov.u32 %r21, 5;
  st.shared.v4.u32 [tile], {%r21, %r21, %r21, %r21};
  fence.proxy.async;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r20], 16;
  cp.async.bulk.commit_group;
)" + Body;
}

} // namespace

TEST(BulkGroups, AWaitForReadsDoesNotEndTheGroup) {
  Harness H;
  H.loadBody(storeTile(R"(
  cp.async.bulk.wait_group.read 0;
  cp.async.bulk.wait_group.read 0;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1+16], [%r20], 16;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
  cp.async.bulk.wait_group 1;
  cp.async.bulk.wait_group 0;
)"));
  Waits Seen;
  H.M.setObserver(&Seen);
  H.runWell(H.array<uint32_t>(8), 1, 1);
  H.M.setObserver(nullptr);
  ASSERT_EQ(Seen.All.size(), 4u);
  const uint64_t First = Seen.All[0].first, Second = Seen.All[1].first;
  EXPECT_NE(First, Second);
  EXPECT_EQ(
      Seen.All,
      (std::vector<std::pair<uint64_t, bool>>{
          {First, true}, {Second, true}, {First, false}, {Second, false}}));
}

TEST(BulkGroups, WhatIsReadMayChange) {
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(storeTile(R"(
  cp.async.bulk.wait_group.read 0;
  mov.u32 %r21, 6;
  st.shared.v4.u32 [tile], {%r21, %r21, %r21, %r21};
  cp.async.bulk.wait_group 0;
)"));
    auto *A = H.array<uint32_t>(4);
    H.runWell(A, 1, 1);
    for (unsigned N = 0; N < 4; ++N)
      ASSERT_EQ(A[N], 5u);
  });
}

TEST(BulkGroups, TheWriteMayComeAfterTheWaitForReads) {
  unsigned Late = 0;
  for (uint64_t Seed = 0; Seed < 20; ++Seed) {
    Harness H(withSeed(Seed));
    H.loadBody(storeTile(R"(
  cp.async.bulk.wait_group.read 0;
  ld.global.u32 %r22, [%rd1];
  st.global.u32 [%rd1+16], %r22;
  cp.async.bulk.wait_group 0;
)"));
    auto *A = H.array<uint32_t>(5);
    H.runWell(A, 1, 1);
    EXPECT_EQ(A[0], 5u);
    Late += A[4] == 0;
  }
  EXPECT_GT(Late, 0u);
}

TEST(BulkCopies, ToAllBlocksOfACluster) {
  // Blocks 0 and 2 of four get the tile; each block has an mbarrier of its own.
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(R"(
  .shared .align 16 .b8 tile[128];
  .shared .align 8 .b64 full;
  mov.u32 %r20, tile;
  mov.u32 %r21, full;
  shl.b32 %r22, %r2, 2;
  add.u32 %r23, %r20, %r22;
  st.shared.u32 [%r23], 7;
  setp.ne.u32 %p1, %r2, 0;
  and.b32 %r24, %r3, 1;
  setp.ne.u32 %p2, %r24, 0;
  @%p1 bra Ready;
  mbarrier.init.shared.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  mov.u32 %r25, 128;
  @!%p2 mbarrier.arrive.expect_tx.shared.b64 %rd5, [full], %r25;
Ready:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  setp.ne.or.u32 %p3, %r3, 0, %p1;
  mov.u16 %rs1, 5;
  @!%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
    [%r20], [%rd1], 128, [%r21], %rs1;
  @%p2 bra Done;
Again:
  mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p4, [full], 0;
  @!%p4 bra Again;
Done:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.shared.u32 %r9, [%r23];
  mul.wide.u32 %rd10, %r1, 4;
  add.s64 %rd11, %rd1, %rd10;
  st.global.u32 [%rd11+128], %r9;
)");
    auto *A = H.array<uint32_t>(5 * 32);
    for (unsigned N = 0; N < 32; ++N)
      A[N] = 100 + N;
    H.launch(A, 4, 32, 0, "k", 4);
    auto Bad = H.M.drive(Machine::Wait::All);
    ASSERT_FALSE(Bad) << Bad->text();
    for (unsigned N = 0; N < 4 * 32; ++N)
      ASSERT_EQ(A[32 + N], N / 32 % 2 ? 7u : 100 + N % 32) << N;
  });
}

TEST(BulkCopies, ToABlockThatTheClusterLacks) {
  Harness H;
  H.loadBody(R"(
  .shared .align 16 .b8 tile[16];
  .shared .align 8 .b64 full;
  mov.u32 %r20, tile;
  mov.u32 %r21, full;
  mbarrier.init.shared.b64 [full], 1;
  mov.u16 %rs1, 4;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
    [%r20], [%rd1], 16, [%r21], %rs1;
)");
  H.launch(H.array<uint32_t>(4), 2, 1, 0, "k", 2);
  auto Bad = H.M.drive(Machine::Wait::All);
  ASSERT_TRUE(Bad);
  EXPECT_EQ(Bad->What, Fault::Kind::InvalidAddress);
}

TEST(AsyncStores, StoreAndAddInAnotherBlock) {
  // Each thread of block 1 stores a pair and adds to one sum in block 0.
  underSchedules([](Options O) {
    Harness H(O);
    H.loadBody(R"(
  .shared .align 16 .b8 pairs[256];
  .shared .align 4 .b32 sum;
  .shared .align 8 .b64 full;
  setp.ne.u32 %p1, %r2, 0;
  setp.ne.u32 %p2, %r3, 0;
  setp.ne.or.u32 %p3, %r2, 0, %p2;
  @%p3 bra Ready;
  st.shared.u32 [sum], 1000;
  mbarrier.init.shared.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  mov.u32 %r25, 384;
  mbarrier.arrive.expect_tx.shared.b64 %rd5, [full], %r25;
Ready:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r20, pairs;
  shl.b32 %r21, %r2, 3;
  add.u32 %r20, %r20, %r21;
  @!%p2 bra Wait;
  mapa.shared::cluster.u32 %r22, %r20, 0;
  mov.u32 %r23, sum;
  mapa.shared::cluster.u32 %r23, %r23, 0;
  mov.u32 %r24, full;
  mapa.shared::cluster.u32 %r24, %r24, 0;
  add.u32 %r25, %r2, 50;
  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32
    [%r22], {%r2, %r25}, [%r24];
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32
    [%r23], %r2, [%r24];
  bra Done;
Wait:
  mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p4, [full], 0;
  @!%p4 bra Wait;
  ld.shared.v2.u32 {%r26, %r27}, [%r20];
  ld.shared.u32 %r28, [sum];
  add.u32 %r9, %r26, %r27;
  add.u32 %r9, %r9, %r28;
  mul.wide.u32 %rd10, %r1, 4;
  add.s64 %rd11, %rd1, %rd10;
  st.global.u32 [%rd11], %r9;
Done:
  barrier.cluster.arrive;
  barrier.cluster.wait;
)");
    auto *A = H.array<uint32_t>(32);
    H.launch(A, 2, 32, 0, "k", 2);
    auto Bad = H.M.drive(Machine::Wait::All);
    ASSERT_FALSE(Bad) << Bad->text();
    for (unsigned N = 0; N < 32; ++N)
      ASSERT_EQ(A[N], 1000 + 31 * 32 / 2 + 2 * N + 50) << N;
  });
}
