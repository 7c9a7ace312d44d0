// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma and wmma.mma: D = A * B + C by a warp.
//
// PTX leaves open in which order and how exactly the products are summed. Here
// they are exact (other than of f64), summed in double precision, and rounded
// once.
#include "ops/Matrix.h"

#include "ops/Numbers.h"

#include <algorithm>

using namespace crsan::sim;

namespace {

enum class Layout : uint8_t {
  Mma,      ///< Groups of four lanes, as PTX says of m8n8 and m16n8.
  Quads,    ///< mma.m8n8k4 of f16: four products, each by two groups of four.
  Fragments ///< wmma: see Matrix.h.
};
enum Which : unsigned { InD, InA, InB, InC };

/// In Instruction::Imm and Aux.
struct Product {
  uint16_t K = 0;
  uint8_t M = 0, N = 0;
  ScalarType Types[4] = {};     ///< By Which.
  uint8_t NumRegisters[4] = {}; ///< In Instruction::More, one after the other.
  Layout How = Layout::Mma;
  bool AByRow = true, BByRow = false;
  bool SatFinite = false;

  unsigned rows(Which W) const { return W == InB ? K : M; }
  unsigned columns(Which W) const { return W == InA ? K : N; }
};
static_assert(sizeof(Product) == 16);
using ProductWords = std::array<uint64_t, 2>;

struct Position {
  unsigned Row, Column;
};

/// The place of a lane's element number E, of which Per are in a register.
Position positionInMma(const Product &P, Which W, unsigned Lane, unsigned E,
                       unsigned Per) {
  const unsigned Group = Lane / 4, InGroup = Lane % 4, Register = E / Per,
                 Along = InGroup * Per + E % Per;
  switch (W) {
  case InA:
    if (P.M == 16)
      return {Group + Register % 2 * 8, Register / 2 * 4 * Per + Along};
    return {Group, Register * 4 * Per + Along};
  case InB:
    return {Register * 4 * Per + Along, Group};
  default:
    return {Group + E / 2 * 8, InGroup * 2 + E % 2};
  }
}

Position positionInQuads(const Product &P, Which W, unsigned Lane, unsigned E) {
  const unsigned Low = Lane % 4, Half = Lane < 16 ? 0 : 4;
  switch (W) {
  case InA:
    return P.AByRow ? Position{Low + Half, E} : Position{E + Half, Low};
  case InB:
    return P.BByRow ? Position{Low, E + Half} : Position{E, Low + Half};
  default:
    if (P.Types[W] == ScalarType::F16)
      return {Low + Half, E};
    return {(Lane & 1) + (E & 2) + Half, (E & 4) + (Lane & 2) + (E & 1)};
  }
}

Position positionInFragments(const Product &P, Which W, unsigned Lane,
                             unsigned E, unsigned InLane) {
  const unsigned Rows = P.rows(W), Columns = P.columns(W),
                 N = (Lane * InLane + E) % (Rows * Columns);
  bool ByRow = W == InA ? P.AByRow : W == InB ? P.BByRow : true;
  return ByRow ? Position{N / Columns, N % Columns}
               : Position{N % Rows, N / Rows};
}

double toDouble(uint64_t Bits, ScalarType T) {
  switch (T) {
  case ScalarType::F16:
    return halfToFloat(uint16_t(Bits));
  case ScalarType::BF16:
    return brainToFloat(uint16_t(Bits));
  case ScalarType::TF32: // The unit does not see the other bits.
    return std::bit_cast<float>(uint32_t(Bits) & 0xFFFF'E000);
  case ScalarType::F32:
    return std::bit_cast<float>(uint32_t(Bits));
  case ScalarType::E4M3:
    return widen(uint32_t(Bits), E4M3);
  case ScalarType::E5M2:
    return widen(uint32_t(Bits), E5M2);
  case ScalarType::S8:
    return int8_t(Bits);
  case ScalarType::U8:
    return uint8_t(Bits);
  case ScalarType::S32:
    return int32_t(Bits);
  default:
    return std::bit_cast<double>(Bits);
  }
}

uint64_t fromDouble(double V, ScalarType T, bool SatFinite) {
  switch (T) {
  case ScalarType::F16:
    return narrow(V, Half, Rounding::Nearest);
  case ScalarType::F32:
    return std::bit_cast<uint32_t>(canonical(float(V)));
  case ScalarType::S32:
    if (SatFinite)
      V = std::clamp(V, -0x1p31, 0x1p31 - 1);
    return uint32_t(int64_t(V));
  default:
    return std::bit_cast<uint64_t>(V);
  }
}

/// One instruction that is being executed.
class Multiplication {
public:
  Multiplication(Execution &X, const Instruction &I)
      : X(X), P(std::bit_cast<Product>(ProductWords{uint64_t(I.Imm), I.Aux})) {
    const Ref *Next = I.More;
    for (Which W : {InD, InA, InB, InC}) {
      Registers[W] = Next;
      Next += P.NumRegisters[W];
    }
  }

  void run() {
    const unsigned Products = P.How == Layout::Quads ? 4 : 1;
    for (unsigned Q = 0; Q < Products; ++Q) {
      Lanes = P.How == Layout::Quads ? 0x000F'000Fu << Q * 4 : AllLanes;
      read(InA, A);
      read(InB, B);
      read(InC, C);
      multiply();
      write();
    }
  }

private:
  static constexpr unsigned Most = 512; ///< m32k16

  /// Calls F with each element that the lanes hold: lane, number, place.
  template <class Callable> void forElements(Which W, Callable F) {
    const unsigned Size = crsan::ptx::sizeOf(P.Types[W]),
                   Per = Registers[W]->Size / Size,
                   InLane = P.NumRegisters[W] * Per, Columns = P.columns(W);
    forLanes(Lanes, [&](unsigned L) {
      for (unsigned E = 0; E < InLane; ++E) {
        Position At = P.How == Layout::Mma ? positionInMma(P, W, L, E, Per)
                      : P.How == Layout::Quads
                          ? positionInQuads(P, W, L, E)
                          : positionInFragments(P, W, L, E, InLane);
        F(L, E, At.Row * Columns + At.Column, Size);
      }
    });
  }
  void read(Which W, double *To) {
    forElements(W, [&](unsigned L, unsigned E, unsigned At, unsigned Size) {
      To[At] =
          toDouble(fragmentElement(X, Registers[W], L, E, Size), P.Types[W]);
    });
  }
  void multiply() {
    const bool IsDouble = P.Types[InA] == ScalarType::F64;
    for (unsigned Row = 0; Row < P.M; ++Row)
      for (unsigned Inner = 0; Inner < P.K; ++Inner) {
        const double Left = A[Row * P.K + Inner], *Right = B + Inner * P.N;
        double *Sum = C + Row * P.N;
        if (IsDouble)
          for (unsigned N = 0; N < P.N; ++N)
            Sum[N] = std::fma(Left, Right[N], Sum[N]);
        else
          for (unsigned N = 0; N < P.N; ++N)
            Sum[N] += Left * Right[N];
      }
  }
  void write() {
    forElements(InD, [&](unsigned L, unsigned E, unsigned At, unsigned Size) {
      setFragmentElement(X, Registers[InD], L, E, Size,
                         fromDouble(C[At], P.Types[InD], P.SatFinite));
    });
  }

  Execution &X;
  const Product P;
  const Ref *Registers[4] = {};
  uint32_t Lanes = AllLanes;
  double A[Most], B[Most], C[Most];
};

Outcome multiplyOp(Execution &X, const Instruction &I) {
  return byWholeWarp(X, I, [&] {
    Multiplication(X, I).run();
    return Outcome::Next;
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

bool isByte(ScalarType T) { return T == ScalarType::S8 || T == ScalarType::U8; }
bool isFloatByte(ScalarType T) {
  return T == ScalarType::E4M3 || T == ScalarType::E5M2;
}

bool areTypesKnown(const Product &P) {
  const ScalarType A = P.Types[InA], B = P.Types[InB], C = P.Types[InC],
                   D = P.Types[InD];
  auto IsHalfOrSingle = [](ScalarType T) {
    return T == ScalarType::F16 || T == ScalarType::F32;
  };
  if (isByte(A))
    return isByte(B) && C == ScalarType::S32 && D == ScalarType::S32;
  if (isFloatByte(A))
    return isFloatByte(B) && IsHalfOrSingle(C) && C == D;
  if (A != B || P.SatFinite)
    return false;
  switch (A) {
  case ScalarType::F16:
    return IsHalfOrSingle(C) && IsHalfOrSingle(D);
  case ScalarType::BF16:
  case ScalarType::TF32:
    return C == ScalarType::F32 && D == ScalarType::F32;
  case ScalarType::F64:
    return C == ScalarType::F64 && D == ScalarType::F64;
  default:
    return false;
  }
}

bool isShapeKnown(std::string_view Shape, ScalarType A, bool IsFragments) {
  auto Is = [&](std::initializer_list<std::string_view> Known) {
    return std::find(Known.begin(), Known.end(), Shape) != Known.end();
  };
  if (IsFragments) {
    if (A == ScalarType::TF32)
      return Is({"m16n16k8"});
    if (A == ScalarType::F64)
      return Is({"m8n8k4"});
    return !isFloatByte(A) && Is({"m16n16k16", "m32n8k16", "m8n32k16"});
  }
  switch (A) {
  case ScalarType::F16:
    return Is({"m8n8k4", "m16n8k8", "m16n8k16"});
  case ScalarType::BF16:
    return Is({"m16n8k8", "m16n8k16"});
  case ScalarType::TF32:
    return Is({"m16n8k4", "m16n8k8"});
  case ScalarType::F64:
    return Is({"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"});
  default:
    return isFloatByte(A) ? Is({"m16n8k16", "m16n8k32"})
                          : Is({"m8n8k16", "m16n8k16", "m16n8k32"});
  }
}

/// The registers that the operands must have.
bool hasRightRegisters(const Product &P) {
  for (Which W : {InD, InA, InB, InC}) {
    const unsigned Size = crsan::ptx::sizeOf(P.Types[W]),
                   Bytes = P.NumRegisters[W] * (Size == 8 ? 8 : 4) * WarpSize,
                   Whole = P.rows(W) * P.columns(W) * Size;
    bool Fits = P.How == Layout::Quads       ? Bytes == Whole * 4
                : P.How == Layout::Fragments ? Bytes && Bytes % Whole == 0
                                             : Bytes == Whole;
    if (!Fits)
      return false;
  }
  return true;
}

/// The next of row and col, as they are written.
std::optional<bool> takeIsByRow(Decoder &D, unsigned Which) {
  for (std::string_view M : D.instruction().Modifiers)
    if ((M == "row" || M == "col") && Which-- == 0)
      return D.take(M) ? std::optional(M == "row") : std::nullopt;
  return std::nullopt;
}

bool product(Decoder &D) {
  bool IsFragments = D.opcode() == "wmma";
  if (IsFragments && !D.take("mma"))
    return false;
  if (!D.takePrefixed("sp").empty())
    return D.fail(
        "sparse matrix products are not supported by the simulated GPU");
  if (!D.take("sync") || !D.take("aligned"))
    return false;
  Product P;
  std::string_view Name = D.takePrefixed("m");
  MatrixShape Shape = parseMatrixShape(Name);
  auto AByRow = takeIsByRow(D, 0), BByRow = takeIsByRow(D, 1);
  if (!Shape.K || !AByRow || !BByRow)
    return false;
  P.AByRow = *AByRow;
  P.BByRow = *BByRow;
  P.SatFinite = D.take("satfinite");
  ScalarType Types[4];
  for (ScalarType &T : Types)
    T = D.takeType();
  if (Types[2] == ScalarType::None && IsFragments) { // D and C; of f16.
    Types[3] = Types[1];
    Types[1] = Types[2] = ScalarType::F16;
  }
  std::copy(std::begin(Types), std::end(Types), P.Types);
  if (Types[0] == ScalarType::F64)
    D.take("rn");
  if (!isShapeKnown(Name, Types[InA], IsFragments) || !areTypesKnown(P))
    return D.fail("a matrix product of this shape, of these types, is not "
                  "supported by the simulated GPU");
  P.M = uint8_t(Shape.M);
  P.N = uint8_t(Shape.N);
  P.K = uint16_t(Shape.K);
  bool AreQuads =
      !IsFragments && Types[InA] == ScalarType::F16 && Name == "m8n8k4";
  P.How = IsFragments ? Layout::Fragments
          : AreQuads  ? Layout::Quads
                      : Layout::Mma;
  if (P.How == Layout::Mma && (!P.AByRow || P.BByRow))
    return D.fail("the layout is not .row.col");
  std::vector<Ref> All;
  for (Which W : {InD, InA, InB, InC}) {
    unsigned Size = crsan::ptx::sizeOf(P.Types[W]) == 8 ? 8 : 4;
    auto Some = takeRegisters(D, D.operand(W), Size, W == InD);
    P.NumRegisters[W] = uint8_t(Some.size());
    All.insert(All.end(), Some.begin(), Some.end());
  }
  if (!hasRightRegisters(P))
    return D.fail("an operand has a wrong number of registers");
  Instruction &I =
      D.emit(multiplyOp, {Ref(), Ref(), Ref(), Ref(), D.constant(AllLanes, 4)});
  const ProductWords Words = std::bit_cast<ProductWords>(P);
  I.Imm = int64_t(Words[0]);
  I.Aux = Words[1];
  I.NeedsWholeFragment = true;
  D.setMore(I, All);
  return true;
}

} // namespace

void crsan::sim::addMatrixOps(DecodeTable &T) {
  T.add({"mma", "wmma"}, product);
}
