// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setp, set, selp, slct.
#include "ops/Lanes.h"
#include "ops/Numbers.h"

using namespace crsan::sim;
using crsan::ptx::Operand;

namespace {

enum class Relation : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};
enum class Combine : uint8_t { None, And, Or, Xor };

template <Relation R, class T> bool holds(T A, T B) {
  bool Unordered = false;
  if constexpr (std::is_floating_point_v<T>)
    Unordered = A != A || B != B;
  switch (R) {
  case Relation::Eq:
    return A == B;
  case Relation::Ne:
    return A != B && !Unordered;
  case Relation::Lt:
    return A < B;
  case Relation::Le:
    return A <= B;
  case Relation::Gt:
    return A > B;
  case Relation::Ge:
    return A >= B;
  case Relation::Equ:
    return A == B || Unordered;
  case Relation::Neu:
    return A != B;
  case Relation::Ltu:
    return A < B || Unordered;
  case Relation::Leu:
    return A <= B || Unordered;
  case Relation::Gtu:
    return A > B || Unordered;
  case Relation::Geu:
    return A >= B || Unordered;
  case Relation::Num:
    return !Unordered;
  case Relation::Nan:
    return Unordered;
  }
  return false;
}

/// Bits of a row of bytes that are 0 or 1.
uint32_t gather(const uint8_t (&Bytes)[WarpSize]) {
  uint32_t R = 0;
  for (unsigned N = 0; N < WarpSize; N += 8) {
    uint64_t Eight;
    std::memcpy(&Eight, Bytes + N, 8);
    R |= uint32_t(Eight * 0x0102'0408'1020'4080 >> 56) << N;
  }
  return R;
}

/// The lanes for which the relation holds.
template <Relation R, class T>
uint32_t compare(Execution &X, const Instruction &I) {
  const T *A = X.row<T>(I.Op[1]), *B = X.row<T>(I.Op[2]);
  uint8_t Is[WarpSize];
  if (X.Mask == AllLanes) {
    for (unsigned L = 0; L < WarpSize; ++L)
      Is[L] = holds<R>(A[L], B[L]);
    return gather(Is);
  }
  uint32_t Bits = 0;
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Bits |= uint32_t(holds<R>(A[L], B[L])) << L;
  }
  return Bits;
}

/// Halves, of which the packed ones give two results.
template <Relation R, bool IsBrain>
uint32_t compareHalf(Execution &X, const Instruction &I, unsigned Part) {
  uint32_t Bits = 0;
  auto Read = [&](const Ref &Row, unsigned L) {
    uint16_t V = uint16_t(X.value(Row, L) >> 16 * Part);
    return IsBrain ? double(brainToFloat(V)) : widen(V, Half);
  };
  forLanes(X.Mask, [&](unsigned L) {
    Bits |= uint32_t(holds<R>(Read(I.Op[1], L), Read(I.Op[2], L))) << L;
  });
  return Bits;
}

uint32_t combine(Combine How, uint32_t A, uint32_t B) {
  switch (How) {
  case Combine::None:
    break;
  case Combine::And:
    return A & B;
  case Combine::Or:
    return A | B;
  case Combine::Xor:
    return A ^ B;
  }
  return A;
}

using Comparer = uint32_t (*)(Execution &, const Instruction &);

/// Op: p, a, b, [c], [q]. Aux: Combine.
template <auto F> Outcome setpOp(Execution &X, const Instruction &I) {
  uint32_t Is = F(X, I), C = I.Op[3].IsValid ? X.bits(I.Op[3]) : 0;
  Combine How = Combine(I.Aux & 3);
  X.setBits(I.Op[0], combine(How, Is, C));
  if (I.Op[4].IsValid)
    X.setBits(I.Op[4], combine(How, ~Is, C));
  return Outcome::Next;
}

/// f16x2: p and q are of the low and the high half.
template <Relation R, bool IsBrain>
Outcome setpPacked(Execution &X, const Instruction &I) {
  uint32_t C = I.Op[3].IsValid ? X.bits(I.Op[3]) : 0;
  uint32_t Low = compareHalf<R, IsBrain>(X, I, 0),
           High = compareHalf<R, IsBrain>(X, I, 1);
  Combine How = Combine(I.Aux & 3);
  X.setBits(I.Op[0], combine(How, Low, C));
  if (I.Op[4].IsValid)
    X.setBits(I.Op[4], combine(How, High, C));
  return Outcome::Next;
}

/// What stands for true in Size bytes. Aux: 4 it is 1.0, of which 8 in bf16;
/// else all ones.
uint64_t truth(const Instruction &I, unsigned Size) {
  if (!(I.Aux & 4))
    return ~uint64_t(0);
  return Size != 2 ? 0x3F80'0000 : I.Aux & 8 ? 0x3F80 : 0x3C00;
}

/// Sizes from the rows.
template <auto F> Outcome setOp(Execution &X, const Instruction &I) {
  uint32_t Is = combine(Combine(I.Aux & 3), F(X, I),
                        I.Op[3].IsValid ? X.bits(I.Op[3]) : 0);
  uint64_t True = truth(I, I.Op[0].Size);
  forLanes(X.Mask,
           [&](unsigned L) { X.setValue(I.Op[0], L, Is >> L & 1 ? True : 0); });
  return Outcome::Next;
}

/// f16x2: each half of the result by itself.
template <Relation R, bool IsBrain>
Outcome setPacked(Execution &X, const Instruction &I) {
  uint32_t C = I.Op[3].IsValid ? X.bits(I.Op[3]) : 0;
  Combine How = Combine(I.Aux & 3);
  uint32_t Low = combine(How, compareHalf<R, IsBrain>(X, I, 0), C),
           High = combine(How, compareHalf<R, IsBrain>(X, I, 1), C);
  uint64_t True = truth(I, 2) & 0xFFFF;
  forLanes(X.Mask, [&](unsigned L) {
    X.setValue(I.Op[0], L,
               (Low >> L & 1 ? True : 0) | (High >> L & 1 ? True << 16 : 0));
  });
  return Outcome::Next;
}

struct Form {
  Handler Setp = nullptr, Set = nullptr;
};

template <Relation R, class T> Form form() {
  return {setpOp<compare<R, T>>, setOp<compare<R, T>>};
}
template <Relation R, bool IsBrain> Form halfForm() {
  constexpr auto F = [](Execution &X, const Instruction &I) {
    return compareHalf<R, IsBrain>(X, I, 0);
  };
  return {setpOp<F>, setOp<F>};
}

template <Relation R> Form forType(ScalarType T) {
  switch (T) {
  case ScalarType::B16:
  case ScalarType::U16:
    return form<R, uint16_t>();
  case ScalarType::S16:
    return form<R, int16_t>();
  case ScalarType::B32:
  case ScalarType::U32:
    return form<R, uint32_t>();
  case ScalarType::S32:
    return form<R, int32_t>();
  case ScalarType::B64:
  case ScalarType::U64:
    return form<R, uint64_t>();
  case ScalarType::S64:
    return form<R, int64_t>();
  case ScalarType::F32:
    return form<R, float>();
  case ScalarType::F64:
    return form<R, double>();
  case ScalarType::F16:
    return halfForm<R, false>();
  case ScalarType::BF16:
    return halfForm<R, true>();
  case ScalarType::F16x2:
    return {setpPacked<R, false>, setPacked<R, false>};
  case ScalarType::BF16x2:
    return {setpPacked<R, true>, setPacked<R, true>};
  default:
    return {};
  }
}

Form forRelation(Relation R, ScalarType T) {
  switch (R) {
#define CASE(Name)                                                             \
  case Relation::Name:                                                         \
    return forType<Relation::Name>(T)
    CASE(Eq);
    CASE(Ne);
    CASE(Lt);
    CASE(Le);
    CASE(Gt);
    CASE(Ge);
    CASE(Equ);
    CASE(Neu);
    CASE(Ltu);
    CASE(Leu);
    CASE(Gtu);
    CASE(Geu);
    CASE(Num);
    CASE(Nan);
#undef CASE
  }
  return {};
}

std::optional<Relation> takeRelation(Decoder &D) {
  static constexpr std::pair<std::string_view, Relation> Names[] = {
      {"eq", Relation::Eq},   {"ne", Relation::Ne},   {"lt", Relation::Lt},
      {"le", Relation::Le},   {"gt", Relation::Gt},   {"ge", Relation::Ge},
      {"lo", Relation::Lt},   {"ls", Relation::Le},   {"hi", Relation::Gt},
      {"hs", Relation::Ge},   {"equ", Relation::Equ}, {"neu", Relation::Neu},
      {"ltu", Relation::Ltu}, {"leu", Relation::Leu}, {"gtu", Relation::Gtu},
      {"geu", Relation::Geu}, {"num", Relation::Num}, {"nan", Relation::Nan}};
  for (auto [Name, R] : Names)
    if (D.take(Name))
      return R;
  return std::nullopt;
}

Combine takeCombine(Decoder &D) {
  std::string_view How = D.takeOneOf({"and", "or", "xor"});
  return How == "and"   ? Combine::And
         : How == "or"  ? Combine::Or
         : How == "xor" ? Combine::Xor
                        : Combine::None;
}

Outcome flushOp(Execution &X, const Instruction &I) {
  return unary<[](float A) { return flushed(A); }, float>(X, I);
}

/// An operand, its subnormal values as zeros if asked for.
Ref operandOf(Decoder &D, size_t N, ScalarType T, bool Flush) {
  Ref A = D.source(N, crsan::ptx::sizeOf(T));
  if (!Flush || T != ScalarType::F32)
    return A;
  Ref To = D.temporary(4);
  D.emit(flushOp, {To, A});
  return To;
}

bool setp(Decoder &D) {
  auto R = takeRelation(D);
  Combine How = takeCombine(D);
  if (!R)
    return false;
  bool Flush = D.take("ftz");
  ScalarType T = D.takeType();
  Form F = forRelation(*R, T);
  if (!F.Setp)
    return false;
  const Operand &To = D.operand(0);
  bool IsPair = To.What == Operand::Kind::Pair;
  Ref C = How == Combine::None ? Ref() : D.predicate(D.operand(3));
  Ref A = operandOf(D, 1, T, Flush), B = operandOf(D, 2, T, Flush);
  Ref P = D.destPredicate(IsPair ? To.Elements[0] : To),
      Q = IsPair ? D.destPredicate(To.Elements[1]) : Ref();
  D.emit(F.Setp, {P, A, B, C, Q}).Aux = uint64_t(How);
  return true;
}

bool set(Decoder &D) {
  auto R = takeRelation(D);
  Combine How = takeCombine(D);
  if (!R)
    return false;
  bool Flush = D.take("ftz");
  ScalarType To = D.takeType(), T = D.takeType();
  Form F = forRelation(*R, T);
  bool IsPacked = T == ScalarType::F16x2 || T == ScalarType::BF16x2,
       ToPacked = To == ScalarType::F16x2 || To == ScalarType::BF16x2;
  if (!F.Set || (ToPacked && To != T) ||
      (IsPacked && !ToPacked && crsan::ptx::sizeOf(To) != 4) ||
      (IsPacked && To == ScalarType::F32))
    return false;
  Ref C = How == Combine::None ? Ref() : D.predicate(D.operand(3));
  Ref A = operandOf(D, 1, T, Flush), B = operandOf(D, 2, T, Flush);
  D.emit(F.Set, {D.dest(0, crsan::ptx::sizeOf(To)), A, B, C}).Aux =
      uint64_t(How) | (crsan::ptx::isFloat(To) ? 4 : 0) |
      (To == ScalarType::BF16 || To == ScalarType::BF16x2 ? 8 : 0);
  return true;
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

template <class T> Outcome selpOp(Execution &X, const Instruction &I) {
  T *To = X.row<T>(I.Op[0]);
  const T *A = X.row<T>(I.Op[1]), *B = X.row<T>(I.Op[2]);
  uint32_t P = X.bits(I.Op[3]);
  forLanes(X.Mask, [&](unsigned L) { To[L] = P >> L & 1 ? A[L] : B[L]; });
  return Outcome::Next;
}

bool selp(Decoder &D) {
  unsigned Size = crsan::ptx::sizeOf(D.takeType());
  Ref P = D.predicate(D.operand(3));
  Handler H = Size == 2   ? selpOp<uint16_t>
              : Size == 4 ? selpOp<uint32_t>
              : Size == 8 ? selpOp<uint64_t>
                          : nullptr;
  if (!H)
    return false;
  D.emit(H, {D.dest(0, Size), D.source(1, Size), D.source(2, Size), P});
  return true;
}

bool slct(Decoder &D) {
  D.take("ftz"); // A subnormal c has the sign that it would be flushed to.
  ScalarType T = D.takeType(), By = D.takeType();
  if (By != ScalarType::S32 && By != ScalarType::F32)
    return false;
  unsigned Size = crsan::ptx::sizeOf(T);
  D.emit(
       slow<[](uint64_t A, uint64_t B, uint64_t C, const Instruction &I) {
         bool First =
             I.Aux ? std::bit_cast<float>(uint32_t(C)) >= 0 : int32_t(C) >= 0;
         return First ? A : B;
       }>,
       {D.dest(0, Size), D.source(1, Size), D.source(2, Size), D.source(3, 4)})
      .Aux = By == ScalarType::F32;
  return true;
}

} // namespace

void crsan::sim::addCompareOps(DecodeTable &T) {
  T.add("setp", setp);
  T.add("set", set);
  T.add("selp", selp);
  T.add("slct", slct);
}
