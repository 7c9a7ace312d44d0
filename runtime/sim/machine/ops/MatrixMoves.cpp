// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices between memory, registers and lanes.
//
// ldmatrix, stmatrix, movmatrix, wmma.load and wmma.store. Each lane accesses
// the elements that it holds, whichever lane gives the address of their row.
#include "ops/Matrix.h"

#include <algorithm>

using namespace crsan::sim;

namespace {

//===----------------------------------------------------------------------===//
// 8x8 matrices of 16 bits
//===----------------------------------------------------------------------===//

struct Eight {
  uint16_t Rows[8][8];

  void transpose() {
    for (unsigned R = 0; R < 8; ++R)
      for (unsigned C = 0; C < R; ++C)
        std::swap(Rows[R][C], Rows[C][R]);
  }
  /// Lane L holds two elements of row L / 4.
  void toLanes(const Execution &X, const Ref &To) const {
    std::memcpy(X.row<uint32_t>(To), Rows, sizeof Rows);
  }
  void fromLanes(const Execution &X, const Ref &From) {
    std::memcpy(Rows, X.row<uint32_t>(From), sizeof Rows);
  }
};
static_assert(sizeof(Eight) == WarpSize * 4);

/// The row whose address the lane gives. The lanes that hold elements of it
/// access these: two neighbours each or, if transposed, one here and one in the
/// next row.
Referent referentOfRow(Execution &X, const Instruction &I, unsigned Lane,
                       bool IsWrite) {
  const uint8_t Flags = IsWrite ? WritesMemory : ReadsMemory;
  const Touch How{{Flags}, 16, 16, 8};
  uint64_t Address = X.address(I, I.Op[0], Lane);
  Referent At = X.resolve(I, Lane, Address, How);
  if (At.Bytes && At.In != Referent::Kind::Shared) {
    X.fault(I, Lane, Fault::Kind::InvalidAddress,
            fmt::format("{} takes addresses of shared memory, which 0x{:x} is "
                        "not",
                        IsWrite ? "stmatrix" : "ldmatrix", Address),
            Address);
    return {};
  }
  const unsigned Row = Lane % 8, Parts = I.Aux ? 8 : 4;
  Referent Part = At;
  for (unsigned N = 0; At.Bytes && N < Parts; ++N) {
    const Touch Its{{Flags}, 16 / Parts, 16 / Parts, uint8_t(I.Aux ? 1 : 2)};
    if (!X.note(I, I.Aux ? 4 * N + Row / 2 : 4 * Row + N, Part, Its))
      return {};
    Part.Bytes += Its.Size;
    Part.Offset += Its.Size;
  }
  return At;
}

/// Op: base. More: a register for each matrix. Aux: transpose.
Outcome ldmatrixOp(Execution &X, const Instruction &I) {
  return byWholeWarp(X, I, [&] {
    Eight All[4];
    for (unsigned N = 0; N < I.NumMore * 8u; ++N) {
      Referent At = referentOfRow(X, I, N, false);
      if (!At.Bytes)
        return Outcome::Faulted;
      std::memcpy(All[N / 8].Rows[N % 8], At.Bytes, 16);
    }
    for (unsigned N = 0; N < I.NumMore; ++N) {
      if (I.Aux)
        All[N].transpose();
      All[N].toLanes(X, I.More[N]);
    }
    return Outcome::Next;
  });
}

Outcome stmatrixOp(Execution &X, const Instruction &I) {
  return byWholeWarp(X, I, [&] {
    for (unsigned N = 0; N < I.NumMore * 8u; ++N) {
      Eight One;
      One.fromLanes(X, I.More[N / 8]);
      if (I.Aux)
        One.transpose();
      Referent At = referentOfRow(X, I, N, true);
      if (!At.Bytes)
        return Outcome::Faulted;
      std::memcpy(At.Bytes, One.Rows[N % 8], 16);
    }
    return Outcome::Next;
  });
}

bool eights(Decoder &D) {
  const bool IsStore = D.opcode() == "stmatrix";
  if (!D.take("sync") || !D.take("aligned"))
    return false;
  if (!D.take("m8n8") || !D.take("b16"))
    return D.fail("matrices other than of 8x8 elements of 16 bits are not "
                  "supported by the simulated GPU");
  std::string_view Number = D.takeOneOf({"x1", "x2", "x4"});
  if (Number.empty())
    return false;
  const bool Transpose = D.take("trans");
  const StateSpace Space = D.takeSpace();
  if (Space != StateSpace::Shared && Space != StateSpace::Generic)
    return false;
  std::vector<Ref> Rows =
      takeRegisters(D, D.operand(IsStore ? 1 : 0), 4, !IsStore);
  if (Rows.size() != size_t(Number[1] - '0'))
    return D.fail("an operand has a wrong number of registers");
  Address A = D.address(D.operand(IsStore ? 0 : 1), Space);
  Instruction &I =
      D.emit(IsStore ? stmatrixOp : ldmatrixOp,
             {A.Base, Ref(), Ref(), Ref(), D.constant(AllLanes, 4)});
  I.Imm = A.Offset;
  I.Aux = Transpose;
  I.Space = Space;
  I.IsVisible = true;
  I.NeedsWholeFragment = true;
  D.setMore(I, Rows);
  return true;
}

Outcome movmatrixOp(Execution &X, const Instruction &I) {
  return byWholeWarp(X, I, [&] {
    Eight One;
    One.fromLanes(X, I.Op[1]);
    One.transpose();
    One.toLanes(X, I.Op[0]);
    return Outcome::Next;
  });
}

bool movmatrix(Decoder &D) {
  if (!D.take("sync") || !D.take("aligned") || !D.take("m8n8") ||
      !D.take("trans") || !D.take("b16"))
    return false;
  Ref From = D.source(1, 4);
  D.emit(movmatrixOp,
         {D.dest(0, 4), From, Ref(), Ref(), D.constant(AllLanes, 4)})
      .NeedsWholeFragment = true;
  return true;
}

//===----------------------------------------------------------------------===//
// wmma.load and wmma.store
//===----------------------------------------------------------------------===//

/// In Instruction::Aux.
struct Tile {
  uint8_t Rows = 0, Columns = 0, Size = 0; ///< Size: of an element.
  bool IsByRow = true;                     ///< In memory.
  bool HeldByRow = true;                   ///< In fragments (see Matrix.h).
  bool IsStore = false;
  uint8_t Unused[2] = {};

  /// The place of a lane's element in memory, in elements.
  uint64_t offset(unsigned Number, uint64_t Stride) const {
    Number %= Rows * Columns;
    uint64_t Row = HeldByRow ? Number / Columns : Number % Rows,
             Column = HeldByRow ? Number % Columns : Number / Rows;
    return IsByRow ? Row * Stride + Column : Column * Stride + Row;
  }
};
static_assert(sizeof(Tile) == 8);

/// PTX leaves open what happens if the lanes do not agree.
bool isUniform(Execution &X, const Ref &R) {
  for (unsigned L = 1; L < WarpSize; ++L)
    if (X.value(R, L) != X.value(R, 0))
      return false;
  return true;
}

/// The elements of one lane from number First on, as many as are together in
/// memory and fit into 16 bytes. Gives how many; 0: faulted.
unsigned moveSome(Execution &X, const Instruction &I, const Tile &T,
                  unsigned Lane, unsigned First, unsigned InLane) {
  const uint64_t Stride = X.value(I.Op[1], Lane),
                 Start = T.offset(Lane * InLane + First, Stride);
  unsigned Count = 1;
  while (First + Count < InLane && (Count + 1) * T.Size <= 16 &&
         T.offset(Lane * InLane + First + Count, Stride) == Start + Count)
    ++Count;
  const uint8_t Flags = T.IsStore ? WritesMemory : ReadsMemory;
  const Touch How{{Flags}, Count * T.Size, T.Size, uint8_t(Count)};
  Referent At =
      X.resolve(I, Lane, X.address(I, I.Op[0], Lane) + Start * T.Size, How);
  if (!At.Bytes || !X.note(I, Lane, At, How))
    return 0;
  for (unsigned E = 0; E < Count; ++E) {
    uint64_t V = 0;
    if (T.IsStore) {
      V = fragmentElement(X, I.More, Lane, First + E, T.Size);
      std::memcpy(At.Bytes + E * T.Size, &V, T.Size);
    } else {
      std::memcpy(&V, At.Bytes + E * T.Size, T.Size);
      setFragmentElement(X, I.More, Lane, First + E, T.Size, V);
    }
  }
  return Count;
}

/// Op: base, stride. More: the fragment.
Outcome tileOp(Execution &X, const Instruction &I) {
  return byWholeWarp(X, I, [&] {
    const Tile T = std::bit_cast<Tile>(I.Aux);
    if (!isUniform(X, I.Op[0]) || !isUniform(X, I.Op[1]))
      return X.fault(I, 0, Fault::Kind::Unsupported,
                     "the lanes of the warp give different addresses or "
                     "strides of a matrix");
    const unsigned InLane = I.NumMore * I.More->Size / T.Size;
    for (unsigned L = 0; L < WarpSize; ++L)
      for (unsigned E = 0; E < InLane;) {
        unsigned Moved = moveSome(X, I, T, L, E, InLane);
        if (!Moved)
          return Outcome::Faulted;
        E += Moved;
      }
    return Outcome::Next;
  });
}

bool isTileKnown(std::string_view Shape, ScalarType T, bool IsAccumulator) {
  auto Is = [&](std::initializer_list<std::string_view> Known) {
    return std::find(Known.begin(), Known.end(), Shape) != Known.end();
  };
  switch (T) {
  case ScalarType::F16:
    return Is({"m16n16k16", "m32n8k16", "m8n32k16"});
  case ScalarType::BF16:
  case ScalarType::S8:
  case ScalarType::U8:
    return !IsAccumulator && Is({"m16n16k16", "m32n8k16", "m8n32k16"});
  case ScalarType::S32:
    return IsAccumulator && Is({"m16n16k16", "m32n8k16", "m8n32k16"});
  case ScalarType::F32:
    return IsAccumulator &&
           Is({"m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8"});
  case ScalarType::TF32:
    return !IsAccumulator && Is({"m16n16k8"});
  case ScalarType::F64:
    return Is({"m8n8k4"});
  default:
    return false;
  }
}

bool tile(Decoder &D) {
  Tile T;
  T.IsStore = D.take("store");
  if (!T.IsStore && !D.take("load"))
    return false;
  std::string_view What = D.takeOneOf({"a", "b", "c", "d"});
  if (What.empty() || (What == "d") != T.IsStore || !D.take("sync") ||
      !D.take("aligned"))
    return false;
  std::string_view Order = D.takeOneOf({"row", "col"}),
                   Name = D.takePrefixed("m");
  MatrixShape Shape = parseMatrixShape(Name);
  const StateSpace Space = D.takeSpace();
  const ScalarType Type = D.takeType();
  const bool IsAccumulator = What == "c" || What == "d";
  if (Order.empty())
    return false;
  if (!isTileKnown(Name, Type, IsAccumulator))
    return D.fail("a matrix of this shape, of this type, is not supported by "
                  "the simulated GPU");
  T.Rows = uint8_t(What == "b" ? Shape.K : Shape.M);
  T.Columns = uint8_t(What == "a" ? Shape.K : Shape.N);
  T.Size = uint8_t(crsan::ptx::sizeOf(Type));
  T.IsByRow = Order == "row";
  T.HeldByRow = T.IsByRow || IsAccumulator;
  std::vector<Ref> Rows = takeRegisters(D, D.operand(T.IsStore ? 1 : 0),
                                        T.Size == 8 ? 8 : 4, !T.IsStore);
  const unsigned Held =
      unsigned(Rows.size()) * (T.Size == 8 ? 8 : 4) * WarpSize;
  if (!Held || Held % (T.Rows * T.Columns * T.Size))
    return D.fail("an operand has a wrong number of registers");
  Address A = D.address(D.operand(T.IsStore ? 0 : 1), Space);
  Ref Stride = D.numOperands() > 2
                   ? D.source(2, 4)
                   : D.constant(T.IsByRow ? T.Columns : T.Rows, 4);
  Instruction &I =
      D.emit(tileOp, {A.Base, Stride, Ref(), Ref(), D.constant(AllLanes, 4)});
  I.Imm = A.Offset;
  I.Aux = std::bit_cast<uint64_t>(T);
  I.Space = Space;
  I.IsVisible = true;
  I.NeedsWholeFragment = true;
  D.setMore(I, Rows);
  return true;
}

} // namespace

void crsan::sim::addMatrixMoveOps(DecodeTable &T) {
  T.add({"ldmatrix", "stmatrix"}, eights);
  T.add("movmatrix", movmatrix);
  T.add("wmma", tile);
}
