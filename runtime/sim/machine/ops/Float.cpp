// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic of f32 and f64, and of halves by way of them.
#include "ops/Lanes.h"
#include "ops/Numbers.h"

#include <algorithm>

using namespace crsan::sim;

namespace {

/// How an operation treats its operands and result; packed in Instruction::Aux.
struct Mode {
  Rounding Round = Rounding::Nearest;
  bool Flush = false, Saturate = false, Relu = false, NaN = false,
       XorSign = false, Abs = false;

  uint64_t pack() const {
    return uint64_t(Round) | Flush << 3 | Saturate << 4 | Relu << 5 | NaN << 6 |
           XorSign << 7 | Abs << 8;
  }
  static Mode of(uint64_t A) {
    return {Rounding(A & 7), bool(A & 8),   bool(A & 16), bool(A & 32),
            bool(A & 64),    bool(A & 128), bool(A & 256)};
  }
};

Mode takeMode(Decoder &D) {
  Mode M;
  std::string_view R = D.takeOneOf({"rn", "rz", "rm", "rp"});
  M.Round = R == "rz"   ? Rounding::Zero
            : R == "rm" ? Rounding::Down
            : R == "rp" ? Rounding::Up
                        : Rounding::Nearest;
  M.Flush = D.take("ftz");
  M.Saturate = D.take("sat");
  M.Relu = D.take("relu");
  M.NaN = D.take("NaN");
  M.XorSign = D.take("xorsign");
  M.Abs = D.take("abs");
  return M;
}

//===----------------------------------------------------------------------===//
// One lane
//===----------------------------------------------------------------------===//

constexpr auto Add = [](auto A, auto B, const Mode &) { return A + B; };
constexpr auto Sub = [](auto A, auto B, const Mode &) { return A - B; };
constexpr auto Mul = [](auto A, auto B, const Mode &) { return A * B; };
constexpr auto Div = [](auto A, auto B, const Mode &) { return A / B; };
constexpr auto Fma = [](auto A, auto B, auto C, const Mode &) {
  return std::fma(A, B, C);
};

template <bool IsMin, class T> T extreme(T A, T B, const Mode &M) {
  bool Negative = std::signbit(A) != std::signbit(B);
  if (M.Abs) {
    A = std::fabs(A);
    B = std::fabs(B);
  }
  T R;
  if (A != A || B != B)
    R = M.NaN || (A != A && B != B) ? T(NAN) : A != A ? B : A;
  else if (A == B) // Zeros: the negative one is the smaller.
    R = std::signbit(A) == IsMin ? A : B;
  else
    R = (A < B) == IsMin ? A : B;
  return M.XorSign && R == R ? std::copysign(R, Negative ? T(-1) : T(1)) : R;
}
constexpr auto Min = [](auto A, auto B, const Mode &M) {
  return extreme<true>(A, B, M);
};
constexpr auto Max = [](auto A, auto B, const Mode &M) {
  return extreme<false>(A, B, M);
};

constexpr auto Sqrt = [](auto A, const Mode &) { return std::sqrt(A); };
constexpr auto Reciprocal = [](auto A, const Mode &) {
  return decltype(A)(1) / A;
};
constexpr auto ReciprocalSqrt = [](auto A, const Mode &) {
  return decltype(A)(1.0 / std::sqrt(double(A)));
};
constexpr auto Sine = [](auto A, const Mode &) {
  return decltype(A)(std::sin(double(A)));
};
constexpr auto Cosine = [](auto A, const Mode &) {
  return decltype(A)(std::cos(double(A)));
};
constexpr auto Exp2 = [](auto A, const Mode &) {
  return decltype(A)(std::exp2(double(A)));
};
constexpr auto Log2 = [](auto A, const Mode &) {
  return decltype(A)(std::log2(double(A)));
};
constexpr auto Tanh = [](auto A, const Mode &) {
  return decltype(A)(std::tanh(double(A)));
};

//===----------------------------------------------------------------------===//
// Formats: how a lane's value is read and written
//===----------------------------------------------------------------------===//

struct AsFloat {
  using Row = float;
  using Value = float;
  static float read(float V) { return V; }
  static float write(float V, const Mode &) { return canonical(V); }
};
struct AsDouble {
  using Row = double;
  using Value = double;
  static double read(double V) { return V; }
  static double write(double V, const Mode &) { return V; }
};
/// Computed in double: one rounding, but for fused sums of far exponents.
struct AsHalf {
  using Row = uint16_t;
  using Value = double;
  static double read(uint16_t V) { return widen(V, Half); }
  static uint16_t write(double V, const Mode &M) {
    return uint16_t(narrow(V, Half, M.Round));
  }
};
struct AsBrain {
  using Row = uint16_t;
  using Value = double;
  static double read(uint16_t V) { return brainToFloat(V); }
  static uint16_t write(double V, const Mode &M) {
    return uint16_t(narrow(V, Brain, M.Round));
  }
};

template <class Fmt>
typename Fmt::Value readLane(typename Fmt::Row V, const Mode &M) {
  auto A = Fmt::read(V);
  return M.Flush ? flushed(A) : A;
}

template <class Fmt>
typename Fmt::Row writeLane(typename Fmt::Value V, const Mode &M) {
  if (M.Saturate)
    V = V > 0 ? std::min<typename Fmt::Value>(V, 1) : 0; // NaN becomes 0, too.
  if (M.Relu && V < 0)
    V = 0;
  if (M.Flush)
    V = flushed(V);
  return Fmt::write(V, M);
}

/// Reads, computes and writes the elements of a lane, of which a row has
/// `PerLane` each.
template <class Fmt, auto F, unsigned Sources, unsigned PerLane = 1>
Outcome lanewise(Execution &X, const Instruction &I) {
  using T = typename Fmt::Row;
  const Mode M = Mode::of(I.Aux);
  RoundingScope Scope(M.Round);
  T *To = X.row<T>(I.Op[0]);
  const T *A = X.row<T>(I.Op[1]), *B = X.row<T>(I.Op[2]),
          *C = X.row<T>(I.Op[3]);
  auto Read = [&](const T &V) { return readLane<Fmt>(V, M); };
  for (uint32_t Mask = X.Mask; Mask; Mask &= Mask - 1)
    for (unsigned N = PerLane * std::countr_zero(Mask), End = N + PerLane;
         N < End; ++N) {
      if constexpr (Sources == 1)
        To[N] = writeLane<Fmt>(F(Read(A[N]), M), M);
      else if constexpr (Sources == 2)
        To[N] = writeLane<Fmt>(F(Read(A[N]), Read(B[N]), M), M);
      else
        To[N] = writeLane<Fmt>(F(Read(A[N]), Read(B[N]), Read(C[N]), M), M);
    }
  return Outcome::Next;
}

/// Nearest, not flushed, not clamped: what almost all code has.
template <class T, auto F, unsigned Sources>
Outcome plain(Execution &X, const Instruction &I) {
  const Mode M;
  T *To = X.row<T>(I.Op[0]);
  const T *A = X.row<T>(I.Op[1]), *B = X.row<T>(I.Op[2]),
          *C = X.row<T>(I.Op[3]);
  forLanes(X.Mask, [&](unsigned L) {
    if constexpr (Sources == 1)
      To[L] = canonical(F(A[L], M));
    else if constexpr (Sources == 2)
      To[L] = canonical(F(A[L], B[L], M));
    else
      To[L] = canonical(F(A[L], B[L], C[L], M));
  });
  return Outcome::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <auto F, unsigned Sources>
Handler forFloat(ScalarType T, const Mode &M) {
  bool IsPlain = M.pack() == 0;
  switch (T) {
  case ScalarType::F32:
    return IsPlain ? plain<float, F, Sources> : lanewise<AsFloat, F, Sources>;
  case ScalarType::F64:
    return IsPlain ? plain<double, F, Sources> : lanewise<AsDouble, F, Sources>;
  case ScalarType::F16:
    return lanewise<AsHalf, F, Sources>;
  case ScalarType::BF16:
    return lanewise<AsBrain, F, Sources>;
  case ScalarType::F16x2:
    return lanewise<AsHalf, F, Sources, 2>;
  case ScalarType::BF16x2:
    return lanewise<AsBrain, F, Sources, 2>;
  case ScalarType::F32x2:
    return lanewise<AsFloat, F, Sources, 2>;
  default:
    return nullptr;
  }
}

template <auto F, unsigned Sources> bool arithmetic(Decoder &D) {
  Mode M = takeMode(D);
  // How exact an approximation is: at least as asked for.
  D.takeOneOf({"approx", "full"});
  ScalarType T = D.takeType();
  Handler H = forFloat<F, Sources>(T, M);
  if (!H)
    return false;
  unsigned Size = crsan::ptx::sizeOf(T);
  Ref A = D.source(1, Size), B = Sources > 1 ? D.source(2, Size) : Ref(),
      C = Sources > 2 ? D.source(3, Size) : Ref();
  D.emit(H, {D.dest(0, Size), A, B, C}).Aux = M.pack();
  return true;
}

/// min and max may have three operands.
template <auto F> bool extremes(Decoder &D) {
  if (D.numOperands() != 4)
    return arithmetic<F, 2>(D);
  Mode M = takeMode(D);
  ScalarType T = D.takeType();
  if (T != ScalarType::F32)
    return false;
  Ref First = D.temporary(4);
  Ref A = D.source(1, 4), B = D.source(2, 4), C = D.source(3, 4);
  D.emit(lanewise<AsFloat, F, 2>, {First, A, B}).Aux = M.pack();
  D.emit(lanewise<AsFloat, F, 2>, {D.dest(0, 4), First, C}).Aux = M.pack();
  return true;
}

/// neg and abs change the sign bit only (NaN too), and may flush.
template <bool IsNeg>
uint64_t signLane(uint64_t A, uint64_t, uint64_t, const Instruction &I) {
  uint64_t Signs = uint64_t(I.Imm);
  if (I.Aux && (A & 0x7F80'0000) == 0)
    A &= 0x8000'0000;
  return IsNeg ? A ^ Signs : A & ~Signs;
}

template <bool IsNeg> bool signOps(Decoder &D) {
  bool Flush = D.take("ftz");
  ScalarType T = D.takeType();
  uint64_t Signs = 0;
  if (T == ScalarType::F32)
    Signs = 0x8000'0000;
  else if (T == ScalarType::F64)
    Signs = uint64_t(1) << 63;
  else if (T == ScalarType::F16 || T == ScalarType::BF16)
    Signs = 0x8000;
  else if (T == ScalarType::F16x2 || T == ScalarType::BF16x2)
    Signs = 0x8000'8000;
  else
    return false;
  unsigned Size = crsan::ptx::sizeOf(T);
  Instruction &I =
      D.emit(slow<signLane<IsNeg>>, {D.dest(0, Size), D.source(1, Size)});
  I.Imm = int64_t(Signs);
  I.Aux = Flush && T == ScalarType::F32;
  return true;
}

bool copySign(Decoder &D) {
  ScalarType T = D.takeType();
  if (T != ScalarType::F32 && T != ScalarType::F64)
    return false;
  unsigned Size = crsan::ptx::sizeOf(T);
  D.emit(slow<[](uint64_t A, uint64_t B, uint64_t, const Instruction &I) {
           return (A & uint64_t(I.Imm)) | (B & ~uint64_t(I.Imm));
         }>,
         {D.dest(0, Size), D.source(1, Size), D.source(2, Size)})
      .Imm = Size == 4 ? 0x8000'0000 : int64_t(uint64_t(1) << 63);
  return true;
}

enum class Test : uint8_t {
  Finite,
  Infinite,
  Number,
  NotANumber,
  Normal,
  Subnormal
};

template <class T> Outcome testOp(Execution &X, const Instruction &I) {
  const T *A = X.row<T>(I.Op[1]);
  uint32_t Is = 0;
  forLanes(X.Mask, [&](unsigned L) {
    bool Yes = false;
    switch (Test(I.Aux)) {
    case Test::Finite:
      Yes = std::isfinite(A[L]);
      break;
    case Test::Infinite:
      Yes = std::isinf(A[L]);
      break;
    case Test::Number:
      Yes = !std::isnan(A[L]);
      break;
    case Test::NotANumber:
      Yes = std::isnan(A[L]);
      break;
    case Test::Normal:
      Yes = std::isnormal(A[L]) || A[L] == 0;
      break;
    case Test::Subnormal:
      Yes = std::fpclassify(A[L]) == FP_SUBNORMAL;
      break;
    }
    Is |= uint32_t(Yes) << L;
  });
  X.setBits(I.Op[0], Is);
  return Outcome::Next;
}

bool testp(Decoder &D) {
  static constexpr std::string_view Names[] = {
      "finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  for (unsigned N = 0; N < std::size(Names); ++N) {
    if (!D.take(Names[N]))
      continue;
    ScalarType T = D.takeType();
    if (T != ScalarType::F32 && T != ScalarType::F64)
      return false;
    D.emit(T == ScalarType::F32 ? testOp<float> : testOp<double>,
           {D.destPredicate(D.operand(0)), D.source(1, crsan::ptx::sizeOf(T))})
        .Aux = N;
    return true;
  }
  return false;
}

} // namespace

void crsan::sim::addFloatOps(DecodeTable &T) {
  T.add("add", arithmetic<Add, 2>);
  T.add("sub", arithmetic<Sub, 2>);
  T.add("mul", arithmetic<Mul, 2>);
  T.add("div", arithmetic<Div, 2>);
  T.add({"fma", "mad"}, arithmetic<Fma, 3>);
  T.add("min", extremes<Min>);
  T.add("max", extremes<Max>);
  T.add("sqrt", arithmetic<Sqrt, 1>);
  T.add("rcp", arithmetic<Reciprocal, 1>);
  T.add("rsqrt", arithmetic<ReciprocalSqrt, 1>);
  T.add("sin", arithmetic<Sine, 1>);
  T.add("cos", arithmetic<Cosine, 1>);
  T.add("ex2", arithmetic<Exp2, 1>);
  T.add("lg2", arithmetic<Log2, 1>);
  T.add("tanh", arithmetic<Tanh, 1>);
  T.add("neg", signOps<true>);
  T.add("abs", signOps<false>);
  T.add("copysign", copySign);
  T.add("testp", testp);
}
