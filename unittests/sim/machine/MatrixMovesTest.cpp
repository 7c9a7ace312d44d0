// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices of a warp in memory.
#include "Harness.h"

#include <set>

using namespace crsan::sim;

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix, movmatrix
//===----------------------------------------------------------------------===//

namespace {

/// Lane L's row of 8 halves at %r20; matrix N of %r2's rows holds N * 64 on.
const char *const FillShared = R"(
  mov.u32 %r20, tile;
  shl.b32 %r21, %r2, 4;
  add.u32 %r20, %r20, %r21;
  shl.b32 %r22, %r2, 3;
  shl.b32 %r23, %r22, 16;
  add.u32 %r22, %r22, %r23;
  add.u32 %r22, %r22, 0x00010000;
  st.shared.u32 [%r20], %r22;
  add.u32 %r22, %r22, 0x00020002;
  st.shared.u32 [%r20+4], %r22;
  add.u32 %r22, %r22, 0x00020002;
  st.shared.u32 [%r20+8], %r22;
  add.u32 %r22, %r22, 0x00020002;
  st.shared.u32 [%r20+12], %r22;
  bar.warp.sync -1;
  mul.wide.u32 %rd10, %r2, 16;
  add.s64 %rd11, %rd1, %rd10;
)";
const char *const Tile = ".shared .align 16 .b8 tile[512];\n";

/// What runs a body after FillShared leaves in 32 times 4 words.
std::vector<uint32_t> runOnTile(const std::string &Body,
                                Observer *Watch = nullptr) {
  Harness H;
  H.loadBody(FillShared + Body, Tile);
  if (Watch)
    H.M.setObserver(Watch);
  auto *P = H.array<uint32_t>(128);
  H.runWell(P, 1, 32);
  return {P, P + 128};
}

const char *const StoreFour = R"(
  st.global.v4.u32 [%rd11], {%r30,%r31,%r32,%r33};)";

} // namespace

TEST(LdMatrix, LanesGetTwoElementsOfARow) {
  auto R = runOnTile(std::string("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                                 "{%r30,%r31,%r32,%r33}, [%r20];") +
                     StoreFour);
  for (unsigned L = 0; L < 32; ++L)
    for (unsigned N = 0; N < 4; ++N) {
      unsigned Low = N * 64 + L / 4 * 8 + L % 4 * 2;
      ASSERT_EQ(R[L * 4 + N], Low | (Low + 1) << 16) << L;
    }
}

TEST(LdMatrix, TransposesAndTakesGenericAddresses) {
  auto R = runOnTile(std::string(R"(
  cvt.u64.u32 %rd12, %r20;
  cvta.shared.u64 %rd12, %rd12;
  mov.u32 %r32, 0;
  mov.u32 %r33, 0;
  ldmatrix.sync.aligned.m8n8.x2.trans.b16 {%r30,%r31}, [%rd12];)") +
                     StoreFour);
  for (unsigned L = 0; L < 32; ++L)
    for (unsigned N = 0; N < 2; ++N) {
      unsigned Low = N * 64 + L % 4 * 16 + L / 4;
      ASSERT_EQ(R[L * 4 + N], Low | (Low + 8) << 16) << L;
    }
}

TEST(StMatrix, UndoesLdMatrix) {
  // Lane L gives row L ^ 1 of the new tile for matrix L / 8.
  for (bool Transposed : {false, true}) {
    std::string T = Transposed ? ".trans" : "";
    auto R = runOnTile("ldmatrix.sync.aligned.m8n8.x4" + T +
                       ".shared.b16 {%r30,%r31,%r32,%r33}, [%r20];\n"
                       "bar.warp.sync -1;\n xor.b32 %r24, %r20, 16;\n"
                       "stmatrix.sync.aligned.m8n8.x4" +
                       T +
                       ".shared.b16 [%r24], {%r30,%r31,%r32,%r33};\n"
                       "bar.warp.sync -1;\n"
                       "ld.shared.v4.u32 {%r30,%r31,%r32,%r33}, [%r20];" +
                       StoreFour);
    for (unsigned L = 0; L < 32; ++L)
      ASSERT_EQ(R[L * 4], (L ^ 1) * 8 | ((L ^ 1) * 8 + 1) << 16) << L;
  }
}

TEST(MovMatrix, Transposes) {
  auto R = runOnTile(std::string(R"(
  shl.b32 %r30, %r2, 1;
  add.u32 %r31, %r30, 1;
  shl.b32 %r31, %r31, 16;
  or.b32 %r30, %r30, %r31;
  mov.u32 %r31, 0;
  mov.u32 %r32, 0;
  mov.u32 %r33, 0;
  movmatrix.sync.aligned.m8n8.trans.b16 %r30, %r30;)") +
                     StoreFour);
  for (unsigned L = 0; L < 32; ++L) {
    unsigned Low = L % 4 * 16 + L / 4;
    ASSERT_EQ(R[L * 4], Low | (Low + 8) << 16) << L;
  }
}

//===----------------------------------------------------------------------===//
// What others see of them
//===----------------------------------------------------------------------===//

namespace {
struct MoveRecorder : Observer {
  struct Seen {
    uint32_t Lane;
    Access What;
  };
  std::vector<Seen> All;
  void access(const ThreadRef &T, const Access &A) override {
    All.push_back({T.Thread, A});
  }
};
} // namespace

TEST(Matrix, RowsAreReadByTheLanesThatGetTheirElements) {
  for (const bool IsTransposed : {false, true}) {
    MoveRecorder R;
    runOnTile(std::string("ldmatrix.sync.aligned.m8n8.x2") +
                  (IsTransposed ? ".trans" : "") +
                  ".shared.b16 {%r30,%r31}, [%r20];",
              &R);
    std::set<unsigned> Offsets;
    for (const auto &[Lane, A] : R.All)
      if (A.reads() && A.Space == Space::Shared) {
        const unsigned Offset = A.Address & 0x1FF, Row = Offset / 16 % 8;
        const unsigned Column = Offset / 2 % 8;
        EXPECT_EQ(A.Size, IsTransposed ? 2u : 4u);
        EXPECT_EQ(Lane,
                  IsTransposed ? Column * 4 + Row / 2 : Row * 4 + Column / 2);
        EXPECT_TRUE(Offsets.insert(Offset).second) << Offset;
      }
    EXPECT_EQ(Offsets.size(), IsTransposed ? 128u : 64u);
  }
}

TEST(Matrix, FragmentsAreReadAndWrittenByTheirLanes) {
  MoveRecorder R;
  Harness H;
  H.loadBody(R"(
  wmma.load.c.sync.aligned.row.m16n16k16.global.f32
    {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}, [%rd1], 16;
  wmma.store.d.sync.aligned.col.m16n16k16.global.f32
    [%rd1], {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}, 16;)");
  H.M.setObserver(&R);
  auto *P = H.array<float>(256);
  for (unsigned N = 0; N < 256; ++N)
    P[N] = float(N);
  H.runWell(P, 1, 32);
  unsigned Read = 0, Written = 0;
  for (const auto &[Lane, A] : R.All)
    (A.reads() ? Read : Written) += A.Size;
  EXPECT_EQ(Read, 1024u);
  EXPECT_EQ(Written, 1024u);
  for (unsigned N = 0; N < 256; ++N)
    EXPECT_EQ(P[N], float(N % 16 * 16 + N / 16));
}

TEST(Matrix, LanesThatComeLaterAreWaitedFor) {
  for (uint64_t Seed = 0; Seed < 10; ++Seed) {
    Options O;
    O.Seed = Seed;
    Harness H(O);
    H.loadBody(R"(
  setp.lt.u32 %p1, %r2, 7;
  mov.u32 %r30, 1;
  @%p1 bra Late;
  bra.uni Go;
Late:
  atom.global.add.u32 %r31, [%rd1+128], 1;
  mov.u32 %r30, 1;
Go:
  mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32
    {%r10,%r11}, {%r30}, {%r30}, {0, 0};
  mul.wide.u32 %rd10, %r2, 4;
  add.s64 %rd11, %rd1, %rd10;
  st.global.u32 [%rd11], %r10;)");
    auto *P = H.array<uint32_t>(33);
    H.runWell(P, 1, 32);
    for (unsigned N = 0; N < 32; ++N)
      ASSERT_EQ(P[N], 4u);
  }
}

TEST(Matrix, WarpsThatAreNotWholeFault) {
  Harness H;
  H.loadBody("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "
             "{%r10,%r11}, {%r30}, {%r30}, {0, 0};");
  auto Bad = H.run(nullptr, 1, 20);
  ASSERT_TRUE(Bad);
  EXPECT_EQ(Bad->What, Fault::Kind::BarrierDivergence);
}

TEST(Matrix, AddressesAreChecked) {
  auto FaultOf = [](const std::string &Body) {
    Harness H;
    H.loadBody(Body, Tile);
    auto Bad = H.run(H.array<uint32_t>(64), 1, 32);
    return Bad ? Bad->What : Fault::Kind::Assert;
  };
  EXPECT_EQ(FaultOf("mov.u32 %r20, tile;"
                    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r30}, "
                    "[%r20+8];"),
            Fault::Kind::Misaligned);
  EXPECT_EQ(FaultOf("ldmatrix.sync.aligned.m8n8.x1.b16 {%r30}, [%rd1];"),
            Fault::Kind::InvalidAddress);
  EXPECT_EQ(FaultOf("wmma.load.b.sync.aligned.row.m16n16k16.s8 {%r30,%r31}, "
                    "[%rd1], 64;"),
            Fault::Kind::InvalidAddress);
  EXPECT_EQ(FaultOf("wmma.load.b.sync.aligned.row.m16n16k16.s8 {%r30,%r31}, "
                    "[%rd1], %r2;"),
            Fault::Kind::Unsupported);
}

TEST(Matrix, OthersAreNamedErrors) {
  for (const char *Op :
       {"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r10,%r11}, {%r30}, "
        "{%r30}, {%r12,%r13};",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%r10,%r11,%r12,%r13}, {%r20,%r21}, {%r20,%r21}, "
        "{%r10,%r11,%r12,%r13}, %r30, 0;",
        "wgmma.fence.sync.aligned;",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r10,%r11}, "
        "[%r20];"}) {
    Harness H;
    H.loadBody(Op);
    auto Bad = H.run(nullptr, 1, 32);
    ASSERT_TRUE(Bad);
    EXPECT_EQ(Bad->What, Fault::Kind::UnknownInstruction);
    EXPECT_NE(Bad->Message.find(std::string_view(Op).substr(0, 20)),
              std::string::npos)
        << Bad->Message;
  }
}
