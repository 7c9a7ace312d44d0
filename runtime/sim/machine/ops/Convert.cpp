// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt.
#include "ops/Lanes.h"
#include "ops/Numbers.h"

#include <algorithm>
#include <limits>

using namespace crsan::sim;

namespace {

//===----------------------------------------------------------------------===//
// Integers: the row may be wider than the type
//===----------------------------------------------------------------------===//

template <class D, class S>
Outcome integerOp(Execution &X, const Instruction &I) {
  if (I.Op[0].Size == sizeof(D) && I.Op[1].Size == sizeof(S) && !I.Aux)
    return unary<[](S A) { return D(A); }, D, S>(X, I);
  forLanes(X.Mask, [&](unsigned L) {
    S A = S(X.value(I.Op[1], L));
    D R = D(A);
    if (I.Aux) { // .sat
      using Wide = __int128;
      R = D(std::clamp<Wide>(Wide(A), Wide(std::numeric_limits<D>::min()),
                             Wide(std::numeric_limits<D>::max())));
    }
    X.setValue(I.Op[0], L,
               std::is_signed_v<D> ? uint64_t(int64_t(R)) : uint64_t(R));
  });
  return Outcome::Next;
}

template <class D> Handler toInteger(ScalarType S) {
  switch (S) {
  case ScalarType::U8:
  case ScalarType::B8:
    return integerOp<D, uint8_t>;
  case ScalarType::S8:
    return integerOp<D, int8_t>;
  case ScalarType::U16:
  case ScalarType::B16:
    return integerOp<D, uint16_t>;
  case ScalarType::S16:
    return integerOp<D, int16_t>;
  case ScalarType::U32:
  case ScalarType::B32:
    return integerOp<D, uint32_t>;
  case ScalarType::S32:
    return integerOp<D, int32_t>;
  case ScalarType::U64:
  case ScalarType::B64:
    return integerOp<D, uint64_t>;
  case ScalarType::S64:
    return integerOp<D, int64_t>;
  default:
    return nullptr;
  }
}

Handler betweenIntegers(ScalarType To, ScalarType From) {
  switch (To) {
  case ScalarType::U8:
    return toInteger<uint8_t>(From);
  case ScalarType::S8:
    return toInteger<int8_t>(From);
  case ScalarType::U16:
    return toInteger<uint16_t>(From);
  case ScalarType::S16:
    return toInteger<int16_t>(From);
  case ScalarType::U32:
    return toInteger<uint32_t>(From);
  case ScalarType::S32:
    return toInteger<int32_t>(From);
  case ScalarType::U64:
    return toInteger<uint64_t>(From);
  case ScalarType::S64:
    return toInteger<int64_t>(From);
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Everything that has a floating side
//===----------------------------------------------------------------------===//

struct Conversion {
  ScalarType To, From;
  Rounding Round = Rounding::Nearest;
  bool ToWhole = false; ///< .rni and the like.
  bool Flush = false, Saturate = false, SatFinite = false, Relu = false;

  uint64_t pack() const {
    return uint64_t(To) | uint64_t(From) << 8 | uint64_t(Round) << 16 |
           uint64_t(ToWhole) << 20 | uint64_t(Flush) << 21 |
           uint64_t(Saturate) << 22 | uint64_t(SatFinite) << 23 |
           uint64_t(Relu) << 24;
  }
  static Conversion of(uint64_t A) {
    Conversion P;
    P.To = ScalarType(A & 0xFF);
    P.From = ScalarType(A >> 8 & 0xFF);
    P.Round = Rounding(A >> 16 & 0xF);
    P.ToWhole = A >> 20 & 1;
    P.Flush = A >> 21 & 1;
    P.Saturate = A >> 22 & 1;
    P.SatFinite = A >> 23 & 1;
    P.Relu = A >> 24 & 1;
    return P;
  }
};

double readFloat(uint64_t Bits, ScalarType T, bool Flush) {
  switch (T) {
  case ScalarType::F32: {
    float V = std::bit_cast<float>(uint32_t(Bits));
    return Flush ? flushed(V) : V;
  }
  case ScalarType::F16:
    return widen(uint32_t(Bits & 0xFFFF), Half);
  case ScalarType::BF16:
    return brainToFloat(uint16_t(Bits));
  case ScalarType::E4M3:
    return widen(uint32_t(Bits & 0xFF), E4M3);
  case ScalarType::E5M2:
    return widen(uint32_t(Bits & 0xFF), E5M2);
  default:
    return std::bit_cast<double>(Bits);
  }
}

double toWhole(double V, Rounding R) {
  switch (R) {
  case Rounding::Zero:
    return std::trunc(V);
  case Rounding::Down:
    return std::floor(V);
  case Rounding::Up:
    return std::ceil(V);
  default:
    return std::nearbyint(V);
  }
}

uint64_t writeFloat(double V, const Conversion &P) {
  if (P.Saturate)
    V = V > 0 ? std::min(V, 1.0) : 0;
  if (P.Relu && V < 0)
    V = 0;
  switch (P.To) {
  case ScalarType::F32: {
    float R =
        V != V ? std::bit_cast<float>(0x7FFF'FFFFu)
               : std::bit_cast<float>(narrow(V, Single, P.Round, P.SatFinite));
    return std::bit_cast<uint32_t>(P.Flush ? flushed(R) : R);
  }
  case ScalarType::F16:
    return narrow(V, Half, P.Round, P.SatFinite);
  case ScalarType::BF16:
    return narrow(V, Brain, P.Round, P.SatFinite);
  case ScalarType::TF32:
    return uint64_t(narrow(V, Tf32, P.Round, P.SatFinite)) << 13;
  case ScalarType::E4M3:
    return narrow(V, E4M3, P.Round, true);
  case ScalarType::E5M2:
    return narrow(V, E5M2, P.Round, true);
  default:
    return std::bit_cast<uint64_t>(V);
  }
}

/// Clamped to the type; NaN is 0 (all ones but the sign for 64 bits, as ptxas
/// has it).
uint64_t floatToInteger(double V, ScalarType To) {
  unsigned Bits = 8 * crsan::ptx::sizeOf(To);
  bool IsSigned = crsan::ptx::isSigned(To);
  if (V != V)
    return Bits == 64 ? uint64_t(1) << 63 : 0;
  if (IsSigned) {
    double Limit = std::ldexp(1.0, int(Bits) - 1);
    if (V >= Limit)
      return (uint64_t(1) << (Bits - 1)) - 1;
    return V < -Limit ? uint64_t(-(int64_t(1) << (Bits - 2)) * 2)
                      : uint64_t(int64_t(V));
  }
  if (V <= 0)
    return 0;
  return V >= std::ldexp(1.0, int(Bits)) ? ~uint64_t(0) >> (64 - Bits)
                                         : uint64_t(V);
}

uint64_t integerToFloat(uint64_t Bits, const Conversion &P) {
  unsigned Size = crsan::ptx::sizeOf(P.From);
  bool IsSigned = crsan::ptx::isSigned(P.From);
  unsigned Shift = 64 - 8 * Size;
  int64_t S = int64_t(Bits << Shift) >> Shift;
  uint64_t U = Bits << Shift >> Shift;
  RoundingScope Scope(P.Round);
  if (P.To == ScalarType::F32) { // Once, from all 64 bits.
    volatile float R = IsSigned ? float(S) : float(U);
    return writeFloat(R, P);
  }
  volatile double R = IsSigned ? double(S) : double(U);
  return writeFloat(R, P);
}

Outcome generalOp(Execution &X, const Instruction &I) {
  const Conversion P = Conversion::of(I.Aux);
  bool FromFloat = crsan::ptx::isFloat(P.From),
       ToFloat = crsan::ptx::isFloat(P.To);
  forLanes(X.Mask, [&](unsigned L) {
    uint64_t A = X.value(I.Op[1], L);
    if (!FromFloat)
      return X.setValue(I.Op[0], L, integerToFloat(A, P));
    double V = readFloat(A, P.From, P.Flush);
    if (P.ToWhole)
      V = toWhole(V, P.Round);
    X.setValue(I.Op[0], L,
               ToFloat ? writeFloat(V, P) : floatToInteger(V, P.To));
  });
  return Outcome::Next;
}

/// Two values into one row (Op[1] above Op[2]), or out of one (Op[2] invalid).
Outcome pairOp(Execution &X, const Instruction &I) {
  Conversion P = Conversion::of(I.Aux);
  unsigned ToBits = 4 * I.Op[0].Size, FromBits = 4 * I.Op[1].Size;
  bool OutOfOne = !I.Op[2].IsValid;
  forLanes(X.Mask, [&](unsigned L) {
    uint64_t A = X.value(I.Op[1], L), B = OutOfOne ? A : X.value(I.Op[2], L);
    if (OutOfOne)
      A >>= FromBits;
    uint64_t High = writeFloat(readFloat(A, P.From, P.Flush), P),
             Low = writeFloat(readFloat(B, P.From, P.Flush), P);
    uint64_t Cut = (uint64_t(1) << ToBits) - 1;
    X.setValue(I.Op[0], L, (High & Cut) << ToBits | (Low & Cut));
  });
  return Outcome::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

ScalarType elementOf(ScalarType T) {
  switch (T) {
  case ScalarType::F16x2:
    return ScalarType::F16;
  case ScalarType::BF16x2:
    return ScalarType::BF16;
  case ScalarType::E4M3x2:
    return ScalarType::E4M3;
  case ScalarType::E5M2x2:
    return ScalarType::E5M2;
  default:
    return ScalarType::None;
  }
}

void takeRounding(Decoder &D, Conversion &P) {
  static constexpr std::pair<std::string_view, Rounding> Names[] = {
      {"rn", Rounding::Nearest},
      {"rz", Rounding::Zero},
      {"rm", Rounding::Down},
      {"rp", Rounding::Up}};
  for (auto [Name, R] : Names) {
    if (D.take(Name))
      P.Round = R;
    if (D.take(std::string(Name) + "i")) {
      P.Round = R;
      P.ToWhole = true;
    }
  }
  if (D.take("rna"))
    P.Round = Rounding::NearestAway;
}

/// Op: result, upper, lower, what goes above them. Aux: bits of each; Imm: they
/// are signed.
Outcome packOp(Execution &X, const Instruction &I) {
  const unsigned Bits = unsigned(I.Aux);
  const int64_t Most = (int64_t(1) << (I.Imm ? Bits - 1 : Bits)) - 1,
                Least = I.Imm ? -Most - 1 : 0;
  const uint64_t Cut = (uint64_t(1) << Bits) - 1;
  forLanes(X.Mask, [&](unsigned L) {
    auto Clamped = [&](const Ref &R) {
      return uint64_t(std::clamp<int64_t>(X.row<int32_t>(R)[L], Least, Most)) &
             Cut;
    };
    uint64_t V = Clamped(I.Op[1]) << Bits | Clamped(I.Op[2]);
    if (I.Op[3].IsValid)
      V |= X.value(I.Op[3], L) << 2 * Bits;
    X.setValue(I.Op[0], L, V);
  });
  return Outcome::Next;
}

bool pack(Decoder &D) {
  if (!D.take("pack") || !D.take("sat"))
    return false;
  std::string_view To =
      D.takeOneOf({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  if (To.empty() || !D.take("s32"))
    return false;
  const unsigned Bits = To.size() == 3 ? 16 : unsigned(To[1] - '0');
  if (Bits != 16 && !D.take("b32"))
    return false;
  Ref A = D.source(1, 4), B = D.source(2, 4),
      C = Bits != 16 ? D.source(3, 4) : Ref();
  Instruction &I = D.emit(packOp, {D.dest(0, 4), A, B, C});
  I.Aux = Bits;
  I.Imm = To[0] == 's';
  return true;
}

bool convert(Decoder &D) {
  if (D.has("pack"))
    return false;
  Conversion P;
  takeRounding(D, P);
  P.Flush = D.take("ftz");
  P.Saturate = D.take("sat");
  P.SatFinite = D.take("satfinite");
  P.Relu = D.take("relu");
  P.To = D.takeType();
  P.From = D.takeType();
  if (P.To == ScalarType::None || P.From == ScalarType::None)
    return false;
  unsigned ToSize = crsan::ptx::sizeOf(P.To),
           FromSize = crsan::ptx::sizeOf(P.From);
  if (ScalarType Element = elementOf(P.To); Element != ScalarType::None) {
    ScalarType From = elementOf(P.From);
    bool OutOfOne = From != ScalarType::None;
    P.To = Element;
    P.From = OutOfOne ? From : P.From;
    Ref A = D.source(1, FromSize), B = OutOfOne ? Ref() : D.source(2, FromSize);
    D.emit(pairOp, {D.dest(0, ToSize), A, B}).Aux = P.pack();
    return true;
  }
  if (elementOf(P.From) != ScalarType::None)
    return false;
  Ref A = D.sourceOfAnySize(D.operand(1), FromSize),
      To = D.destOfAnySize(D.operand(0), ToSize);
  if (isInteger(P.To) && isInteger(P.From)) {
    Handler H = betweenIntegers(P.To, P.From);
    if (H)
      D.emit(H, {To, A}).Aux = P.Saturate;
    return H;
  }
  D.emit(generalOp, {To, A}).Aux = P.pack();
  return true;
}

} // namespace

void crsan::sim::addConvertOps(DecodeTable &T) {
  T.add("cvt", pack);
  T.add("cvt", convert);
}
