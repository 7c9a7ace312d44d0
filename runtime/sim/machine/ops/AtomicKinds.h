// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What atomic operations compute.
//
// Of atom and red, and of the copies that reduce.
#ifndef CRSAN_SIM_OPS_ATOMICKINDS_H
#define CRSAN_SIM_OPS_ATOMICKINDS_H

#include "ops/Lanes.h"
#include "ops/Numbers.h"

#include <algorithm>

namespace crsan::sim {

enum class AtomicKind : uint8_t {
  And,
  Or,
  Xor,
  Exch,
  Add,
  Inc,
  Dec,
  Min,
  Max,
  Cas
};

inline double addHalf(uint16_t A, uint16_t B, bool IsBrain) {
  return IsBrain ? double(brainToFloat(A)) + brainToFloat(B)
                 : widen(A, Half) + widen(B, Half);
}

inline uint16_t halfOp(AtomicKind K, uint16_t A, uint16_t B, bool IsBrain) {
  const Format F = IsBrain ? Brain : Half;
  if (K == AtomicKind::Add)
    return uint16_t(narrow(addHalf(A, B, IsBrain), F, Rounding::Nearest));
  double X = widen(A, F), Y = widen(B, F);
  if (X != X)
    return B;
  return Y != Y || (K == AtomicKind::Min ? X <= Y : X >= Y) ? A : B;
}

/// The new value; C is the third operand (cas: B is compared, C is written).
inline uint64_t newValue(AtomicKind K, ScalarType T, uint64_t Old, uint64_t B,
                         uint64_t C) {
  switch (T) {
  case ScalarType::F32:
    return std::bit_cast<uint32_t>(
        canonical(std::bit_cast<float>(uint32_t(Old)) +
                  std::bit_cast<float>(uint32_t(B))));
  case ScalarType::F64:
    return std::bit_cast<uint64_t>(std::bit_cast<double>(Old) +
                                   std::bit_cast<double>(B));
  case ScalarType::F16:
  case ScalarType::BF16:
    return halfOp(K, uint16_t(Old), uint16_t(B), T == ScalarType::BF16);
  case ScalarType::F16x2:
  case ScalarType::BF16x2: {
    bool IsBrain = T == ScalarType::BF16x2;
    return uint32_t(halfOp(K, uint16_t(Old), uint16_t(B), IsBrain)) |
           uint32_t(halfOp(K, uint16_t(Old >> 16), uint16_t(B >> 16), IsBrain))
               << 16;
  }
  default:
    break;
  }
  bool Is32 = crsan::ptx::sizeOf(T) == 4, IsSigned = crsan::ptx::isSigned(T);
  int64_t SOld = Is32 ? int64_t(int32_t(Old)) : int64_t(Old),
          SB = Is32 ? int64_t(int32_t(B)) : int64_t(B);
  switch (K) {
  case AtomicKind::And:
    return Old & B;
  case AtomicKind::Or:
    return Old | B;
  case AtomicKind::Xor:
    return Old ^ B;
  case AtomicKind::Exch:
    return B;
  case AtomicKind::Add:
    return Old + B;
  case AtomicKind::Inc:
    return Old >= B ? 0 : Old + 1;
  case AtomicKind::Dec:
    return Old == 0 || Old > B ? B : Old - 1;
  case AtomicKind::Min:
    return IsSigned ? uint64_t(std::min(SOld, SB)) : std::min(Old, B);
  case AtomicKind::Max:
    return IsSigned ? uint64_t(std::max(SOld, SB)) : std::max(Old, B);
  case AtomicKind::Cas:
    return Old == B ? C : Old;
  }
  return Old;
}

inline std::optional<AtomicKind> takeAtomicKind(Decoder &D) {
  static constexpr std::pair<std::string_view, AtomicKind> Names[] = {
      {"and", AtomicKind::And}, {"or", AtomicKind::Or},
      {"xor", AtomicKind::Xor}, {"exch", AtomicKind::Exch},
      {"add", AtomicKind::Add}, {"inc", AtomicKind::Inc},
      {"dec", AtomicKind::Dec}, {"min", AtomicKind::Min},
      {"max", AtomicKind::Max}, {"cas", AtomicKind::Cas}};
  for (auto [Name, K] : Names)
    if (D.take(Name))
      return K;
  return std::nullopt;
}

/// Which types an operation has; everything else is refused.
inline bool isAtomicKnown(AtomicKind K, ScalarType T) {
  if (crsan::ptx::isFloat(T)) {
    bool IsHalf = T == ScalarType::F16 || T == ScalarType::BF16 ||
                  T == ScalarType::F16x2 || T == ScalarType::BF16x2;
    return K == AtomicKind::Add
               ? IsHalf || T == ScalarType::F32 || T == ScalarType::F64
               : IsHalf && (K == AtomicKind::Min || K == AtomicKind::Max);
  }
  unsigned Size = crsan::ptx::sizeOf(T);
  if (Size == 16)
    return K == AtomicKind::Cas || K == AtomicKind::Exch;
  return isInteger(T) &&
         (Size == 4 || Size == 8 || (Size == 2 && K == AtomicKind::Cas));
}

} // namespace crsan::sim

#endif // CRSAN_SIM_OPS_ATOMICKINDS_H
