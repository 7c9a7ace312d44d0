//===- Atomics.cpp - atom and red -----------------------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ops/MemoryModifiers.h"
#include "ops/Numbers.h"

#include <algorithm>

using namespace crsan::sim;
using crsan::ptx::Operand;

namespace {

enum class Kind : uint8_t { And, Or, Xor, Exch, Add, Inc, Dec, Min, Max, Cas };

double addHalf(uint16_t A, uint16_t B, bool IsBrain) {
  return IsBrain ? double(brainToFloat(A)) + brainToFloat(B)
                 : widen(A, Half) + widen(B, Half);
}

uint16_t halfOp(Kind K, uint16_t A, uint16_t B, bool IsBrain) {
  const Format F = IsBrain ? Brain : Half;
  if (K == Kind::Add)
    return uint16_t(narrow(addHalf(A, B, IsBrain), F, Rounding::Nearest));
  double X = widen(A, F), Y = widen(B, F);
  if (X != X)
    return B;
  return Y != Y || (K == Kind::Min ? X <= Y : X >= Y) ? A : B;
}

/// The new value; C is the third operand (cas: B is compared, C is written).
uint64_t newValue(Kind K, ScalarType T, uint64_t Old, uint64_t B, uint64_t C) {
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
  case Kind::And:
    return Old & B;
  case Kind::Or:
    return Old | B;
  case Kind::Xor:
    return Old ^ B;
  case Kind::Exch:
    return B;
  case Kind::Add:
    return Old + B;
  case Kind::Inc:
    return Old >= B ? 0 : Old + 1;
  case Kind::Dec:
    return Old == 0 || Old > B ? B : Old - 1;
  case Kind::Min:
    return IsSigned ? uint64_t(std::min(SOld, SB)) : std::min(Old, B);
  case Kind::Max:
    return IsSigned ? uint64_t(std::max(SOld, SB)) : std::max(Old, B);
  case Kind::Cas:
    return Old == B ? C : Old;
  }
  return Old;
}

/// Aux: Kind, then type, then whether there is a result.
struct Plan {
  Kind What;
  ScalarType Type;
  bool HasResult;

  uint64_t pack() const {
    return uint64_t(What) | uint64_t(Type) << 8 | uint64_t(HasResult) << 16;
  }
  static Plan of(uint64_t A) {
    return {Kind(A & 0xFF), ScalarType(A >> 8 & 0xFF), bool(A >> 16 & 1)};
  }
};

/// Op: result, base, b, c.
Outcome atomicOp(Execution &X, const Instruction &I) {
  const Plan P = Plan::of(I.Aux);
  const unsigned Size = crsan::ptx::sizeOf(P.Type);
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Touch How{Size, Size, P.HasResult || P.What == Kind::Cas, true, true};
    Place At = X.resolve(I, L, X.address(I, I.Op[1], L), How);
    if (!At.Bytes)
      return Outcome::Faulted;
    uint64_t Old = 0, B = X.value(I.Op[2], L),
             C = I.Op[3].IsValid ? X.value(I.Op[3], L) : 0;
    std::memcpy(&Old, At.Bytes, Size);
    How.IsWrite = P.What != Kind::Cas || Old == B;
    if (!X.note(I, L, At, How))
      return Outcome::Faulted;
    uint64_t New = newValue(P.What, P.Type, Old, B, C);
    std::memcpy(At.Bytes, &New, Size);
    if (I.Op[0].IsValid)
      X.setValue(I.Op[0], L, Old);
  }
  return Outcome::Next;
}

/// Each element by itself. More: results (or none), then operands.
Outcome atomicVector(Execution &X, const Instruction &I) {
  const Plan P = Plan::of(I.Aux);
  const unsigned Size = crsan::ptx::sizeOf(P.Type),
                 Count = P.HasResult ? I.NumMore / 2 : I.NumMore;
  const Touch How{Size * Count, Size * Count, P.HasResult,
                  true,         true,         uint8_t(Count)};
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Place At = X.resolve(I, L, X.address(I, I.Op[1], L), How);
    if (!At.Bytes || !X.note(I, L, At, How))
      return Outcome::Faulted;
    for (unsigned E = 0; E < Count; ++E) {
      uint64_t Old = 0, B = X.value(I.More[P.HasResult ? Count + E : E], L);
      std::memcpy(&Old, At.Bytes + E * Size, Size);
      uint64_t New = newValue(P.What, P.Type, Old, B, 0);
      std::memcpy(At.Bytes + E * Size, &New, Size);
      if (P.HasResult)
        X.setValue(I.More[E], L, Old);
    }
  }
  return Outcome::Next;
}

/// exch.b128 and cas.b128.
Outcome atomicWide(Execution &X, const Instruction &I) {
  using Wide = unsigned __int128;
  bool IsCas = Plan::of(I.Aux).What == Kind::Cas;
  auto Read = [&](const Ref &R, unsigned L) {
    Wide V;
    std::memcpy(&V, X.row<uint8_t>(R) + L * 16, 16);
    return V;
  };
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Touch How{16, 16, true, true, true};
    Place At = X.resolve(I, L, X.address(I, I.Op[1], L), How);
    if (!At.Bytes)
      return Outcome::Faulted;
    Wide Old, B = Read(I.Op[2], L);
    std::memcpy(&Old, At.Bytes, 16);
    How.IsWrite = !IsCas || Old == B;
    if (!X.note(I, L, At, How))
      return Outcome::Faulted;
    Wide New = !IsCas ? B : Old == B ? Read(I.Op[3], L) : Old;
    std::memcpy(At.Bytes, &New, 16);
    if (I.Op[0].IsValid)
      std::memcpy(X.row<uint8_t>(I.Op[0]) + L * 16, &Old, 16);
  }
  return Outcome::Next;
}

std::optional<Kind> takeKind(Decoder &D) {
  static constexpr std::pair<std::string_view, Kind> Names[] = {
      {"and", Kind::And},   {"or", Kind::Or},   {"xor", Kind::Xor},
      {"exch", Kind::Exch}, {"add", Kind::Add}, {"inc", Kind::Inc},
      {"dec", Kind::Dec},   {"min", Kind::Min}, {"max", Kind::Max},
      {"cas", Kind::Cas}};
  for (auto [Name, K] : Names)
    if (D.take(Name))
      return K;
  return std::nullopt;
}

/// Which types an operation has; everything else is refused.
bool isKnown(Kind K, ScalarType T) {
  if (crsan::ptx::isFloat(T)) {
    bool IsHalf = T == ScalarType::F16 || T == ScalarType::BF16 ||
                  T == ScalarType::F16x2 || T == ScalarType::BF16x2;
    return K == Kind::Add
               ? IsHalf || T == ScalarType::F32 || T == ScalarType::F64
               : IsHalf && (K == Kind::Min || K == Kind::Max);
  }
  unsigned Size = crsan::ptx::sizeOf(T);
  if (Size == 16)
    return K == Kind::Cas || K == Kind::Exch;
  return isInteger(T) &&
         (Size == 4 || Size == 8 || (Size == 2 && K == Kind::Cas));
}

bool atomic(Decoder &D) {
  bool HasResult = D.opcode() == "atom";
  auto K = takeKind(D);
  MemoryModifiers M = takeMemoryModifiers(D);
  if (M.Order.Order == Strength::Weak)
    M.Order.Order = Strength::Relaxed;
  if (!D.has("sys") && !D.has("cta") && !D.has("cluster"))
    M.Order.Within = Scope::GPU; // The default of atomics.
  D.take("noftz");
  ScalarType T = D.takeType();
  if (!K || !isKnown(*K, T))
    return false;
  unsigned Size = crsan::ptx::sizeOf(T);
  size_t First = HasResult ? 1 : 0;
  Address A = D.address(D.operand(First), M.Space);
  bool WantsResult = HasResult && D.operand(0).What != Operand::Kind::Discard;
  Plan P{*K, T, HasResult};
  if (M.Elements > 1) {
    std::vector<Ref> More;
    if (HasResult)
      for (const Operand &E : D.operand(0).Elements)
        More.push_back(D.dest(E, Size));
    for (const Operand &E : D.operand(First + 1).Elements)
      More.push_back(D.source(E, Size));
    Instruction &I = D.emit(atomicVector, {Ref(), A.Base});
    applyTo(I, M, A);
    I.Aux = P.pack();
    D.setMore(I, More);
    return true;
  }
  Ref B = D.source(First + 1, Size),
      C = *K == Kind::Cas ? D.source(First + 2, Size) : Ref();
  Ref To = WantsResult ? D.dest(0, Size) : Ref();
  Instruction &I =
      D.emit(Size == 16 ? atomicWide : atomicOp, {To, A.Base, B, C});
  applyTo(I, M, A);
  I.Aux = P.pack();
  return true;
}

} // namespace

void crsan::sim::addAtomicOps(DecodeTable &T) {
  T.add({"atom", "red"}, atomic);
}
