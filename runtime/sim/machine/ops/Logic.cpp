// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bits: logic, shifts, fields, permutations.
#include "ops/Lanes.h"

using namespace crsan::sim;

namespace {

constexpr auto And = []<class T>(T A, T B) { return T(A & B); };
constexpr auto Or = []<class T>(T A, T B) { return T(A | B); };
constexpr auto Xor = []<class T>(T A, T B) { return T(A ^ B); };
constexpr auto Not = []<class T>(T A) { return T(~A); };
constexpr auto Cnot = []<class T>(T A) { return T(A == 0); };
constexpr auto Reverse = []<class T>(T A) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bitreverse64(A);
  else
    return __builtin_bitreverse32(A);
};

template <auto F> Outcome onPredicates(Execution &X, const Instruction &I) {
  X.setBits(I.Op[0],
            F(X.bits(I.Op[1]), I.Op[2].IsValid ? X.bits(I.Op[2]) : 0u));
  return Outcome::Next;
}

template <auto F> bool logic(Decoder &D) {
  ScalarType T = D.takeType();
  if (T == ScalarType::Pred) {
    Ref A = D.predicate(D.operand(1)), B = D.predicate(D.operand(2));
    D.emit(onPredicates<F>, {D.destPredicate(D.operand(0)), A, B});
    return true;
  }
  Handler H = forInteger<Binary, F>(T);
  if (!H)
    return false;
  unsigned Size = crsan::ptx::sizeOf(T);
  D.emit(H, {D.dest(0, Size), D.source(1, Size), D.source(2, Size)});
  return true;
}

bool notOp(Decoder &D) {
  ScalarType T = D.takeType();
  if (T == ScalarType::Pred) {
    Ref A = D.predicate(D.operand(1));
    D.emit(onPredicates<[](uint32_t A, uint32_t) { return ~A; }>,
           {D.destPredicate(D.operand(0)), A});
    return true;
  }
  Handler H = D.opcode() == "not" ? forInteger<Unary, Not>(T)
                                  : forInteger<Unary, Cnot>(T);
  if (!H)
    return false;
  unsigned Size = crsan::ptx::sizeOf(T);
  D.emit(H, {D.dest(0, Size), D.source(1, Size)});
  return true;
}

//===----------------------------------------------------------------------===//
// Shifts: by a u32, clamped to the width
//===----------------------------------------------------------------------===//

template <class T> Outcome shl(Execution &X, const Instruction &I) {
  return binary<[](T A, uint32_t N) {
    return N >= 8 * sizeof(T) ? T(0) : T(A << N);
  },
                T, T, uint32_t>(X, I);
}
template <class T> Outcome shr(Execution &X, const Instruction &I) {
  return binary<[](T A, uint32_t N) {
    constexpr uint32_t Last = 8 * sizeof(T) - 1;
    return N > Last ? T(std::is_signed_v<T> ? A >> Last : 0) : T(A >> N);
  },
                T, T, uint32_t>(X, I);
}

bool shift(Decoder &D) {
  ScalarType T = D.takeType();
  bool IsLeft = D.opcode() == "shl", IsSigned = crsan::ptx::isSigned(T);
  unsigned Size = crsan::ptx::sizeOf(T);
  Handler H = nullptr;
  if (!isInteger(T))
    return false;
  if (Size == 2)
    H = IsLeft ? shl<uint16_t> : IsSigned ? shr<int16_t> : shr<uint16_t>;
  if (Size == 4)
    H = IsLeft ? shl<uint32_t> : IsSigned ? shr<int32_t> : shr<uint32_t>;
  if (Size == 8)
    H = IsLeft ? shl<uint64_t> : IsSigned ? shr<int64_t> : shr<uint64_t>;
  if (!H)
    return false;
  D.emit(H, {D.dest(0, Size), D.source(1, Size), D.source(2, 4)});
  return true;
}

/// Aux: 1 right, 2 wrap.
uint64_t funnelLane(uint64_t Low, uint64_t High, uint64_t By,
                    const Instruction &I) {
  uint64_t Both = High << 32 | Low;
  uint32_t N = I.Aux & 2 ? By & 31 : By > 32 ? 32 : uint32_t(By);
  return I.Aux & 1 ? uint32_t(Both >> N) : uint32_t(Both << N >> 32);
}

bool funnel(Decoder &D) {
  uint64_t Aux = D.take("r") ? 1 : 0;
  D.take("l");
  Aux |= D.take("wrap") ? 2 : 0;
  D.take("clamp");
  if (D.takeType() != ScalarType::B32)
    return false;
  D.emit(slow<funnelLane>,
         {D.dest(0, 4), D.source(1, 4), D.source(2, 4), D.source(3, 4)})
      .Aux = Aux;
  return true;
}

//===----------------------------------------------------------------------===//
// Three inputs, permutation
//===----------------------------------------------------------------------===//

uint32_t lookUp3(uint32_t A, uint32_t B, uint32_t C, uint32_t Table) {
  uint32_t R = 0;
  for (unsigned N = 0; N < 8; ++N)
    if (Table >> N & 1)
      R |= (N & 4 ? A : ~A) & (N & 2 ? B : ~B) & (N & 1 ? C : ~C);
  return R;
}

Outcome lop3Op(Execution &X, const Instruction &I) {
  uint32_t *To = X.row<uint32_t>(I.Op[0]);
  const uint32_t *A = X.row<uint32_t>(I.Op[1]), *B = X.row<uint32_t>(I.Op[2]),
                 *C = X.row<uint32_t>(I.Op[3]);
  uint32_t NonZero = 0;
  forLanes(X.Mask, [&](unsigned L) {
    To[L] = lookUp3(A[L], B[L], C[L], uint32_t(I.Imm));
    NonZero |= uint32_t(To[L] != 0) << L;
  });
  if (I.NumMore) { // d|p = ...: p is (d != 0) op q
    uint32_t Q = X.bits(I.More[1]);
    X.setBits(I.More[0], I.Aux ? NonZero & Q : NonZero | Q);
  }
  return Outcome::Next;
}

bool lop3(Decoder &D) {
  bool IsAnd = D.take("and"), IsOr = D.take("or");
  auto Table = D.integer(D.operand(4));
  if (D.takeType() != ScalarType::B32 || !Table)
    return false;
  const crsan::ptx::Operand &To = D.operand(0);
  bool IsPair = To.What == crsan::ptx::Operand::Kind::Pair;
  if (IsPair != (IsAnd || IsOr))
    return false;
  std::vector<Ref> More;
  if (IsPair)
    More = {D.destPredicate(To.Elements[1]), D.predicate(D.operand(5))};
  Ref Result = IsPair ? D.dest(To.Elements[0], 4) : D.dest(0, 4);
  Instruction &I =
      D.emit(lop3Op, {Result, D.source(1, 4), D.source(2, 4), D.source(3, 4)});
  I.Imm = int64_t(*Table);
  I.Aux = IsAnd;
  if (IsPair)
    D.setMore(I, More);
  return true;
}

/// The selector of a special mode: which byte goes to each place.
uint32_t selectorOf(unsigned Mode, uint32_t C) {
  static constexpr uint16_t Forward[] = {0x3210, 0x4321, 0x5432, 0x6543},
                            Backward[] = {0x5670, 0x6701, 0x7012, 0x0123},
                            Replicate[] = {0x0000, 0x1111, 0x2222, 0x3333},
                            Left[] = {0x3210, 0x3211, 0x3222, 0x3333},
                            Right[] = {0x0000, 0x1110, 0x2210, 0x3210},
                            Words[] = {0x1010, 0x3232, 0x1010, 0x3232};
  static constexpr const uint16_t *Modes[] = {
      nullptr, Forward, Backward, Replicate, Left, Right, Words};
  return Mode ? Modes[Mode][C & 3] : C;
}

uint64_t permuteLane(uint64_t A, uint64_t B, uint64_t C, const Instruction &I) {
  uint64_t Bytes = B << 32 | A;
  uint32_t Selector = selectorOf(unsigned(I.Aux), uint32_t(C)), R = 0;
  for (unsigned N = 0; N < 4; ++N) {
    uint32_t S = Selector >> 4 * N & 0xF;
    uint8_t Byte = uint8_t(Bytes >> 8 * (S & 7));
    if (S & 8)
      Byte = Byte & 0x80 ? 0xFF : 0;
    R |= uint32_t(Byte) << 8 * N;
  }
  return R;
}

bool permute(Decoder &D) {
  static constexpr std::string_view Modes[] = {"f4e", "b4e", "rc8",
                                               "ecl", "ecr", "rc16"};
  uint64_t Aux = 0;
  for (unsigned N = 0; N < std::size(Modes); ++N)
    if (D.take(Modes[N]))
      Aux = N + 1;
  if (D.takeType() != ScalarType::B32)
    return false;
  D.emit(slow<permuteLane>,
         {D.dest(0, 4), D.source(1, 4), D.source(2, 4), D.source(3, 4)})
      .Aux = Aux;
  return true;
}

//===----------------------------------------------------------------------===//
// Counting and fields. Imm: bits of the type; Aux: signed, or shiftamt.
//===----------------------------------------------------------------------===//

uint64_t findLane(uint64_t A, uint64_t, uint64_t, const Instruction &I) {
  bool IsSigned = I.Aux & 1;
  if (I.Imm == 32)
    A = IsSigned ? uint64_t(int64_t(int32_t(A))) : A;
  if (IsSigned && int64_t(A) < 0)
    A = ~A;
  if (I.Imm == 32)
    A &= 0xFFFF'FFFF;
  if (!A)
    return 0xFFFF'FFFF;
  uint32_t At = 63 - std::countl_zero(A);
  return I.Aux & 2 ? uint32_t(I.Imm) - 1 - At : At;
}

bool countOps(Decoder &D) {
  std::string_view Op = D.opcode();
  bool ShiftAmount = D.take("shiftamt");
  ScalarType T = D.takeType();
  unsigned Size = crsan::ptx::sizeOf(T);
  if (!isInteger(T) || (Size != 4 && Size != 8))
    return false;
  Ref To = D.dest(0, Op == "brev" ? Size : 4), A = D.source(1, Size);
  if (Op == "bfind") {
    Instruction &I = D.emit(slow<findLane>, {To, A});
    I.Imm = Size * 8;
    I.Aux = (crsan::ptx::isSigned(T) ? 1 : 0) | (ShiftAmount ? 2 : 0);
    return true;
  }
  Handler H;
  if (Op == "popc")
    H = Size == 4 ? unary<[](uint32_t A) { return std::popcount(A); }, uint32_t>
                  : unary<[](uint64_t A) { return std::popcount(A); }, uint32_t,
                          uint64_t>;
  else if (Op == "clz")
    H = Size == 4
            ? unary<[](uint32_t A) { return std::countl_zero(A); }, uint32_t>
            : unary<[](uint64_t A) { return std::countl_zero(A); }, uint32_t,
                    uint64_t>;
  else
    H = Size == 4 ? unary<Reverse, uint32_t> : unary<Reverse, uint64_t>;
  D.emit(H, {To, A});
  return !ShiftAmount;
}

/// The Offset-th set bit of a mask from Base on, upwards or downwards; the
/// first is Base's own. All ones: there is none.
uint64_t setBitLane(uint64_t Mask, uint64_t Base, uint64_t Offset,
                    const Instruction &) {
  int64_t Left = int32_t(Offset), Step = Left < 0 ? -1 : 1;
  Left = std::abs(Left);
  for (int64_t At = int32_t(Base); At >= 0 && At < 32; At += Step) {
    if (uint32_t(Mask) >> At & 1 && --Left <= 0)
      return uint32_t(At);
    if (Offset == 0)
      break;
  }
  return 0xFFFF'FFFF;
}

bool findSetBit(Decoder &D) {
  if (D.takeType() != ScalarType::B32)
    return false;
  D.emit(slow<setBitLane>,
         {D.dest(0, 4), D.source(1, 4), D.source(2, 4), D.source(3, 4)});
  return true;
}

/// Op[1] a, Op[2] position, Op[3] length.
uint64_t extractLane(uint64_t A, uint64_t B, uint64_t C, const Instruction &I) {
  uint32_t Bits = uint32_t(I.Imm), At = B & 0xFF, Length = C & 0xFF,
           Last = Bits - 1;
  bool IsSigned = I.Aux;
  uint64_t Sign = 0;
  if (IsSigned && Length)
    Sign = A >> std::min(At + Length - 1, Last) & 1;
  uint64_t R = 0;
  for (uint32_t N = 0; N < Bits; ++N) {
    uint64_t Bit = N < Length && At + N <= Last ? A >> (At + N) & 1 : Sign;
    R |= Bit << N;
  }
  return R;
}

bool extract(Decoder &D) {
  ScalarType T = D.takeType();
  unsigned Size = crsan::ptx::sizeOf(T);
  if (!isInteger(T) || (Size != 4 && Size != 8))
    return false;
  Instruction &I =
      D.emit(slow<extractLane>, {D.dest(0, Size), D.source(1, Size),
                                 D.source(2, 4), D.source(3, 4)});
  I.Imm = Size * 8;
  I.Aux = crsan::ptx::isSigned(T);
  return true;
}

Outcome insertOp(Execution &X, const Instruction &I) {
  forLanes(X.Mask, [&](unsigned L) {
    uint64_t A = X.value(I.Op[1], L), R = X.value(I.Op[2], L);
    uint32_t At = X.value(I.Op[3], L) & 0xFF,
             Length = X.value(I.Op[4], L) & 0xFF;
    for (uint32_t N = 0; N < Length && At + N < uint32_t(I.Imm); ++N)
      R = (R & ~(uint64_t(1) << (At + N))) | (A >> N & 1) << (At + N);
    X.setValue(I.Op[0], L, R);
  });
  return Outcome::Next;
}

bool insert(Decoder &D) {
  ScalarType T = D.takeType();
  unsigned Size = crsan::ptx::sizeOf(T);
  if (T != ScalarType::B32 && T != ScalarType::B64)
    return false;
  D.emit(insertOp, {D.dest(0, Size), D.source(1, Size), D.source(2, Size),
                    D.source(3, 4), D.source(4, 4)})
      .Imm = Size * 8;
  return true;
}

/// bmsk: Aux 1: wrap.
uint64_t maskLane(uint64_t A, uint64_t B, uint64_t, const Instruction &I) {
  uint64_t At = I.Aux ? A & 31 : A, Length = I.Aux ? B & 31 : B;
  if (At >= 32)
    return 0;
  uint64_t Ones = Length >= 32 ? 0xFFFF'FFFF : (uint64_t(1) << Length) - 1;
  return uint32_t(Ones << At);
}

uint64_t signExtendLane(uint64_t A, uint64_t B, uint64_t,
                        const Instruction &I) {
  uint32_t N = I.Aux & 2 ? B & 31 : B > 32 ? 32 : uint32_t(B);
  if (N == 0)
    return 0;
  if (N >= 32)
    return A;
  uint32_t Cut = uint32_t(A) << (32 - N);
  return I.Aux & 1 ? uint32_t(int32_t(Cut) >> (32 - N)) : Cut >> (32 - N);
}

bool maskOps(Decoder &D) {
  bool IsMask = D.opcode() == "bmsk";
  bool Wrap = D.take("wrap");
  D.take("clamp");
  ScalarType T = D.takeType();
  if (crsan::ptx::sizeOf(T) != 4)
    return false;
  Instruction &I = D.emit(IsMask ? slow<maskLane> : slow<signExtendLane>,
                          {D.dest(0, 4), D.source(1, 4), D.source(2, 4)});
  I.Aux = IsMask ? Wrap : (crsan::ptx::isSigned(T) ? 1 : 0) | (Wrap ? 2 : 0);
  return true;
}

} // namespace

void crsan::sim::addLogicOps(DecodeTable &T) {
  T.add("and", logic<And>);
  T.add("or", logic<Or>);
  T.add("xor", logic<Xor>);
  T.add({"not", "cnot"}, notOp);
  T.add({"shl", "shr"}, shift);
  T.add("shf", funnel);
  T.add("lop3", lop3);
  T.add("prmt", permute);
  T.add({"popc", "clz", "brev", "bfind"}, countOps);
  T.add("fns", findSetBit);
  T.add("bfe", extract);
  T.add("bfi", insert);
  T.add({"bmsk", "szext"}, maskOps);
}
