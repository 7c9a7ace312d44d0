// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Faults, schedules, streams.
#include "Harness.h"

#include <set>

using namespace crsan::sim;
using Policy = Options::Policy;

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

TEST(Faults, NameWhereCodeWasInlined) {
  Harness H;
  H.load(R"(
.visible .entry k(.param .u64 p)
{
  .loc 1 9 5  // b.h:9:5 @[ b.h:20:3 @[ /d/a.cu:30:1 ] ]
  trap;
}
.file 1 "/d/b.h"
)");
  auto Bad = H.run(H.array<uint32_t>(1), 1, 1);
  ASSERT_TRUE(Bad);
  std::string Where;
  for (const SourceLine &L : Bad->Where)
    Where += L.File + ':' + std::to_string(L.Line) + '(' + L.Function + ") ";
  EXPECT_EQ(Where, "/d/b.h:9() /d/b.h:20() /d/a.cu:30(k) ");
}

TEST(Faults, OthersToo) {
  struct {
    const char *Body;
    Fault::Kind Kind;
  } Cases[] = {
      {"ld.global.u32 %r5, [%rd1+2];", Fault::Kind::Misaligned},
      {"ld.param.u32 %r5, [p+2];", Fault::Kind::Misaligned},
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

// Addresses of shared memory have 32 bits, and wrap.
TEST(Addresses, SharedMemoryWraps) {
  Harness H;
  H.loadBody(R"(
  .shared .align 4 .b8 s[8];
  mov.u32 %r5, s;
  add.s32 %r5, %r5, -64;
  st.shared.u32 [%r5+64], 7;
  cvt.u64.u32 %rd4, %r5;
  cvta.shared.u64 %rd4, %rd4;
  add.s64 %rd4, %rd4, 64;
  cvt.u32.u64 %r6, %rd4;
  ld.shared.u32 %r7, [%r6];
  ld.shared.u32 %r8, [s];
  add.u32 %r7, %r7, %r8;
  st.global.u32 [%rd1], %r7;)");
  auto *A = H.array<uint32_t>(1);
  H.runWell(A, 1, 1);
  EXPECT_EQ(A[0], 14u);
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

namespace {
/// Writes down which streams and operations it is told of.
struct StreamLog : Observer {
  std::string Log;
  void hostEnqueue(Stream S) override { Log += "q" + std::to_string(S); }
  void streamOp(Stream, std::string_view Op, std::span<const HostRange>,
                std::span<const HostRange>, uint32_t) override {
    Log += Op;
  }
  void streamOrder(Stream Earlier, Stream Later) override {
    Log += std::to_string(Earlier) + "<" + std::to_string(Later) + " ";
  }
};
} // namespace

TEST(Streams, TheDefaultStreamComesAfterADestroyedOne) {
  Harness H;
  StreamLog Told;
  H.M.setObserver(&Told);
  const Stream A = H.M.createStream(false);
  H.M.enqueue(A, {"copy", {}, {}, {}});
  H.M.destroyStream(A);
  ASSERT_FALSE(H.M.drive(Machine::Wait::All));
  EXPECT_EQ(Told.Log, "q10<1 copy1<0 ");
}

TEST(Streams, ObserversAreNotToldOfHiddenOperations) {
  Options O;
  O.Hidden = "__own_";
  Harness H(O);
  StreamLog Told;
  H.M.setObserver(&Told);
  bool HasRun = false;
  H.M.enqueue(0, {"__own_mark", [&] { HasRun = true; }, {}, {}});
  ASSERT_FALSE(H.M.drive(Machine::Wait::All));
  EXPECT_TRUE(HasRun);
  EXPECT_EQ(Told.Log, "");
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
