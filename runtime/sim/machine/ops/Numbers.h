// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating formats that the host has not.
#ifndef CRSAN_SIM_OPS_NUMBERS_H
#define CRSAN_SIM_OPS_NUMBERS_H

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace crsan::sim {

enum class Rounding : uint8_t { Nearest, Zero, Down, Up, NearestAway };

/// A binary format of at most 32 bits.
struct Format {
  unsigned Exponent, Mantissa; ///< Bits.
  bool HasInfinity = true;     ///< e4m3 has not: all ones is the only NaN.
};
inline constexpr Format Half{5, 10}, Brain{8, 7}, Single{8, 23}, Tf32{8, 10},
    E4M3{4, 3, false}, E5M2{5, 2};

/// V in a smaller format, rounded once. Saturates: to the largest finite value
/// instead of infinity (or NaN).
inline uint32_t narrow(double V, Format F, Rounding R, bool Saturates = false) {
  const int Bias = (1 << (F.Exponent - 1)) - 1;
  const uint32_t Sign = std::signbit(V) ? 1u << (F.Exponent + F.Mantissa) : 0;
  const uint32_t Ones = (1u << F.Exponent) - 1;
  const uint32_t Infinity = Ones << F.Mantissa;
  const uint32_t Largest =
      F.HasInfinity ? Infinity - 1 : (Infinity | ((1u << F.Mantissa) - 1)) - 1;
  const uint32_t NaN =
      F.HasInfinity ? (Infinity | ((1u << F.Mantissa) - 1)) : Largest + 1;
  if (std::isnan(V))
    return NaN;
  if (std::isinf(V))
    return Saturates       ? Sign | Largest
           : F.HasInfinity ? Sign | Infinity
                           : Sign | NaN;
  if (V == 0)
    return Sign;
  int Exponent;
  double Fraction = std::frexp(std::fabs(V), &Exponent); // In [0.5, 1).
  int Least = 1 - Bias;                                  // Of normal numbers.
  int Scale = std::max(Exponent - 1, Least);
  // In units of the last place; exact, for doubles have more of them.
  double Units = std::ldexp(Fraction, Exponent - Scale + int(F.Mantissa));
  double Whole = std::floor(Units), Rest = Units - Whole;
  bool Up = false;
  switch (R) {
  case Rounding::Nearest:
    Up = Rest > 0.5 || (Rest == 0.5 && std::fmod(Whole, 2) != 0);
    break;
  case Rounding::NearestAway:
    Up = Rest >= 0.5;
    break;
  case Rounding::Zero:
    break;
  case Rounding::Down:
    Up = Sign && Rest > 0;
    break;
  case Rounding::Up:
    Up = !Sign && Rest > 0;
    break;
  }
  uint64_t Mantissa = uint64_t(Whole) + Up;
  // A carry into the exponent is what it looks like.
  uint64_t Bits = Mantissa >> F.Mantissa
                      ? (uint64_t(Scale + Bias - 1) << F.Mantissa) + Mantissa
                      : Mantissa;
  if (Bits > Largest) {
    bool ToInfinity = R == Rounding::Nearest || R == Rounding::NearestAway ||
                      (R == Rounding::Up && !Sign) ||
                      (R == Rounding::Down && Sign);
    if (Saturates || !ToInfinity)
      return Sign | Largest;
    return F.HasInfinity ? Sign | Infinity : Sign | NaN;
  }
  return Sign | uint32_t(Bits);
}

inline double widen(uint32_t Bits, Format F) {
  const int Bias = (1 << (F.Exponent - 1)) - 1;
  bool Sign = Bits >> (F.Exponent + F.Mantissa) & 1;
  uint32_t Exponent = Bits >> F.Mantissa & ((1u << F.Exponent) - 1);
  uint32_t Mantissa = Bits & ((1u << F.Mantissa) - 1);
  double V;
  if (Exponent == (1u << F.Exponent) - 1 &&
      (F.HasInfinity || Mantissa == (1u << F.Mantissa) - 1))
    V = Mantissa ? __builtin_nan("") : __builtin_inf();
  else if (Exponent == 0)
    V = std::ldexp(double(Mantissa), 1 - Bias - int(F.Mantissa));
  else
    V = std::ldexp(double(Mantissa | 1u << F.Mantissa),
                   int(Exponent) - Bias - int(F.Mantissa));
  return Sign ? -V : V;
}

inline float brainToFloat(uint16_t Bits) {
  return std::bit_cast<float>(uint32_t(Bits) << 16);
}

/// widen() for what is converted by the thousand.
inline float halfToFloat(uint16_t Bits) {
  uint32_t Sign = uint32_t(Bits & 0x8000) << 16, Rest = uint32_t(Bits & 0x7FFF)
                                                        << 13;
  if ((Bits & 0x7C00) == 0x7C00)
    return std::bit_cast<float>(Sign | 0x7F80'0000 | Rest);
  // Rebiases the exponent, of subnormal numbers too.
  return std::bit_cast<float>(
      Sign | std::bit_cast<uint32_t>(std::bit_cast<float>(Rest) * 0x1p112f));
}

/// What NVIDIA's units give for every NaN.
inline float canonical(float V) {
  return V != V ? std::bit_cast<float>(0x7FFF'FFFFu) : V;
}
inline double canonical(double V) { return V; }

inline float flushed(float V) {
  return std::fabs(V) < 0x1p-126f ? std::copysign(0.0f, V) : V;
}
inline double flushed(double V) { return V; }

/// Host arithmetic rounds like this while it lives.
class RoundingScope {
public:
  explicit RoundingScope(Rounding R)
      : IsOther(R != Rounding::Nearest && R != Rounding::NearestAway) {
    if (IsOther)
      std::fesetround(R == Rounding::Zero   ? FE_TOWARDZERO
                      : R == Rounding::Down ? FE_DOWNWARD
                                            : FE_UPWARD);
  }
  ~RoundingScope() {
    if (IsOther)
      std::fesetround(FE_TONEAREST);
  }
  RoundingScope(const RoundingScope &) = delete;
  RoundingScope &operator=(const RoundingScope &) = delete;

private:
  bool IsOther;
};

} // namespace crsan::sim

#endif // CRSAN_SIM_OPS_NUMBERS_H
