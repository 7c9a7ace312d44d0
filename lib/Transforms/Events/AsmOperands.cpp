// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands of inline PTX.

#include "Events/AsmOperands.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace crsan {

std::optional<unsigned> AsmOperands::number(StringRef Name) const {
  unsigned Number;
  if (!Name.consume_front("$") || Name.getAsInteger(10, Number) ||
      Number >= Constraints.size())
    return std::nullopt;
  return Number;
}

Value *AsmOperands::input(StringRef Name) const {
  const std::optional<unsigned> Number = number(Name);
  if (!Number || Constraints[*Number].Type != InlineAsm::isInput ||
      is_contained(Changed, *Number))
    return nullptr;
  unsigned Argument = 0;
  for (unsigned I = 0; I < *Number; ++I)
    Argument += Constraints[I].hasArg();
  return Call.getArgOperand(Argument);
}

void AsmOperands::forget(StringRef Name) {
  if (const std::optional<unsigned> Number = number(Name))
    Changed.push_back(*Number);
}

std::optional<int> AsmOperands::output(StringRef Name) const {
  const std::optional<unsigned> Number = number(Name);
  if (!Number || Constraints[*Number].Type != InlineAsm::isOutput ||
      Constraints[*Number].isIndirect)
    return std::nullopt;
  if (!Call.getType()->isStructTy())
    return -1;
  int Element = 0;
  for (unsigned I = 0; I < *Number; ++I)
    Element += Constraints[I].Type == InlineAsm::isOutput &&
               !Constraints[I].isIndirect;
  return Element;
}

Value *AsmOperands::value(const ptx::Operand &Given) const {
  const ptx::Operand &Op = Given.scalar();
  if (Op.What == ptx::Operand::Kind::Integer)
    return ConstantInt::get(Type::getInt32Ty(Call.getContext()), Op.Bits);
  return Op.What == ptx::Operand::Kind::Name && !Op.Member && !Op.IsNegated
             ? input(Op.Text)
             : nullptr;
}

/// The pointer whose number `V` is, if it leads to the same place of
/// `AddressSpace`; else `V`.
static Value *pointerOf(Value *V, unsigned AddressSpace) {
  auto *Cast = dyn_cast_or_null<PtrToIntOperator>(V);
  if (!Cast)
    return V;
  const unsigned Space = Cast->getPointerAddressSpace();
  const unsigned Bits = Cast->getType()->getIntegerBitWidth();
  auto IsFlat = [](unsigned Space) {
    return Space == NVPTXAS::ADDRESS_SPACE_GENERIC ||
           Space == NVPTXAS::ADDRESS_SPACE_GLOBAL;
  };
  const bool IsSame = IsFlat(Space) ? IsFlat(AddressSpace) && Bits == 64
                                    : Space == AddressSpace && Bits >= 32;
  return IsSame ? Cast->getPointerOperand() : V;
}

std::optional<Location> AsmOperands::location(const ptx::Operand *Op,
                                              unsigned AddressSpace) const {
  if (!Op)
    return std::nullopt;
  Location Where;
  const ptx::Operand *Base = Op;
  if (Op->What == ptx::Operand::Kind::Address) {
    Where.Space = AddressSpace;
    Where.Offset = Op->Bits;
    if (Op->Elements.size() != 1)
      return std::nullopt;
    Base = &Op->Elements[0];
  }
  if (Base->What == ptx::Operand::Kind::Integer)
    Where.Base =
        ConstantInt::get(Type::getInt64Ty(Call.getContext()), Base->Bits);
  else if (Base->What == ptx::Operand::Kind::Name && !Base->Member)
    Where.Base = Op->What == ptx::Operand::Kind::Address
                     ? pointerOf(input(Base->Text), AddressSpace)
                     : input(Base->Text);
  if (!Where.Base || !(Where.Base->getType()->isPointerTy() ||
                       Where.Base->getType()->isIntegerTy()))
    return std::nullopt;
  return Where;
}

Value *AsmOperands::size(uint64_t Bytes) const {
  return ConstantInt::get(Type::getInt32Ty(Call.getContext()), Bytes);
}

std::optional<std::pair<unsigned, unsigned>>
bulkSpaces(const ptx::Instruction &I) {
  SmallVector<unsigned, 2> Spaces;
  for (std::string_view M : I.Modifiers)
    if (M == "global")
      Spaces.push_back(NVPTXAS::ADDRESS_SPACE_GLOBAL);
    else if (M == "shared::cta" || M == "shared")
      Spaces.push_back(NVPTXAS::ADDRESS_SPACE_SHARED);
    else if (M == "shared::cluster")
      Spaces.push_back(NVPTXAS::ADDRESS_SPACE_SHARED_CLUSTER);
  if (Spaces.size() != 2)
    return std::nullopt;
  return std::pair(Spaces[0], Spaces[1]);
}

unsigned addressSpaceOf(const ptx::Instruction &I, ptx::StateSpace Space) {
  if (I.has("shared::cluster"))
    return NVPTXAS::ADDRESS_SPACE_SHARED_CLUSTER;
  switch (Space) {
  case ptx::StateSpace::Global:
    return NVPTXAS::ADDRESS_SPACE_GLOBAL;
  case ptx::StateSpace::Shared:
    return NVPTXAS::ADDRESS_SPACE_SHARED;
  case ptx::StateSpace::Local:
    return NVPTXAS::ADDRESS_SPACE_LOCAL;
  case ptx::StateSpace::Const:
    return NVPTXAS::ADDRESS_SPACE_CONST;
  case ptx::StateSpace::Param:
    return NVPTXAS::ADDRESS_SPACE_PARAM;
  default:
    return NVPTXAS::ADDRESS_SPACE_GENERIC;
  }
}

} // namespace crsan
