// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atom and red.
#include "ops/AtomicKinds.h"
#include "ops/MemoryModifiers.h"

#include "Device.h"

using namespace crsan::sim;
using crsan::ptx::Operand;

namespace {

/// Aux: Kind, then type, then whether there is a result.
struct AtomicPlan {
  AtomicKind What;
  ScalarType Type;
  bool HasResult;

  uint64_t pack() const {
    return uint64_t(What) | uint64_t(Type) << 8 | uint64_t(HasResult) << 16;
  }
  static AtomicPlan of(uint64_t A) {
    return {AtomicKind(A & 0xFF), ScalarType(A >> 8 & 0xFF), bool(A >> 16 & 1)};
  }
};

/// What an atomic does: without a result it reads for nobody, and a
/// compare-and-swap that fails writes nothing.
constexpr uint8_t flagsOf(bool Reads, bool Writes) {
  return uint8_t(IsAtomic | (Reads ? ReadsMemory : 0) |
                 (Writes ? WritesMemory : 0));
}

/// Op: result, base, b, c.
Outcome atomicOp(Execution &X, const Instruction &I) {
  if (X.isShared(I, I.Op[1]))
    return X.D.takeTurn(*X.F);
  const AtomicPlan P = AtomicPlan::of(I.Aux);
  const unsigned Size = crsan::ptx::sizeOf(P.Type);
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    const bool IsCas = P.What == AtomicKind::Cas, Reads = P.HasResult || IsCas;
    Touch How{{flagsOf(Reads, true)}, Size, Size};
    Referent At = X.resolve(I, L, X.address(I, I.Op[1], L), How);
    if (!At.Bytes)
      return Outcome::Faulted;
    uint64_t Old = 0, B = X.value(I.Op[2], L),
             C = I.Op[3].IsValid ? X.value(I.Op[3], L) : 0;
    std::memcpy(&Old, At.Bytes, Size);
    How.Flags = flagsOf(Reads, !IsCas || Old == B);
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
  if (X.isShared(I, I.Op[1]))
    return X.D.takeTurn(*X.F);
  const AtomicPlan P = AtomicPlan::of(I.Aux);
  const unsigned Size = crsan::ptx::sizeOf(P.Type),
                 Count = P.HasResult ? I.NumMore / 2 : I.NumMore;
  const Touch How{
      {flagsOf(P.HasResult, true)}, Size * Count, Size * Count, uint8_t(Count)};
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Referent At = X.resolve(I, L, X.address(I, I.Op[1], L), How);
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
  if (X.isShared(I, I.Op[1]))
    return X.D.takeTurn(*X.F);
  using Wide = unsigned __int128;
  bool IsCas = AtomicPlan::of(I.Aux).What == AtomicKind::Cas;
  auto Read = [&](const Ref &R, unsigned L) {
    Wide V;
    std::memcpy(&V, X.row<uint8_t>(R) + L * 16, 16);
    return V;
  };
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Touch How{{AtomicUpdate}, 16, 16};
    Referent At = X.resolve(I, L, X.address(I, I.Op[1], L), How);
    if (!At.Bytes)
      return Outcome::Faulted;
    Wide Old, B = Read(I.Op[2], L);
    std::memcpy(&Old, At.Bytes, 16);
    How.Flags = flagsOf(true, !IsCas || Old == B);
    if (!X.note(I, L, At, How))
      return Outcome::Faulted;
    Wide New = !IsCas ? B : Old == B ? Read(I.Op[3], L) : Old;
    std::memcpy(At.Bytes, &New, 16);
    if (I.Op[0].IsValid)
      std::memcpy(X.row<uint8_t>(I.Op[0]) + L * 16, &Old, 16);
  }
  return Outcome::Next;
}

bool atomic(Decoder &D) {
  bool HasResult = D.opcode() == "atom";
  auto K = takeAtomicKind(D);
  MemoryModifiers M = takeMemoryModifiers(D);
  if (M.How.Order == MemoryOrder::Weak)
    M.How.Order = MemoryOrder::Relaxed;
  if (!D.has("sys") && !D.has("cta") && !D.has("cluster"))
    M.How.Within = Scope::Device; // The default of atomics.
  D.take("noftz");
  ScalarType T = D.takeType();
  if (!K || !isAtomicKnown(*K, T))
    return false;
  unsigned Size = crsan::ptx::sizeOf(T);
  size_t First = HasResult ? 1 : 0;
  Address A = D.address(D.operand(First), M.Space);
  bool WantsResult = HasResult && D.operand(0).What != Operand::Kind::Discard;
  AtomicPlan P{*K, T, HasResult};
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
      C = *K == AtomicKind::Cas ? D.source(First + 2, Size) : Ref();
  Ref To = WantsResult ? D.dest(0, Size) : Ref();
  Instruction &I =
      D.emit(Size == 16 ? atomicWide : atomicOp, {To, A.Base, B, C});
  applyTo(I, M, A);
  I.Aux = P.pack();
  D.interpret(I);
  return true;
}

} // namespace

void crsan::sim::addAtomicOps(DecodeTable &T) {
  T.add({"atom", "red"}, atomic);
}
