// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What accesses are by the source.
#include "Harness.h"

using namespace crsan::sim;

namespace {

/// Accesses as an observer is told of them: offset and bytes, "r", "w" or "rw",
/// "a" for an atomic, "?" for one that may be wider.
class Recorder : public Observer {
public:
  explicit Recorder(const void *Base) : Base(uint64_t(Base)) {}
  void access(const ThreadRef &, const Access &A) override {
    Seen += std::to_string(A.Address - Base) + "+" + std::to_string(A.Size);
    Seen += A.isAtomic() ? "a" : "";
    Seen += A.reads() ? "r" : "";
    Seen += A.writes() ? "w" : "";
    Seen += A.MayBeWider ? "? " : " ";
  }

  uint64_t Base;
  std::string Seen;
};

std::string accessesOf(const std::string &Body) {
  Harness H;
  H.loadBody(Body, ".file 1 \"a.cu\"\n");
  auto *A = H.array<uint8_t>(256);
  Recorder R(A);
  H.M.setObserver(&R);
  H.runWell(A, 1, 1);
  H.M.setObserver(nullptr);
  return R.Seen;
}

/// A sub-word atomic as LLVM expands it, of the bytes at %rd1 + At.
std::string expanded(unsigned At, unsigned Mask, bool HasMask = true) {
  return "add.s64 %rd2, %rd1, " + std::to_string(At) + R"(;
  and.b64 %rd3, %rd2, -4;
  cvt.u32.u64 %r10, %rd2;
  and.b32 %r11, %r10, 3;
  shl.b32 %r12, %r11, 3;
  mov.b32 %r13, )" +
         std::to_string(Mask) +
         (HasMask ? R"(;
  shl.b32 %r14, %r13, %r12;
)"
                  : R"(;
  mov.b32 %r15, 1;
  shl.b32 %r14, %r15, %r12;
)");
}

} // namespace

TEST(Idioms, BytesThatALoadDoesNotUse) {
  EXPECT_EQ(accessesOf(R"(
  .pragma "used_bytes_mask 0xf0ff";
  ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%rd1];
  ld.global.v2.b32 {%r5, %r6}, [%rd1];
)"),
            "0+8r 12+4r 0+8r ");
}

TEST(Idioms, ElementsThatAStoreLeavesOut) {
  EXPECT_EQ(accessesOf(R"(
  st.global.v4.b32 [%rd1], {%r1, _, %r1, %r1};
)"),
            "0+4w 8+8w ");
}

TEST(Idioms, PartsOfWords) {
  const std::string Swap = R"(
  ld.global.b32 %r20, [%rd3];
  atom.global.cas.b32 %r21, [%rd3], %r20, %r14;
)";
  EXPECT_EQ(accessesOf(expanded(6, 65535) + Swap), "6+2arw ");
  EXPECT_EQ(accessesOf(expanded(5, 255) + Swap), "5+1arw ");
  EXPECT_EQ(accessesOf(expanded(7, 0, false) +
                       "atom.global.or.b32 %r21, [%rd3], "
                       "%r14;"),
            "7+1arw? ");
}

TEST(Idioms, WhatIsNone) {
  // No compare-and-swap follows.
  EXPECT_EQ(accessesOf(expanded(6, 65535) + "ld.global.b32 %r20, [%rd3];"),
            "4+4r ");
  // Nothing is shifted by what was rounded off.
  EXPECT_EQ(accessesOf(R"(
  and.b64 %rd3, %rd1, -4;
  ld.global.b32 %r20, [%rd3];
  atom.global.cas.b32 %r21, [%rd3], %r20, %r1;
)"),
            "0+4r 0+4arw ");
}

TEST(Idioms, GuessesOfOneLine) {
  EXPECT_EQ(accessesOf(R"(
  .loc 1 5 7
  ld.global.b64 %rd20, [%rd1+8];
  atom.global.cas.b64 %rd21, [%rd1+8], %rd20, %rd20;
)"),
            "8+8arw ");
  // By hand.
  EXPECT_EQ(accessesOf(R"(
  .loc 1 5 7
  ld.global.b64 %rd20, [%rd1+8];
  .loc 1 6 7
  atom.global.cas.b64 %rd21, [%rd1+8], %rd20, %rd20;
)"),
            "8+8r 8+8arw ");
}

//===----------------------------------------------------------------------===//
// Programmatic dependent launch
//===----------------------------------------------------------------------===//

namespace {

constexpr char Pair[] = R"(
.visible .entry first(.param .u64 p)
{
  .reg .pred %p<4>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  griddepcontrol.launch_dependents;
Again:
  ld.relaxed.gpu.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra Again;
  st.global.u32 [%rd1+4], 5;
  ret;
}
.visible .entry second(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  st.relaxed.gpu.global.u32 [%rd1], 1;
  griddepcontrol.wait;
  ld.global.u32 %r1, [%rd1+4];
  st.global.u32 [%rd1+8], %r1;
  ret;
}
)";

} // namespace

TEST(DependentLaunch, OverlapsAndWaits) {
  // The first kernel waits for the second one, which waits for its end.
  underSchedules([](Options O) {
    Harness H(O);
    H.load(Pair);
    auto *A = H.array<uint32_t>(3);
    H.launch(A, 1, 1, 0, "first");
    Launch L;
    L.Kernel = H.M.findKernel(H.Module, "second");
    L.Grid = L.Block = L.Cluster = {1, 1, 1};
    L.MayOverlap = true;
    L.Params.resize(8);
    std::memcpy(L.Params.data(), &A, 8);
    H.M.launch(0, std::move(L));
    auto Bad = H.M.drive(Machine::Wait::All);
    ASSERT_FALSE(Bad.has_value()) << Bad->text();
    EXPECT_EQ(A[2], 5u);
  });
}
