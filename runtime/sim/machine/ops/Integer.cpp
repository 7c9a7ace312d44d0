// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic.
#include "ops/Lanes.h"

#include <limits>

using namespace crsan::sim;

namespace {

//===----------------------------------------------------------------------===//
// One lane
//===----------------------------------------------------------------------===//

template <class T> using Unsigned = std::make_unsigned_t<T>;

constexpr auto Add = []<class T>(T A, T B) {
  return T(Unsigned<T>(A) + Unsigned<T>(B));
};
constexpr auto Sub = []<class T>(T A, T B) {
  return T(Unsigned<T>(A) - Unsigned<T>(B));
};
constexpr auto AddSat = []<class T>(T A, T B) {
  T R;
  if (!__builtin_add_overflow(A, B, &R))
    return R;
  return A < T(0) ? std::numeric_limits<T>::min()
                  : std::numeric_limits<T>::max();
};
constexpr auto SubSat = []<class T>(T A, T B) {
  T R;
  if (!__builtin_sub_overflow(A, B, &R))
    return R;
  return A < B ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
};
constexpr auto MulLo = []<class T>(T A, T B) {
  return T(uint64_t(A) * uint64_t(B));
};
constexpr auto MulHi = []<class T>(T A, T B) {
  return T((Twice<T>(A) * Twice<T>(B)) >> 8 * sizeof(T));
};
constexpr auto MadLo = []<class T>(T A, T B, T C) {
  return T(uint64_t(A) * uint64_t(B) + uint64_t(C));
};
constexpr auto MadHi = []<class T>(T A, T B, T C) {
  return T(Unsigned<T>((Twice<T>(A) * Twice<T>(B)) >> 8 * sizeof(T)) +
           Unsigned<T>(C));
};
constexpr auto MadHiSat = []<class T>(T A, T B, T C) {
  return AddSat(MulHi(A, B), C);
};
// What the hardware gives for a division by zero: all ones, and the dividend.
constexpr auto Div = []<class T>(T A, T B) {
  if (B == 0)
    return T(~T(0));
  if (std::is_signed_v<T> && B == T(-1))
    return T(-Unsigned<T>(A));
  return T(A / B);
};
constexpr auto Rem = []<class T>(T A, T B) {
  if (B == 0)
    return A;
  if (std::is_signed_v<T> && B == T(-1))
    return T(0);
  return T(A % B);
};
constexpr auto Min = []<class T>(T A, T B) { return A < B ? A : B; };
constexpr auto Max = []<class T>(T A, T B) { return A < B ? B : A; };
constexpr auto MinRelu = []<class T>(T A, T B) { return Max(Min(A, B), T(0)); };
constexpr auto MaxRelu = []<class T>(T A, T B) { return Max(Max(A, B), T(0)); };
constexpr auto Neg = []<class T>(T A) { return T(-Unsigned<T>(A)); };
constexpr auto Abs = []<class T>(T A) {
  return A < 0 ? T(-Unsigned<T>(A)) : A;
};
constexpr auto Sad = []<class T>(T A, T B, T C) {
  return T((A < B ? B - A : A - B) + C);
};

/// The same in both halves of a word.
template <auto F, class T> struct PackedOp {
  static Outcome run(Execution &X, const Instruction &I) {
    return binary<[](uint32_t A, uint32_t B) {
      uint32_t Low = uint16_t(F(T(A), T(B))),
               High = uint16_t(F(T(A >> 16), T(B >> 16)));
      return Low | High << 16;
    },
                  uint32_t>(X, I);
  }
};

template <auto F> Handler forPacked(ScalarType T) {
  if (T == ScalarType::U16x2)
    return PackedOp<F, uint16_t>::run;
  return T == ScalarType::S16x2 ? PackedOp<F, int16_t>::run : nullptr;
}

//===----------------------------------------------------------------------===//
// Two and three operands
//===----------------------------------------------------------------------===//

bool emitOrNot(Decoder &D, Handler H, ScalarType T, unsigned Sources) {
  if (!H)
    return false;
  unsigned Size = crsan::ptx::sizeOf(T);
  Ref A = D.source(1, Size), B = Sources > 1 ? D.source(2, Size) : Ref(),
      C = Sources > 2 ? D.source(3, Size) : Ref();
  D.emit(H, {D.dest(0, Size), A, B, C});
  return true;
}

bool addOrSub(Decoder &D) {
  bool IsAdd = D.opcode() == "add";
  if (D.has("cc"))
    return false;
  ScalarType T = D.takeType();
  if (D.take("sat")) {
    if (T != ScalarType::S32)
      return false;
    return emitOrNot(
        D, IsAdd ? Binary<AddSat, int32_t>::run : Binary<SubSat, int32_t>::run,
        T, 2);
  }
  if (T == ScalarType::U16x2 || T == ScalarType::S16x2)
    return emitOrNot(D, IsAdd ? forPacked<Add>(T) : forPacked<Sub>(T), T, 2);
  return emitOrNot(
      D, IsAdd ? forInteger<Binary, Add>(T) : forInteger<Binary, Sub>(T), T, 2);
}

bool minOrMax(Decoder &D) {
  bool IsMin = D.opcode() == "min";
  bool Relu = D.take("relu");
  ScalarType T = D.takeType();
  if (T == ScalarType::U16x2 || T == ScalarType::S16x2)
    return emitOrNot(
        D,
        Relu    ? (IsMin ? forPacked<MinRelu>(T) : forPacked<MaxRelu>(T))
        : IsMin ? forPacked<Min>(T)
                : forPacked<Max>(T),
        T, 2);
  return emitOrNot(D,
                   Relu    ? (IsMin ? forInteger<Binary, MinRelu>(T)
                                    : forInteger<Binary, MaxRelu>(T))
                   : IsMin ? forInteger<Binary, Min>(T)
                           : forInteger<Binary, Max>(T),
                   T, 2);
}

template <auto F, unsigned Sources> bool simple(Decoder &D) {
  ScalarType T = D.takeType();
  if constexpr (Sources == 1)
    return emitOrNot(D, forInteger<Unary, F>(T), T, 1);
  else if constexpr (Sources == 2)
    return emitOrNot(D, forInteger<Binary, F>(T), T, 2);
  else
    return emitOrNot(D, forInteger<Ternary, F>(T), T, 3);
}

//===----------------------------------------------------------------------===//
// Multiplication
//===----------------------------------------------------------------------===//

template <class T> Outcome mulWide(Execution &X, const Instruction &I) {
  return binary<[](T A, T B) { return Twice<T>(A) * Twice<T>(B); }, Twice<T>,
                T>(X, I);
}
template <class T> Outcome madWide(Execution &X, const Instruction &I) {
  using W = std::make_unsigned_t<Twice<T>>;
  return ternary<[](T A, T B, Twice<T> C) {
    return W(Twice<T>(A) * Twice<T>(B)) + W(C);
  },
                 Twice<T>, T, T, Twice<T>>(X, I);
}

Handler wideMul(ScalarType T) {
  switch (T) {
  case ScalarType::U16:
    return mulWide<uint16_t>;
  case ScalarType::S16:
    return mulWide<int16_t>;
  case ScalarType::U32:
    return mulWide<uint32_t>;
  case ScalarType::S32:
    return mulWide<int32_t>;
  default:
    return nullptr;
  }
}

Handler wideMad(ScalarType T) {
  switch (T) {
  case ScalarType::U16:
    return madWide<uint16_t>;
  case ScalarType::S16:
    return madWide<int16_t>;
  case ScalarType::U32:
    return madWide<uint32_t>;
  case ScalarType::S32:
    return madWide<int32_t>;
  default:
    return nullptr;
  }
}

bool mul(Decoder &D) {
  std::string_view Part = D.takeOneOf({"lo", "hi", "wide"});
  if (Part.empty())
    return false;
  ScalarType T = D.takeType();
  if (Part != "wide")
    return emitOrNot(D,
                     Part == "lo" ? forInteger<Binary, MulLo>(T)
                                  : forInteger<Binary, MulHi>(T),
                     T, 2);
  Handler H = wideMul(T);
  if (!H)
    return false;
  unsigned Size = crsan::ptx::sizeOf(T);
  D.emit(H, {D.dest(0, 2 * Size), D.source(1, Size), D.source(2, Size)});
  return true;
}

bool mad(Decoder &D) {
  if (D.has("cc"))
    return false;
  std::string_view Part = D.takeOneOf({"lo", "hi", "wide"});
  if (Part.empty())
    return false;
  ScalarType T = D.takeType();
  if (Part == "hi" && D.take("sat"))
    return T == ScalarType::S32 &&
           emitOrNot(D, Ternary<MadHiSat, int32_t>::run, T, 3);
  if (Part != "wide")
    return emitOrNot(D,
                     Part == "lo" ? forInteger<Ternary, MadLo>(T)
                                  : forInteger<Ternary, MadHi>(T),
                     T, 3);
  Handler H = wideMad(T);
  if (!H)
    return false;
  unsigned Size = crsan::ptx::sizeOf(T);
  D.emit(H, {D.dest(0, 2 * Size), D.source(1, Size), D.source(2, Size),
             D.source(3, 2 * Size)});
  return true;
}

/// 24-bit operands; Aux: 1 high part, 2 add, 4 saturate, 8 signed.
uint64_t mul24Lane(uint64_t A, uint64_t B, uint64_t C, const Instruction &I) {
  auto Cut = [&](uint64_t V) {
    return I.Aux & 8 ? int64_t(int32_t(uint32_t(V) << 8) >> 8)
                     : int64_t(V & 0xFF'FFFF);
  };
  int64_t Product = Cut(A) * Cut(B);
  int64_t Part = I.Aux & 1 ? Product >> 16 : Product;
  if (!(I.Aux & 2))
    return uint32_t(Part);
  if (I.Aux & 4)
    return uint32_t(AddSat(int32_t(Part), int32_t(C)));
  return uint32_t(Part) + uint32_t(C);
}

bool mul24(Decoder &D) {
  uint64_t Aux = D.take("hi") ? 1 : 0;
  D.take("lo");
  Aux |= D.opcode() == "mad24" ? 2 : 0;
  Aux |= D.take("sat") ? 4 : 0;
  ScalarType T = D.takeType();
  if (T != ScalarType::U32 && T != ScalarType::S32)
    return false;
  Aux |= T == ScalarType::S32 ? 8 : 0;
  Ref C = Aux & 2 ? D.source(3, 4) : Ref();
  D.emit(slow<mul24Lane>, {D.dest(0, 4), D.source(1, 4), D.source(2, 4), C})
      .Aux = Aux;
  return true;
}

/// Dot products; Aux: 1 a signed, 2 b signed, 4 dp2a, 8 .hi
uint64_t dotLane(uint64_t A, uint64_t B, uint64_t C, const Instruction &I) {
  uint32_t Sum = uint32_t(C);
  bool TwoWay = I.Aux & 4;
  for (unsigned N = 0; N < (TwoWay ? 2u : 4u); ++N) {
    unsigned ByteOfB = TwoWay && (I.Aux & 8) ? N + 2 : N;
    int64_t P =
        TwoWay ? int64_t(uint16_t(A >> 16 * N)) : int64_t(uint8_t(A >> 8 * N));
    if (I.Aux & 1)
      P = TwoWay ? int64_t(int16_t(P)) : int64_t(int8_t(P));
    int64_t Q = uint8_t(B >> 8 * ByteOfB);
    if (I.Aux & 2)
      Q = int8_t(Q);
    Sum += uint32_t(P * Q);
  }
  return Sum;
}

bool dot(Decoder &D) {
  uint64_t Aux = D.opcode() == "dp2a" ? 4 : 0;
  Aux |= D.take("hi") ? 8 : 0;
  D.take("lo");
  ScalarType A = D.takeType(), B = D.takeType();
  auto IsWord = [](ScalarType T) {
    return T == ScalarType::U32 || T == ScalarType::S32;
  };
  if (!IsWord(A) || !IsWord(B))
    return false;
  Aux |= (A == ScalarType::S32 ? 1 : 0) | (B == ScalarType::S32 ? 2 : 0);
  D.emit(slow<dotLane>,
         {D.dest(0, 4), D.source(1, 4), D.source(2, 4), D.source(3, 4)})
      .Aux = Aux;
  return true;
}

//===----------------------------------------------------------------------===//
// Carry chains. Op[4] is the condition code; Aux: 1 reads it, 2 writes it,
// 4 subtracts, 8 multiplies first (16: the high part).
//===----------------------------------------------------------------------===//

template <class T> Outcome carryChain(Execution &X, const Instruction &I) {
  uint32_t In = I.Aux & 1 ? X.bits(I.Op[4]) : 0, Out = 0;
  bool Multiplies = I.Aux & 8;
  T *To = X.row<T>(I.Op[0]);
  const T *P = X.row<T>(I.Op[1]), *Q = X.row<T>(I.Op[2]),
          *R = Multiplies ? X.row<T>(I.Op[3]) : Q;
  forLanes(X.Mask, [&](unsigned L) {
    T A = P[L], B = R[L];
    if (Multiplies)
      A = I.Aux & 16 ? MulHi(P[L], Q[L]) : MulLo(P[L], Q[L]);
    using Wide = unsigned __int128;
    Wide Carry = In >> L & 1;
    Wide Sum =
        I.Aux & 4 ? Wide(A) - Wide(B) - Carry : Wide(A) + Wide(B) + Carry;
    To[L] = T(Sum);
    Out |= uint32_t(Sum >> 8 * sizeof(T) & 1) << L;
  });
  if (I.Aux & 2)
    X.setBits(I.Op[4], Out);
  return Outcome::Next;
}

bool carryOps(Decoder &D) {
  std::string_view Op = D.opcode();
  bool Reads = Op.back() == 'c', Writes = D.take("cc");
  if (!Reads && !Writes)
    return false;
  bool Multiplies = Op.substr(0, 3) == "mad";
  uint64_t Aux = (Reads ? 1 : 0) | (Writes ? 2 : 0) |
                 (Op.substr(0, 3) == "sub" ? 4 : 0) | (Multiplies ? 8 : 0);
  if (Multiplies) {
    std::string_view Part = D.takeOneOf({"lo", "hi"});
    if (Part.empty())
      return false;
    Aux |= Part == "hi" ? 16 : 0;
  }
  ScalarType T = D.takeType();
  unsigned Size = crsan::ptx::sizeOf(T);
  if (!isInteger(T) || (Size != 4 && Size != 8))
    return false;
  Handler H = Size == 4 ? carryChain<uint32_t> : carryChain<uint64_t>;
  // The high part of a product depends on the sign.
  if (Aux & 16 && T == ScalarType::S32)
    H = carryChain<int32_t>;
  if (Aux & 16 && T == ScalarType::S64)
    H = carryChain<int64_t>;
  D.emit(H, {D.dest(0, Size), D.source(1, Size), D.source(2, Size),
             Multiplies ? D.source(3, Size) : Ref(), D.carry()})
      .Aux = Aux;
  return true;
}

} // namespace

void crsan::sim::addIntegerOps(DecodeTable &T) {
  T.add({"add", "sub"}, addOrSub);
  T.add({"add", "sub", "addc", "subc", "mad", "madc"}, carryOps);
  T.add({"min", "max"}, minOrMax);
  T.add("mul", mul);
  T.add("mad", mad);
  T.add({"mul24", "mad24"}, mul24);
  T.add("div", simple<Div, 2>);
  T.add("rem", simple<Rem, 2>);
  T.add("neg", simple<Neg, 1>);
  T.add("abs", simple<Abs, 1>);
  T.add("sad", simple<Sad, 3>);
  T.add({"dp4a", "dp2a"}, dot);
}
