// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves, conversions of integers, and conversions of addresses.

#include "Instructions.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace crsan::lift {

namespace {

using Kind = ptx::Operand::Kind;
using ptx::ScalarType;

/// mov.b32 {a, b}, c: the parts of `c`, the lowest first.
Expected<bool> unpack(Values &V, const ptx::Instruction &I, IntegerType *T) {
  Expected<Value *> Whole = V.read(I.Operands[1], T);
  if (!Whole)
    return Whole.takeError();
  const auto &Parts = I.Operands[0].Elements;
  const unsigned Bits = T->getBitWidth() / Parts.size();
  for (const auto &[Index, Part] : enumerate(Parts)) {
    Value *Shifted = V.B.CreateLShr(*Whole, Index * Bits);
    if (Error E = V.write(Part, V.B.CreateTrunc(Shifted, V.B.getIntNTy(Bits))))
      return std::move(E);
  }
  return true;
}

/// mov.b32 c, {a, b}.
Expected<bool> pack(Values &V, const ptx::Instruction &I, IntegerType *T) {
  const auto &Parts = I.Operands[1].Elements;
  const unsigned Bits = T->getBitWidth() / Parts.size();
  Value *Whole = ConstantInt::get(T, 0);
  for (const auto &[Index, Part] : enumerate(Parts)) {
    Expected<Value *> Value = V.read(Part, V.B.getIntNTy(Bits));
    if (!Value)
      return Value.takeError();
    Whole = V.B.CreateOr(
        Whole, V.B.CreateShl(V.B.CreateZExt(*Value, T), Index * Bits));
  }
  if (Error E = V.write(I.Operands[0], Whole))
    return std::move(E);
  return true;
}

Expected<bool> liftMov(Values &V, const ptx::Instruction &I) {
  if (I.Modifiers.size() != 1 || I.type() == ScalarType::None)
    return false;
  IntegerType *T = registerType(V.context(), I.type());
  if (I.Operands[0].What == Kind::Vector)
    return unpack(V, I, T);
  if (I.Operands[1].What == Kind::Vector)
    return pack(V, I, T);
  Expected<Value *> Source = V.readWhole(I.Operands[1], T);
  if (!Source)
    return Source.takeError();
  // mov.u32 of a 64-bit special register, and the reverse.
  Value *Sized = V.B.CreateZExtOrTrunc(*Source, T);
  if (Error E = V.write(I.Operands[0], Sized))
    return std::move(E);
  return true;
}

bool isPlainInteger(ScalarType T) {
  const StringRef Name = str(ptx::name(T));
  const bool IsNumber = Name.size() > 1 && isDigit(Name[1]) &&
                        (Name[0] == 'b' || Name[0] == 'u' || Name[0] == 's');
  return IsNumber && ptx::sizeOf(T) <= 8 && !Name.contains('x');
}

/// cvt between integers: from the low bits of the source, extended as the
/// source's type says, cut to the result's type, and extended to the register.
Expected<bool> liftCvt(Values &V, const ptx::Instruction &I) {
  const ScalarType To = I.type(0), From = I.type(1);
  if (I.Modifiers.size() != 2 || !isPlainInteger(To) || !isPlainInteger(From))
    return false;
  Expected<Value *> Source =
      V.read(I.Operands[1], memoryType(V.context(), From));
  if (!Source)
    return Source.takeError();
  Value *Cast = V.B.CreateIntCast(*Source, memoryType(V.context(), To),
                                  ptx::isSigned(From));
  if (Error E = V.write(I.Operands[0], Cast, ptx::isSigned(To)))
    return std::move(E);
  return true;
}

/// cvta: between generic addresses and those of a state space.
Expected<bool> liftCvta(Values &V, const ptx::Instruction &I) {
  const bool ToSpace = I.has("to");
  ptx::StateSpace Space = ptx::StateSpace::None;
  for (std::string_view M : I.Modifiers)
    if (const auto S = ptx::parseStateSpace(M.substr(0, M.find("::")));
        S != ptx::StateSpace::None)
      Space = S;
  if (I.has("shared::cluster") || Space == ptx::StateSpace::None)
    return false;
  IntegerType *T = registerType(V.context(), I.type());
  auto *Generic = PointerType::get(V.context(), 0);
  auto *Special = PointerType::get(V.context(), addressSpace(Space));
  // A parameter has a generic address from the beginning.
  Value *Place =
      I.Operands[1].What == Kind::Name ? V.place(I.Operands[1].Text) : nullptr;
  if (!Place) {
    Expected<Value *> Source = V.readWhole(I.Operands[1], T);
    if (!Source)
      return Source.takeError();
    Place = V.B.CreateIntToPtr(*Source, ToSpace ? Generic : Special);
  } else if (Place->getType()->getPointerAddressSpace() == 0 && ToSpace)
    return false;
  Value *Cast = V.B.CreateAddrSpaceCast(Place, ToSpace ? Special : Generic);
  if (Error E = V.write(I.Operands[0], V.B.CreatePtrToInt(Cast, T)))
    return std::move(E);
  return true;
}

} // namespace

Expected<bool> liftMove(Values &V, const ptx::Instruction &I) {
  if (I.Operands.size() != 2)
    return false;
  if (I.Opcode == "mov")
    return liftMov(V, I);
  if (I.Opcode == "cvt")
    return liftCvt(V, I);
  if (I.Opcode == "cvta")
    return liftCvta(V, I);
  return false;
}

} // namespace crsan::lift
