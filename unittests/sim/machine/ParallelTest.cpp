// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multiprocessors side by side.
#include "Harness.h"
#include "StoreBuffer.h"

#include <numeric>
#include <set>

using namespace crsan::sim;
using Policy = Options::Policy;

namespace {

/// All that a run leaves.
struct Left {
  std::vector<uint32_t> Memory;
  std::string Printed, Fault;
  uint64_t Steps = 0, Instructions = 0, Now = 0;
  bool operator==(const Left &) const = default;
};

struct Program {
  std::string Body, Before = {};
  uint32_t Blocks = 8, Threads = 64;
  size_t Words = 1024; ///< Of the array that the kernel gets.
};

Left run(const Program &P, uint64_t Seed, unsigned Threads,
         Policy How = Policy::Random) {
  Options O;
  O.Seed = Seed;
  O.Schedule = How;
  O.Threads = Threads;
  O.InRounds = true;
  Harness H(O);
  H.loadBody(P.Body, P.Before);
  auto *A = H.array<uint32_t>(P.Words);
  auto Bad = H.run(A, P.Blocks, P.Threads);
  return {{A, A + P.Words}, H.Printed,          Bad ? Bad->text() : "",
          H.M.steps(),      H.M.instructions(), H.M.now()};
}

/// Runs it with 1, 2 and 4 threads under schedules: Check gets what is left,
/// which is to be the same.
template <class Callable> void underThreads(const Program &P, Callable Check) {
  for (Policy How : {Policy::RoundRobin, Policy::Random, Policy::PCT})
    for (uint64_t Seed = 0; Seed < 6; ++Seed) {
      SCOPED_TRACE(testing::Message()
                   << "policy " << int(How) << ", seed " << Seed);
      Left One = run(P, Seed, 1, How);
      for (unsigned Threads : {2, 4})
        EXPECT_EQ(One, run(P, Seed, Threads, How)) << Threads << " threads";
      Check(One);
    }
}

const auto EndsWell = [](const Left &L) { EXPECT_EQ(L.Fault, ""); };

} // namespace

//===----------------------------------------------------------------------===//
// The same for each number of threads
//===----------------------------------------------------------------------===//

TEST(Parallel, TicketsOfAtomics) {
  std::set<std::vector<uint32_t>> Orders;
  underThreads({R"(
  mov.u32 %r5, 0;
L:
  atom.global.add.u32 %r6, [%rd1], 1;
  mul.wide.u32 %rd2, %r6, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3+4], %r3;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 4;
  @%p1 bra L;
)",
                "", 4, 32},
               [&](const Left &L) {
                 EndsWell(L);
                 EXPECT_EQ(L.Memory[0], 512u);
                 uint32_t By[4] = {};
                 for (unsigned N = 1; N <= 512; ++N)
                   ++By[L.Memory[N] & 3];
                 for (uint32_t N : By)
                   EXPECT_EQ(N, 128u);
                 Orders.insert(L.Memory);
               });
  EXPECT_GT(Orders.size(), 6u);
}

TEST(Parallel, Locks) {
  // [0] the lock, [1] what it guards: with weak accesses.
  underThreads({R"(
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra End;
  mov.u32 %r5, 0;
L:
  atom.global.cas.b32 %r6, [%rd1], 0, 1;
  setp.ne.u32 %p2, %r6, 0;
  @%p2 bra L;
  membar.gl;
  ld.global.u32 %r7, [%rd1+128];
  add.u32 %r7, %r7, 1;
  st.global.u32 [%rd1+128], %r7;
  membar.gl;
  st.volatile.global.u32 [%rd1], 0;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p3, %r5, 5;
  @%p3 bra L;
End:
)"},
               [](const Left &L) {
                 EndsWell(L);
                 EXPECT_EQ(L.Memory[32], 40u);
               });
}

TEST(Parallel, LastBlockSums) {
  // [0] count, [1] sum, [16..] of each thread.
  underThreads({R"(
  .shared .align 4 .b8 last[4];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  add.u32 %r5, %r1, 1;
  st.global.u32 [%rd3+64], %r5;
  membar.gl;
  bar.sync 0;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra Wait;
  atom.global.inc.u32 %r6, [%rd1], 1000;
  setp.eq.u32 %p2, %r6, 7;
  selp.u32 %r7, 1, 0, %p2;
  st.shared.u32 [last], %r7;
Wait:
  bar.sync 0;
  ld.shared.u32 %r8, [last];
  setp.eq.u32 %p3, %r8, 0;
  @%p3 bra End;
  membar.gl;
  mov.u32 %r9, %r2;
L:
  mul.wide.u32 %rd4, %r9, 4;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.u32 %r10, [%rd5+64];
  red.global.add.u32 [%rd1+4], %r10;
  add.u32 %r9, %r9, %r4;
  setp.lt.u32 %p4, %r9, 512;
  @%p4 bra L;
End:
)"},
               [](const Left &L) {
                 EndsWell(L);
                 EXPECT_EQ(L.Memory[1], 512u * 513 / 2);
               });
}

TEST(Parallel, ProducerAndConsumers) {
  underThreads({R"(
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra Consume;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  mad.lo.u32 %r5, %r2, 3, 7;
  st.global.u32 [%rd3+256], %r5;
  bar.sync 0;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra End;
  fence.acq_rel.gpu;
  st.relaxed.gpu.global.u32 [%rd1], 1;
  bra End;
Consume:
  ld.acquire.gpu.global.u32 %r6, [%rd1];
  setp.eq.u32 %p3, %r6, 0;
  @%p3 bra Consume;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r7, [%rd3+256];
  red.global.add.u32 [%rd1+4], %r7;
End:
)"},
               [](const Left &L) {
                 EndsWell(L);
                 EXPECT_EQ(L.Memory[1], 7u * (64 * 7 + 3 * 63 * 32));
               });
}

TEST(Parallel, Races) {
  // Each thread adds to words of others, without any order.
  std::set<std::vector<uint32_t>> All;
  underThreads({R"(
  mov.u32 %r5, 0;
L:
  mad.lo.u32 %r6, %r5, 37, %r1;
  and.b32 %r6, %r6, 63;
  mul.wide.u32 %rd2, %r6, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r7, [%rd3];
  add.u32 %r7, %r7, 1;
  st.global.u32 [%rd3], %r7;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 40;
  @%p1 bra L;
)"},
               [&](const Left &L) {
                 EndsWell(L);
                 All.insert(L.Memory);
               });
  EXPECT_GT(All.size(), 6u);
}

TEST(Parallel, Clocks) {
  underThreads({R"(
  mul.wide.u32 %rd2, %r1, 8;
  add.s64 %rd3, %rd1, %rd2;
  nanosleep.u32 %r1;
  mov.u64 %rd4, %globaltimer;
  mov.u64 %rd5, %clock64;
  xor.b64 %rd4, %rd4, %rd5;
  st.global.u64 [%rd3], %rd4;
)"},
               EndsWell);
}

TEST(Parallel, PrintfAndMalloc) {
  underThreads({R"(
  .local .align 8 .b8 args[8];
  mov.u64 %rd5, args;
  cvta.local.u64 %rd6, %rd5;
  mov.b64 %rd7, 64;
  { .param .b64 n; .param .b64 r;
    st.param.b64 [n], %rd7;
    call.uni (r), malloc, (n); ld.param.b64 %rd8, [r]; }
  st.u32 [%rd8+60], %r1;
  ld.u32 %r5, [%rd8+60];
  st.local.u32 [args], %r5;
  { .param .b64 n; st.param.b64 [n], %rd8; call.uni free, (n); }
  mov.u64 %rd7, format;
  { .param .b64 a; .param .b64 b; .param .b32 r;
    st.param.b64 [a], %rd7; st.param.b64 [b], %rd6;
    call.uni (r), vprintf, (a, b); ld.param.b32 %r9, [r]; }
)",
                R"(
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.global .align 1 .b8 format[4] = {37, 100, 32, 0};
)",
                6, 20},
               [](const Left &L) {
                 EndsWell(L);
                 std::set<unsigned> Seen;
                 for (const char *P = L.Printed.c_str(); *P; ++P) {
                   char *End = nullptr;
                   Seen.insert(unsigned(std::strtoul(P, &End, 10)));
                   P = End;
                 }
                 EXPECT_EQ(Seen.size(), 120u);
               });
}

TEST(Parallel, Faults) {
  // Several blocks fault in the same round; others are at work.
  std::set<std::string> All;
  underThreads({R"(
  mov.u32 %r5, 0;
L:
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 100;
  @%p1 bra L;
  and.b32 %r6, %r3, 1;
  setp.eq.u32 %p2, %r6, 0;
  @%p2 bra L2;
  ld.global.u32 %r7, [0];
L2:
  st.global.u32 [%rd1], %r5;
)"},
               [&](const Left &L) {
                 EXPECT_NE(L.Fault.find("null pointer"), std::string::npos);
                 All.insert(L.Fault);
               });
  EXPECT_GT(All.size(), 1u);
}

TEST(Parallel, SpinningForeverHitsTheStepLimit) {
  Program P{R"(
L:
  ld.volatile.global.u32 %r5, [%rd1];
  setp.eq.u32 %p1, %r5, 0;
  @%p1 bra L;
)"};
  Left One = run(P, 1, 1);
  EXPECT_NE(One.Fault.find("warp instructions"), std::string::npos);
  EXPECT_EQ(One, run(P, 1, 2));
}

TEST(Parallel, BulkCopies) {
  // Global memory that the block has just written, to shared and back.
  underThreads({R"(
  .shared .align 16 .b8 s[64];
  .shared .align 8 .b64 bar;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra End;
  mul.wide.u32 %rd2, %r3, 256;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3+16], 5;
  st.global.u32 [%rd3+76], %r3;
  add.s64 %rd4, %rd3, 16;
  mbarrier.init.shared.b64 [bar], 1;
  mov.u32 %r5, bar;
  mov.u32 %r6, s;
  mbarrier.arrive.expect_tx.shared.b64 %rd5, [bar], 64;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%rd4], 64, [%r5];
W:
  mbarrier.try_wait.shared.b64 %p2, [bar], %rd5;
  @!%p2 bra W;
  add.s64 %rd6, %rd3, 128;
  cp.async.bulk.global.shared::cta.bulk_group [%rd6], [%r6], 64;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ld.global.u32 %r7, [%rd3+128];
  st.global.u32 [%rd3+252], %r7;
End:
)"},
               [](const Left &L) {
                 EndsWell(L);
                 for (unsigned B = 0; B < 8; ++B) {
                   EXPECT_EQ(L.Memory[B * 64 + 32], 5u);
                   EXPECT_EQ(L.Memory[B * 64 + 47], B);
                   EXPECT_EQ(L.Memory[B * 64 + 63], 5u);
                 }
               });
}

//===----------------------------------------------------------------------===//
// The memory model
//===----------------------------------------------------------------------===//

/// Two blocks; each writes its word and reads the other's. How many runs of
/// some give 0 twice.
static unsigned bothZero(const std::string &Between) {
  Program P{R"(
  shl.b32 %r5, %r3, 8;
  cvt.u64.u32 %rd2, %r5;
  xor.b32 %r6, %r5, 256;
  cvt.u64.u32 %rd3, %r6;
  add.s64 %rd2, %rd1, %rd2;
  add.s64 %rd3, %rd1, %rd3;
  st.relaxed.gpu.global.u32 [%rd2], 1;
)" + Between + R"(
  ld.relaxed.gpu.global.u32 %r7, [%rd3];
  st.global.u32 [%rd2+4], %r7;
)",
            "", 2, 1};
  unsigned Count = 0;
  for (uint64_t Seed = 0; Seed < 60; ++Seed) {
    Left L = run(P, Seed, 2);
    Count += L.Memory[1] == 0 && L.Memory[65] == 0;
  }
  return Count;
}

TEST(Parallel, FencesStopStoreBuffering) {
  EXPECT_GT(bothZero(""), 0u);
  EXPECT_GT(bothZero("fence.acq_rel.gpu;"), 0u);
  EXPECT_EQ(bothZero("fence.sc.gpu;"), 0u);
  EXPECT_EQ(bothZero("membar.gl;"), 0u);
}

TEST(Parallel, AnObserverSeesOneOrder) {
  const std::string Body = R"(
  atom.global.add.u32 %r6, [%rd1], 1;
  mul.wide.u32 %rd2, %r6, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3+4], %r1;
)";
  auto Memory = [&](bool InRounds, bool IsObserved) {
    Options O;
    O.InRounds = InRounds;
    Harness H(O);
    Observer Nothing;
    if (IsObserved)
      H.M.setObserver(&Nothing);
    H.loadBody(Body);
    auto *A = H.array<uint32_t>(257);
    H.runWell(A, 4, 64);
    std::vector<uint32_t> All(A, A + 257);
    H.M.setObserver(nullptr);
    return All;
  };
  auto Sequential = Memory(false, false);
  EXPECT_EQ(Memory(true, true), Sequential);
  EXPECT_NE(Memory(true, false), Sequential);
}

//===----------------------------------------------------------------------===//
// Store buffers
//===----------------------------------------------------------------------===//

TEST(StoreBuffer, IsReadThroughAndCommitted) {
  alignas(64) uint8_t Memory[4096], Expected[4096];
  std::iota(std::begin(Memory), std::end(Memory), uint8_t(0));
  std::memcpy(Expected, Memory, sizeof Memory);
  const uint64_t Base = reinterpret_cast<uint64_t>(Memory);
  StoreBuffer B;
  uint32_t Number = 1;
  auto Next = [&](uint32_t Below) {
    Number = Number * 1664525 + 1013904223;
    return uint32_t(uint64_t(Number) * Below >> 32);
  };
  for (unsigned Round = 0; Round < 20; ++Round) {
    uint8_t Before[4096];
    std::memcpy(Before, Memory, sizeof Memory);
    for (unsigned N = 0; N < 500; ++N) {
      // Unaligned ones too: they may lie in two lines.
      uint32_t Size = 1 + Next(32), At = Next(4096 - Size);
      uint8_t Value = uint8_t(Next(256));
      switch (Next(4)) {
      case 0:
        std::memset(B.at(Base + At, Size, false, true), Value, Size);
        std::memset(Expected + At, Value, Size);
        break;
      case 1:
        *(B.at(Base + At, Size, true, true) + Size / 2) = Value;
        Expected[At + Size / 2] = Value;
        break;
      default:
        ASSERT_EQ(std::memcmp(B.at(Base + At, Size, true, false), Expected + At,
                              Size),
                  0);
      }
    }
    ASSERT_EQ(std::memcmp(Memory, Before, sizeof Memory), 0);
    uint8_t All[4096];
    B.read(All, Base, sizeof All);
    ASSERT_EQ(std::memcmp(All, Expected, sizeof All), 0);
    B.commit();
    ASSERT_EQ(std::memcmp(Memory, Expected, sizeof Memory), 0);
  }
}
