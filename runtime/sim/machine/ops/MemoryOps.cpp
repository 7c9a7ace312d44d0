// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld, st, ldu, prefetch.
#include "ops/Lanes.h"
#include "ops/MemoryModifiers.h"

#include <algorithm>

using namespace crsan::sim;
using crsan::ptx::Operand;

namespace {

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Op: destination of type R, base.
template <class T, class R> Outcome loadOp(Execution &X, const Instruction &I) {
  const Touch How{{ReadsMemory}, sizeof(T), sizeof(T)};
  R *To = X.row<R>(I.Op[0]);
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Referent At = X.resolve(I, L, X.address(I, I.Op[1], L), How);
    if (!At.Bytes || !X.note(I, L, At, How))
      return Outcome::Faulted;
    T V;
    std::memcpy(&V, At.Bytes, sizeof(T));
    To[L] = R(V);
  }
  return Outcome::Next;
}

/// Op: base, source of type R.
template <class T, class R>
Outcome storeOp(Execution &X, const Instruction &I) {
  const Touch How{{WritesMemory}, sizeof(T), sizeof(T)};
  const R *From = X.row<R>(I.Op[1]);
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Referent At = X.resolve(I, L, X.address(I, I.Op[0], L), How);
    if (!At.Bytes || !X.note(I, L, At, How))
      return Outcome::Faulted;
    T V = T(From[L]);
    std::memcpy(At.Bytes, &V, sizeof(T));
  }
  return Outcome::Next;
}

template <class T> Handler loadTo(unsigned Size) {
  using S = std::make_signed_t<T>;
  constexpr bool IsSigned = std::is_signed_v<T>;
  switch (Size) {
  case 1:
    if constexpr (sizeof(T) == 1)
      return loadOp<T, T>;
    return nullptr;
  case 2:
    if constexpr (sizeof(T) <= 2)
      return loadOp<T, std::conditional_t<IsSigned, int16_t, uint16_t>>;
    return nullptr;
  case 4:
    if constexpr (sizeof(T) <= 4)
      return loadOp<T, std::conditional_t<IsSigned, int32_t, uint32_t>>;
    return nullptr;
  case 8:
    return loadOp<T, std::conditional_t<IsSigned, int64_t, uint64_t>>;
  default:
    return sizeof(S) ? nullptr : nullptr;
  }
}

template <class T> Handler storeFrom(unsigned Size) {
  switch (Size) {
  case 1:
    return storeOp<T, uint8_t>;
  case 2:
    return storeOp<T, uint16_t>;
  case 4:
    return storeOp<T, uint32_t>;
  case 8:
    return storeOp<T, uint64_t>;
  default:
    return nullptr;
  }
}

Handler loadHandler(ScalarType T, unsigned Size) {
  bool IsSigned = crsan::ptx::isSigned(T);
  switch (crsan::ptx::sizeOf(T)) {
  case 1:
    return IsSigned ? loadTo<int8_t>(Size) : loadTo<uint8_t>(Size);
  case 2:
    return IsSigned ? loadTo<int16_t>(Size) : loadTo<uint16_t>(Size);
  case 4:
    return IsSigned ? loadTo<int32_t>(Size) : loadTo<uint32_t>(Size);
  case 8:
    return IsSigned ? loadTo<int64_t>(Size) : loadTo<uint64_t>(Size);
  case 16:
    return Size == 16 ? loadOp<Wide, Wide> : nullptr;
  default:
    return nullptr;
  }
}

Handler storeHandler(ScalarType T, unsigned Size) {
  switch (crsan::ptx::sizeOf(T)) {
  case 1:
    return storeFrom<uint8_t>(Size);
  case 2:
    return storeFrom<uint16_t>(Size);
  case 4:
    return storeFrom<uint32_t>(Size);
  case 8:
    return storeFrom<uint64_t>(Size);
  case 16:
    return Size == 16 ? storeOp<Wide, Wide> : nullptr;
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Vectors. Aux: bytes of an element; bit 8: sign-extend.
//===----------------------------------------------------------------------===//

uint64_t extended(uint64_t V, unsigned Size, bool IsSigned) {
  unsigned Shift = 64 - 8 * std::min(Size, 8u);
  return IsSigned ? uint64_t(int64_t(V << Shift) >> Shift) : V;
}

Outcome loadVector(Execution &X, const Instruction &I) {
  const unsigned Size = I.Aux & 0xFF, Bytes = Size * I.NumMore;
  const Touch How{{ReadsMemory}, Bytes, Bytes, I.NumMore};
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Referent At = X.resolve(I, L, X.address(I, I.Op[1], L), How);
    if (!At.Bytes || !X.note(I, L, At, How))
      return Outcome::Faulted;
    uint8_t All[64];
    std::memcpy(All, At.Bytes, Bytes);
    for (unsigned E = 0; E < I.NumMore; ++E) {
      if (Size == 16) {
        std::memcpy(X.row<Wide>(I.More[E]) + L, All + E * 16, 16);
        continue;
      }
      uint64_t V = 0;
      std::memcpy(&V, All + E * Size, Size);
      X.setValue(I.More[E], L, extended(V, Size, I.Aux & 256));
    }
  }
  return Outcome::Next;
}

Outcome storeVector(Execution &X, const Instruction &I) {
  const unsigned Size = I.Aux & 0xFF, Bytes = Size * I.NumMore;
  const Touch How{{WritesMemory}, Bytes, Bytes, I.NumMore};
  for (uint32_t M = X.Mask; M; M &= M - 1) {
    unsigned L = std::countr_zero(M);
    Referent At = X.resolve(I, L, X.address(I, I.Op[0], L), How);
    if (!At.Bytes || !X.note(I, L, At, How))
      return Outcome::Faulted;
    for (unsigned E = 0; E < I.NumMore; ++E) {
      if (!I.More[E].IsValid)
        continue;
      if (Size == 16) {
        std::memcpy(At.Bytes + E * 16, X.row<Wide>(I.More[E]) + L, 16);
        continue;
      }
      uint64_t V = X.value(I.More[E], L);
      std::memcpy(At.Bytes + E * Size, &V, Size);
    }
  }
  return Outcome::Next;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// A kernel's parameter, the same for all lanes. Op: destination. Aux: as
/// above.
Outcome loadKernelParam(Execution &X, const Instruction &I) {
  uint64_t V = 0;
  const unsigned Size = I.Aux & 0xFF;
  std::memcpy(&V, X.G->What.Params.data() + I.Imm, Size);
  V = extended(V, Size, I.Aux & 256);
  forLanes(X.Mask, [&](unsigned L) { X.setValue(I.Op[0], L, V); });
  return Outcome::Next;
}

/// Op: to, from. Aux: as above.
Outcome copyRow(Execution &X, const Instruction &I) {
  const unsigned Size = I.Aux & 0xFF;
  if (X.Mask == AllLanes && I.Op[0].Size == Size && I.Op[1].Size == Size) {
    std::memmove(X.row<uint8_t>(I.Op[0]), X.row<uint8_t>(I.Op[1]),
                 Size * WarpSize);
    return Outcome::Next;
  }
  forLanes(X.Mask, [&](unsigned L) {
    X.setValue(I.Op[0], L, extended(X.value(I.Op[1], L), Size, I.Aux & 256));
  });
  return Outcome::Next;
}

/// The parameter that an address names, if all of it is meant.
const Slot *slotOf(Decoder &D, const Operand &Address) {
  if (Address.What != Operand::Kind::Address || Address.Elements.size() != 1 ||
      Address.Elements[0].What != Operand::Kind::Name)
    return nullptr;
  return D.parameter(Address.Elements[0].Text);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

uint64_t elementAux(ScalarType T) {
  return crsan::ptx::sizeOf(T) | (crsan::ptx::isSigned(T) ? 256 : 0);
}

bool load(Decoder &D) {
  MemoryModifiers M = takeMemoryModifiers(D);
  ScalarType T = D.takeType();
  unsigned Size = crsan::ptx::sizeOf(T);
  if (!Size)
    return false;
  const Operand &From = D.operand(1), &To = D.operand(0);
  if (M.Space == StateSpace::Param && M.Elements == 1)
    if (const Slot *S = slotOf(D, From)) {
      // A misaligned read is a fault when it is executed.
      if (S->IsRow || (S->IsKernelParam && Size <= 8 &&
                       (S->Offset + From.Bits) % Size == 0)) {
        Ref R = D.destOfAnySize(To.scalar(), Size);
        Instruction &I = S->IsRow ? D.emit(copyRow, {R, S->Row})
                                  : D.emit(loadKernelParam, {R});
        I.Aux = elementAux(T);
        I.Imm = S->IsRow ? 0 : int64_t(S->Offset + From.Bits);
        return S->IsRow ||
               S->Offset + From.Bits + Size <= S->Offset + S->Size ||
               D.fail("the access is beyond the parameter");
      }
    }
  Address A = D.address(From, M.Space);
  if (M.Elements > 1) {
    std::vector<Ref> Parts;
    for (const Operand &E : To.Elements)
      Parts.push_back(D.destOfAnySize(E, Size));
    if (Parts.size() != M.Elements)
      return false;
    Instruction &I = D.emit(loadVector, {Ref(), A.Base});
    applyTo(I, M, A);
    I.Aux = elementAux(T);
    D.setMore(I, Parts);
    D.interpret(I);
    return true;
  }
  Ref R = D.destOfAnySize(To.scalar(), Size);
  Handler H = loadHandler(T, R.Size);
  if (!H)
    return false;
  Instruction &I = D.emit(H, {R, A.Base});
  applyTo(I, M, A);
  D.interpret(I);
  return true;
}

bool store(Decoder &D) {
  MemoryModifiers M = takeMemoryModifiers(D);
  ScalarType T = D.takeType();
  unsigned Size = crsan::ptx::sizeOf(T);
  if (!Size)
    return false;
  const Operand &To = D.operand(0), &From = D.operand(1);
  if (M.Space == StateSpace::Param && M.Elements == 1)
    if (const Slot *S = slotOf(D, To); S && S->IsRow) {
      D.emit(copyRow, {S->Row, D.sourceOfAnySize(From.scalar(), Size)}).Aux =
          elementAux(T);
      return true;
    }
  Address A = D.address(To, M.Space);
  if (M.Elements > 1) {
    // Elements that are left out ("_") are not written.
    std::vector<Ref> Parts;
    uint32_t Written = 0, Bytes = (uint32_t(1) << Size) - 1;
    for (const Operand &E : From.Elements) {
      const bool IsThere = E.What != Operand::Kind::Discard;
      Written |= IsThere ? Bytes << Size * Parts.size() : 0;
      Parts.push_back(IsThere ? D.sourceOfAnySize(E, Size) : Ref());
    }
    if (Parts.size() != M.Elements)
      return false;
    Instruction &I = D.emit(storeVector, {A.Base});
    applyTo(I, M, A);
    I.Aux = elementAux(T);
    D.setMore(I, Parts);
    if (std::any_of(Parts.begin(), Parts.end(),
                    [](const Ref &R) { return !R.IsValid; }))
      D.setUsedBytes(I, Written);
    return true;
  }
  Ref R = D.sourceOfAnySize(From.scalar(), Size);
  Handler H = storeHandler(T, R.Size);
  if (!H)
    return false;
  applyTo(D.emit(H, {A.Base, R}), M, A);
  return true;
}

/// Hints to caches: they change nothing that a program can see.
bool hint(Decoder &D) {
  while (!D.takePrefixed("L1").empty() || !D.takePrefixed("L2").empty() ||
         D.take("tensormap"))
    ;
  D.takeSpace();
  D.take("b128");
  D.emit([](Execution &, const Instruction &) { return Outcome::Next; });
  return true;
}

/// A policy that hints to caches are made with: any value is as good.
bool policy(Decoder &D) {
  D.takeOneOf({"fractional", "range", "cvt"});
  D.takeSpace();
  while (!D.takePrefixed("L2").empty())
    ;
  if (D.takeType() != ScalarType::B64)
    return false;
  D.emit(
      [](Execution &X, const Instruction &I) {
        forLanes(X.Mask, [&](unsigned L) { X.setValue(I.Op[0], L, 0); });
        return Outcome::Next;
      },
      {D.dest(0, 8)});
  return true;
}

} // namespace

void crsan::sim::addMemoryOps(DecodeTable &T) {
  T.add({"ld", "ldu"}, load);
  T.add("st", store);
  T.add({"prefetch", "prefetchu", "applypriority", "discard"}, hint);
  T.add("createpolicy", policy);
}
