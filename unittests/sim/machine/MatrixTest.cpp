// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix instructions of a warp.
#include "Harness.h"

#include "ops/Numbers.h"

#include "PTX/AST.h"

#include <bit>
#include <random>

using namespace crsan::sim;
using crsan::ptx::ScalarType;

namespace {

using Matrix = std::vector<double>;

uint64_t encode(double V, ScalarType T) {
  switch (T) {
  case ScalarType::F16:
    return narrow(V, Half, Rounding::Nearest);
  case ScalarType::BF16:
    return narrow(V, Brain, Rounding::Nearest);
  case ScalarType::E4M3:
    return narrow(V, E4M3, Rounding::Nearest);
  case ScalarType::E5M2:
    return narrow(V, E5M2, Rounding::Nearest);
  case ScalarType::F32:
    return std::bit_cast<uint32_t>(float(V));
  case ScalarType::TF32: // With bits that the unit must not see.
    return std::bit_cast<uint32_t>(float(V)) | 0x1FFF;
  case ScalarType::F64:
    return std::bit_cast<uint64_t>(V);
  default:
    return uint64_t(int64_t(V));
  }
}

double decode(uint64_t Bits, ScalarType T) {
  switch (T) {
  case ScalarType::F16:
    return widen(uint32_t(Bits), Half);
  case ScalarType::F32:
    return std::bit_cast<float>(uint32_t(Bits));
  case ScalarType::F64:
    return std::bit_cast<double>(Bits);
  default:
    return int32_t(Bits);
  }
}

Matrix randomMatrix(size_t Count, bool IsUnsigned, unsigned Seed) {
  std::mt19937 Dice(Seed);
  Matrix R(Count);
  for (double &V : R)
    V = int(Dice() % 9) - (IsUnsigned ? 0 : 4);
  return R;
}

/// All by rows.
Matrix multiply(const Matrix &A, const Matrix &B, const Matrix &C, unsigned M,
                unsigned N, unsigned K) {
  Matrix D = C;
  for (unsigned I = 0; I < M; ++I)
    for (unsigned J = 0; J < N; ++J)
      for (unsigned X = 0; X < K; ++X)
        D[I * N + J] += A[I * K + X] * B[X * N + J];
  return D;
}

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

struct At {
  int Row, Column;
};
/// Of an element's number in a lane, as PTX ISA gives it for each shape: G is
/// the lane's group of four, T its place there.
using Fragment = At (*)(int G, int T, int I);

struct MmaCase {
  const char *Op;
  unsigned M, N, K;
  ScalarType A, B, C, D;
  int InA, InB, InC; ///< Elements in a lane.
  Fragment PlaceA, PlaceB, PlaceC;
};

constexpr At inC(int G, int T, int I) {
  return {I < 2 ? G : G + 8, T * 2 + (I & 1)};
}
constexpr At inHalfK8A(int G, int T, int I) {
  return {I < 2 ? G : G + 8, T * 2 + (I & 1)};
}
constexpr At inHalfK8B(int G, int T, int I) { return {T * 2 + I, G}; }
constexpr At inHalfK16A(int G, int T, int I) {
  return {I < 2 || (I >= 4 && I < 6) ? G : G + 8,
          T * 2 + (I & 1) + (I < 4 ? 0 : 8)};
}
constexpr At inHalfK16B(int G, int T, int I) {
  return {T * 2 + (I & 1) + (I < 2 ? 0 : 8), G};
}
constexpr At inWordK4A(int G, int T, int I) { return {I ? G + 8 : G, T}; }
constexpr At inWordK4B(int G, int T, int) { return {T, G}; }
constexpr At inWordK8A(int G, int T, int I) {
  return {I == 0 || I == 2 ? G : G + 8, I < 2 ? T : T + 4};
}
constexpr At inWordK8B(int G, int T, int I) { return {I ? T + 4 : T, G}; }
constexpr At inByteK16A(int G, int T, int I) {
  return {I < 4 ? G : G + 8, T * 4 + (I & 3)};
}
constexpr At inByteK16B(int G, int T, int I) { return {T * 4 + I, G}; }
constexpr At inByteK32A(int G, int T, int I) {
  return {I < 4 || (I >= 8 && I < 12) ? G : G + 8,
          T * 4 + (I & 3) + (I < 8 ? 0 : 16)};
}
constexpr At inByteK32B(int G, int T, int I) {
  return {T * 4 + (I & 3) + (I < 4 ? 0 : 16), G};
}
constexpr At inSmallByteA(int G, int T, int I) { return {G, T * 4 + I}; }
constexpr At inSmallC(int G, int T, int I) { return {G, T * 2 + I}; }
constexpr At inSmallDoubleA(int G, int T, int) { return {G, T}; }
constexpr At inDoubleK16A(int G, int T, int I) {
  return {I % 2 ? G + 8 : G, I / 2 * 4 + T};
}
constexpr At inDoubleK16B(int G, int T, int I) { return {I * 4 + T, G}; }

using enum ScalarType;
const MmaCase MmaCases[] = {
    {"m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 8, F16, F16, F16, F16, 4, 2, 4,
     inHalfK8A, inHalfK8B, inC},
    {"m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, F16, F16, F32, F32, 4, 2, 4,
     inHalfK8A, inHalfK8B, inC},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, F16, F16, F16, F16, 8, 4, 4,
     inHalfK16A, inHalfK16B, inC},
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, F16, F16, F32, F32, 8, 4, 4,
     inHalfK16A, inHalfK16B, inC},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 8, BF16, BF16, F32, F32, 4, 2,
     4, inHalfK8A, inHalfK8B, inC},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, BF16, BF16, F32, F32, 8,
     4, 4, inHalfK16A, inHalfK16B, inC},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, TF32, TF32, F32, F32, 2, 1,
     4, inWordK4A, inWordK4B, inC},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, TF32, TF32, F32, F32, 4, 2,
     4, inWordK8A, inWordK8B, inC},
    {"m16n8k16.row.col.s32.s8.s8.s32", 16, 8, 16, S8, S8, S32, S32, 8, 4, 4,
     inByteK16A, inByteK16B, inC},
    {"m16n8k32.row.col.satfinite.s32.u8.s8.s32", 16, 8, 32, U8, S8, S32, S32,
     16, 8, 4, inByteK32A, inByteK32B, inC},
    {"m8n8k16.row.col.s32.s8.u8.s32", 8, 8, 16, S8, U8, S32, S32, 4, 4, 2,
     inSmallByteA, inByteK16B, inSmallC},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 8, 32, E4M3, E5M2, F32, F32, 16,
     8, 4, inByteK32A, inByteK32B, inC},
    {"m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, F64, F64, F64, F64, 1, 1, 2,
     inSmallDoubleA, inWordK4B, inSmallC},
    {"m16n8k4.row.col.f64.f64.f64.f64", 16, 8, 4, F64, F64, F64, F64, 2, 1, 4,
     inWordK4A, inWordK4B, inC},
    {"m16n8k16.row.col.f64.f64.f64.f64", 16, 8, 16, F64, F64, F64, F64, 8, 4, 4,
     inDoubleK16A, inDoubleK16B, inC},
};

/// What lanes have in registers, and PTX that gets it there.
class Lanes {
public:
  static constexpr unsigned Stride = 256; ///< Bytes of a lane.

  Lanes() {
    Text = "mul.wide.u32 %rd10, %r2, 256;\n add.s64 %rd11, %rd1, %rd10;\n";
  }
  /// Registers for so many elements; they are named in braces.
  std::string add(unsigned Elements, ScalarType T, bool IsResult) {
    const unsigned Size = sizeOf(T), Word = Size == 8 ? 8 : 4;
    std::string Names;
    for (unsigned At = 0; At < Elements * Size; At += Word) {
      std::string Name =
          (Word == 8 ? "%rd" : "%r") + std::to_string(20 + NextRegister++);
      Names += (At ? "," : "{") + Name;
      std::string Place = "[%rd11+" + std::to_string(Used + At) + "]",
                  Type = Word == 8 ? "b64 " : "b32 ";
      (IsResult ? After : Text) +=
          IsResult ? "st.global." + Type + Place + "," + Name + ";\n"
                   : "ld.global." + Type + Name + "," + Place + ";\n";
    }
    Used += Elements * Size;
    return Names + "}";
  }
  unsigned used() const { return Used; }
  std::string body(const std::string &Op) const { return Text + Op + After; }

private:
  std::string Text, After;
  unsigned NextRegister = 0, Used = 0;
};

void testMma(const MmaCase &T) {
  SCOPED_TRACE(T.Op);
  Lanes L;
  const unsigned AtD = L.used();
  std::string D = L.add(T.InC, T.D, true);
  const unsigned AtA = L.used();
  std::string A = L.add(T.InA, T.A, false);
  const unsigned AtB = L.used();
  std::string B = L.add(T.InB, T.B, false);
  const unsigned AtC = L.used();
  std::string C = L.add(T.InC, T.C, false);
  Harness H;
  H.loadBody(L.body(std::string("mma.sync.aligned.") + T.Op + " " + D + "," +
                    A + "," + B + "," + C + ";\n"));
  Matrix MA = randomMatrix(T.M * T.K, T.A == U8, 1),
         MB = randomMatrix(T.K * T.N, T.B == U8, 2),
         MC = randomMatrix(T.M * T.N, false, 3);
  auto *P = H.array<uint8_t>(32 * Lanes::Stride);
  for (int Lane = 0; Lane < 32; ++Lane) {
    auto Put = [&](const Matrix &From, unsigned Columns, unsigned To,
                   Fragment Place, int Count, ScalarType Type) {
      for (int I = 0; I < Count; ++I) {
        At X = Place(Lane / 4, Lane % 4, I);
        uint64_t V = encode(From.at(X.Row * Columns + X.Column), Type);
        std::memcpy(P + Lane * Lanes::Stride + To + I * sizeOf(Type), &V,
                    sizeOf(Type));
      }
    };
    Put(MA, T.K, AtA, T.PlaceA, T.InA, T.A);
    Put(MB, T.N, AtB, T.PlaceB, T.InB, T.B);
    Put(MC, T.N, AtC, T.PlaceC, T.InC, T.C);
  }
  H.runWell(P, 1, 32);
  Matrix MD = multiply(MA, MB, MC, T.M, T.N, T.K);
  for (int Lane = 0; Lane < 32; ++Lane)
    for (int I = 0; I < T.InC; ++I) {
      At X = T.PlaceC(Lane / 4, Lane % 4, I);
      uint64_t V = 0;
      std::memcpy(&V, P + Lane * Lanes::Stride + AtD + I * sizeOf(T.D),
                  sizeOf(T.D));
      ASSERT_EQ(decode(V, T.D), MD[X.Row * T.N + X.Column])
          << "lane " << Lane << ", element " << I;
    }
}

} // namespace

TEST(Mma, AgreesWithTheHost) {
  for (const MmaCase &T : MmaCases)
    testMma(T);
}

TEST(Mma, FourProductsOfM8N8K4) {
  for (bool ARow : {true, false})
    for (bool BRow : {true, false})
      for (bool IsSingle : {true, false}) {
        ScalarType TC = IsSingle ? F32 : F16;
        Lanes L;
        std::string D = L.add(8, TC, true);
        const unsigned AtA = L.used();
        std::string A = L.add(4, F16, false);
        const unsigned AtB = L.used();
        std::string B = L.add(4, F16, false);
        const unsigned AtC = L.used();
        std::string C = L.add(8, TC, false), Type = IsSingle ? "f32" : "f16";
        Harness H;
        H.loadBody(L.body(std::string("mma.sync.aligned.m8n8k4.") +
                          (ARow ? "row." : "col.") + (BRow ? "row." : "col.") +
                          Type + ".f16.f16." + Type + " " + D + "," + A + "," +
                          B + "," + C + ";\n"));
        auto *P = H.array<uint8_t>(32 * Lanes::Stride);
        std::vector<Matrix> MA, MB, MC;
        for (unsigned Q = 0; Q < 4; ++Q) {
          MA.push_back(randomMatrix(32, false, Q * 3));
          MB.push_back(randomMatrix(32, false, Q * 3 + 1));
          MC.push_back(randomMatrix(64, false, Q * 3 + 2));
        }
        auto InC = [&](int Lane, int I) -> At {
          if (!IsSingle)
            return {Lane % 4 + (Lane < 16 ? 0 : 4), I};
          return {(Lane & 1) + (I & 2) + (Lane < 16 ? 0 : 4),
                  (I & 4) + (Lane & 2) + (I & 1)};
        };
        for (int Lane = 0; Lane < 32; ++Lane) {
          const int Q = Lane % 16 / 4, Half = Lane < 16 ? 0 : 4;
          uint8_t *Mine = P + Lane * Lanes::Stride;
          for (int I = 0; I < 4; ++I) {
            int Row = ARow ? Lane % 4 + Half : I + Half,
                Column = ARow ? I : Lane % 4;
            uint64_t V = encode(MA[Q][Row * 4 + Column], F16);
            std::memcpy(Mine + AtA + I * 2, &V, 2);
            Row = BRow ? Lane % 4 : I;
            Column = BRow ? I + Half : Lane % 4 + Half;
            V = encode(MB[Q][Row * 8 + Column], F16);
            std::memcpy(Mine + AtB + I * 2, &V, 2);
          }
          for (int I = 0; I < 8; ++I) {
            At X = InC(Lane, I);
            uint64_t V = encode(MC[Q][X.Row * 8 + X.Column], TC);
            std::memcpy(Mine + AtC + I * sizeOf(TC), &V, sizeOf(TC));
          }
        }
        H.runWell(P, 1, 32);
        for (int Lane = 0; Lane < 32; ++Lane)
          for (int I = 0; I < 8; ++I) {
            const int Q = Lane % 16 / 4;
            At X = InC(Lane, I);
            uint64_t V = 0;
            std::memcpy(&V, P + Lane * Lanes::Stride + I * sizeOf(TC),
                        sizeOf(TC));
            ASSERT_EQ(decode(V, TC), multiply(MA[Q], MB[Q], MC[Q], 8, 8,
                                              4)[X.Row * 8 + X.Column])
                << Lane << ", " << I;
          }
      }
}

TEST(Mma, IntegersSaturateIfAsked) {
  for (bool Saturates : {true, false}) {
    Harness H;
    H.loadBody(std::string(R"(
  mov.u32 %r20, 0x7f7f7f7f;
  mul.wide.u32 %rd10, %r2, 4;
  add.s64 %rd11, %rd1, %rd10;
  mma.sync.aligned.m8n8k16.row.col)") +
               (Saturates ? ".satfinite" : "") + R"(.s32.s8.s8.s32
    {%r10,%r11}, {%r20}, {%r20}, {0x7fffffff, 5};
  st.global.u32 [%rd11], %r10;)");
    auto *P = H.array<uint32_t>(32);
    H.runWell(P, 1, 32);
    EXPECT_EQ(P[7], Saturates ? 0x7FFFFFFFu : 0x7FFFFFFFu + 16 * 127 * 127);
  }
}

//===----------------------------------------------------------------------===//
// wmma
//===----------------------------------------------------------------------===//

namespace {

struct WmmaCase {
  unsigned M, N, K;
  ScalarType AB, C, D;
  unsigned InA, InB, InC, InD; ///< Registers.
};

std::string braces(const char *Prefix, unsigned First, unsigned Count) {
  std::string R;
  for (unsigned N = 0; N < Count; ++N)
    R += (N ? "," : "{") + std::string(Prefix) + std::to_string(First + N);
  return R + "}";
}

void testWmma(const WmmaCase &T, bool ARow, bool BRow, bool CRow, bool DRow) {
  auto Name = [](ScalarType X) { return "." + std::string(name(X)); };
  auto Order = [](bool ByRow) { return ByRow ? ".row" : ".col"; };
  const std::string Shape = ".m" + std::to_string(T.M) + "n" +
                            std::to_string(T.N) + "k" + std::to_string(T.K);
  std::string Types = Name(T.D) + Name(T.AB) + Name(T.AB) + Name(T.C);
  if (T.AB == F16)
    Types = Name(T.D) + Name(T.C);
  if (T.AB == F64)
    Types = ".rn" + Types;
  const char *P = T.AB == F64 ? "%rd" : "%r";
  const std::string A = braces(P, 20, T.InA), B = braces(P, 28, T.InB),
                    C = braces("%r", 36, T.InC), D = braces("%r", 44, T.InD),
                    CC = T.AB == F64 ? "{%rd30,%rd31}" : C,
                    DD = T.AB == F64 ? "{%rd32,%rd33}" : D;
  // Each matrix has 4096 bytes, and columns or rows that are 8 longer.
  auto Stride = [](bool ByRow, unsigned Rows, unsigned Columns) {
    return (ByRow ? Columns : Rows) + 8;
  };
  const unsigned SA = Stride(ARow, T.M, T.K), SB = Stride(BRow, T.K, T.N),
                 SC = Stride(CRow, T.M, T.N), SD = Stride(DRow, T.M, T.N);
  std::string Body =
      "wmma.load.a.sync.aligned" + std::string(Order(ARow)) + Shape +
      ".global" + Name(T.AB) + " " + A + ", [%rd1], " + std::to_string(SA) +
      ";\nwmma.load.b.sync.aligned" + Order(BRow) + Shape + Name(T.AB) + " " +
      B + ", [%rd1+4096], " + std::to_string(SB) +
      ";\nwmma.load.c.sync.aligned" + Order(CRow) + Shape + Name(T.C) + " " +
      CC + ", [%rd1+8192], " + std::to_string(SC) + ";\nwmma.mma.sync.aligned" +
      Order(ARow) + Order(BRow) + Shape + Types + " " + DD + "," + A + "," + B +
      "," + CC + ";\nwmma.store.d.sync.aligned" + Order(DRow) + Shape +
      ".global" + Name(T.D) + " [%rd1+12288], " + DD + ", " +
      std::to_string(SD) + ";";
  SCOPED_TRACE(Body);
  Harness H;
  H.loadBody(Body);
  auto *Memory = H.array<uint8_t>(16384);
  Matrix MA = randomMatrix(T.M * T.K, T.AB == U8, 1),
         MB = randomMatrix(T.K * T.N, T.AB == U8, 2),
         MC = randomMatrix(T.M * T.N, false, 3);
  auto Put = [&](uint8_t *To, const Matrix &From, unsigned Columns, bool ByRow,
                 unsigned Leading, ScalarType Type) {
    for (unsigned I = 0; I < From.size(); ++I) {
      uint64_t V = encode(From[I], Type);
      unsigned R = I / Columns, X = I % Columns;
      std::memcpy(To + (ByRow ? R * Leading + X : X * Leading + R) *
                           sizeOf(Type),
                  &V, sizeOf(Type));
    }
  };
  Put(Memory, MA, T.K, ARow, SA, T.AB);
  Put(Memory + 4096, MB, T.N, BRow, SB, T.AB);
  Put(Memory + 8192, MC, T.N, CRow, SC, T.C);
  H.runWell(Memory, 1, 32);
  Matrix MD = multiply(MA, MB, MC, T.M, T.N, T.K);
  for (unsigned I = 0; I < MD.size(); ++I) {
    uint64_t V = 0;
    unsigned R = I / T.N, X = I % T.N;
    std::memcpy(&V,
                Memory + 12288 + (DRow ? R * SD + X : X * SD + R) * sizeOf(T.D),
                sizeOf(T.D));
    ASSERT_EQ(decode(V, T.D), MD[I]) << R << ", " << X;
  }
}

const WmmaCase WmmaCases[] = {
    {16, 16, 16, F16, F32, F32, 8, 8, 8, 8},
    {16, 16, 16, F16, F16, F16, 8, 8, 4, 4},
    {16, 16, 16, F16, F16, F32, 8, 8, 4, 8},
    {32, 8, 16, F16, F32, F16, 8, 8, 8, 4},
    {8, 32, 16, F16, F32, F32, 8, 8, 8, 8},
    {16, 16, 16, BF16, F32, F32, 4, 4, 8, 8},
    {32, 8, 16, BF16, F32, F32, 8, 2, 8, 8},
    {8, 32, 16, BF16, F32, F32, 2, 8, 8, 8},
    {16, 16, 8, TF32, F32, F32, 4, 4, 8, 8},
    {16, 16, 16, S8, S32, S32, 2, 2, 8, 8},
    {32, 8, 16, U8, S32, S32, 4, 1, 8, 8},
    {8, 32, 16, S8, S32, S32, 1, 4, 8, 8},
    {8, 8, 4, F64, F64, F64, 1, 1, 2, 2},
};

} // namespace

TEST(Wmma, AgreesWithTheHostInAllLayouts) {
  for (const WmmaCase &T : WmmaCases)
    for (unsigned Layouts = 0; Layouts < 16; ++Layouts)
      testWmma(T, Layouts & 1, Layouts & 2, Layouts & 4, Layouts & 8);
}
