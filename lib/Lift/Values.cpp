// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands of instructions as values of LLVM's.

#include "Values.h"
#include "PTX/Printer.h"
#include "SpecialRegisters.h"
#include "llvm/IR/Dominators.h"

using namespace llvm;

namespace crsan::lift {

using Kind = ptx::Operand::Kind;
using ptx::StateSpace;

AllocaInst *Values::allocate(Type *T, Align Alignment, const Twine &Name) {
  BasicBlock &Entry = F.getEntryBlock();
  IRBuilder<> AtEntry(&Entry, Entry.begin());
  AllocaInst *Slot = AtEntry.CreateAlloca(T, nullptr, Name);
  Slot->setAlignment(Alignment);
  return Slot;
}

/// A register that is read before it is written has any value, but one that
/// stays what it is: zero.
Named Values::makeRegister(IntegerType *T) {
  AllocaInst *Slot = allocate(T, F.getDataLayout().getABITypeAlign(T), "");
  IRBuilder<> Behind(F.getEntryBlock().getTerminator());
  Zeros.push_back(Behind.CreateStore(Constant::getNullValue(T), Slot));
  return {Slot, T, StateSpace::Reg};
}

void Values::eraseUnreadZeros() {
  // More pairs of a store and a load are not looked at.
  constexpr size_t MaxPairs = 64;
  const DominatorTree Dominators(F);
  for (StoreInst *Zero : Zeros) {
    SmallVector<Instruction *> Stores, Loads;
    for (User *U : Zero->getPointerOperand()->users())
      if (U != Zero)
        (isa<StoreInst>(U) ? Stores : Loads).push_back(cast<Instruction>(U));
    if (Stores.size() * Loads.size() <= MaxPairs &&
        all_of(Loads, [&](Instruction *Load) {
          return any_of(Stores, [&](Instruction *Store) {
            return Dominators.dominates(Store, Load);
          });
        }))
      Zero->eraseFromParent();
  }
  Zeros.clear();
}

Error Values::declare(const ptx::Variable &V) {
  const StringRef Name = str(V.Name);
  switch (V.Space) {
  case StateSpace::Reg:
    if (V.VectorLength != 1)
      return fail("'", Name, "' is a register of vectors");
    if (V.Count)
      Local.addRange(V);
    else
      Local.add(Name, makeRegister(registerType(context(), V.Type)));
    return Error::success();
  case StateSpace::Param:
  case StateSpace::Local: {
    Type *T = wholeType(context(), V);
    Local.add(Name, {allocate(T, alignmentOf(V), Name), T, V.Space});
    return Error::success();
  }
  default: {
    Expected<GlobalVariable *> G = OfModule.addVariable(V, /*IsLocal=*/true);
    if (!G)
      return G.takeError();
    Local.add(Name, {*G, (*G)->getValueType(), V.Space});
    return OfModule.initialise();
  }
  }
}

const Named *Values::find(std::string_view Name) {
  return Local.find(str(Name), [&](const ptx::Variable &V) {
    return makeRegister(registerType(context(), V.Type));
  });
}

IntegerType *Values::registerOf(const ptx::Operand &Op) {
  if (Op.What != Kind::Name)
    return nullptr;
  const Named *Found = find(Op.Text);
  return Found && Found->Space == StateSpace::Reg
             ? cast<IntegerType>(Found->Type)
             : nullptr;
}

Value *Values::offset(Value *Pointer, int64_t Bytes) {
  return Bytes ? B.CreateGEP(B.getInt8Ty(), Pointer, B.getInt64(Bytes))
               : Pointer;
}

Value *Values::place(std::string_view Name) {
  if (const Named *Found = find(Name))
    return Found->Space == StateSpace::Reg ? nullptr : Found->Storage;
  return OfModule.find(str(Name));
}

/// The address of a variable as an instruction gets it that names it outside of
/// brackets: within its state space.
Value *Values::addressAsNumber(std::string_view Name, int64_t Offset,
                               IntegerType *T) {
  Value *Place = place(Name);
  if (!Place)
    return nullptr;
  const Named *Found = find(Name);
  if (Found && Found->Space == StateSpace::Local)
    Place = B.CreateAddrSpaceCast(
        Place, PointerType::get(context(), NVPTXAS::ADDRESS_SPACE_LOCAL));
  return B.CreatePtrToInt(offset(Place, Offset), T);
}

Value *Values::specialRegister(const ptx::Operand &Op) {
  return Op.Text.starts_with('%') || Op.Text == "WARP_SZ"
             ? readSpecialRegister(B, Op)
             : nullptr;
}

Expected<Value *> Values::readName(const ptx::Operand &Op, IntegerType *T) {
  const Named *Found = find(Op.Text);
  if (Found && Found->Space == StateSpace::Reg) {
    if (Op.Member)
      return fail("'", ptx::print(Op), "' is not followed");
    Value *Now = B.CreateLoad(Found->Type, Found->Storage);
    return Op.IsNegated ? B.CreateNot(Now) : Now;
  }
  if (Value *Address = addressAsNumber(Op.Text, 0, T))
    return Address;
  if (Value *Special = specialRegister(Op))
    return Special;
  return fail("'", ptx::print(Op), "' is not known");
}

Expected<Value *> Values::readWhole(const ptx::Operand &Op, IntegerType *T) {
  switch (Op.What) {
  case Kind::Integer:
    return ConstantInt::get(T, Op.Bits, false, /*ImplicitTrunc=*/true);
  case Kind::Float: {
    // A decimal number is one of double precision, wherever it is used.
    if (Op.IsDouble && T->getBitWidth() == 32)
      return ConstantInt::get(
          T, APFloat(float(bit_cast<double>(Op.Bits))).bitcastToAPInt());
    if (T->getBitWidth() != (Op.IsDouble ? 64 : 32))
      return fail("the constant '", ptx::print(Op), "' has another size");
    return ConstantInt::get(T, Op.Bits);
  }
  case Kind::Name:
    return readName(Op, T);
  case Kind::Sum:
    if (Op.Elements.empty())
      if (Value *Address = addressAsNumber(Op.Text, Op.Bits, T))
        return Address;
    break;
  default:
    break;
  }
  return fail("the operand '", ptx::print(Op), "' is not followed");
}

Expected<Value *> Values::read(const ptx::Operand &Op, IntegerType *T) {
  Expected<Value *> Whole = readWhole(Op, T);
  if (!Whole)
    return Whole;
  const unsigned Bits = (*Whole)->getType()->getIntegerBitWidth();
  if (Bits < T->getBitWidth())
    return fail("'", ptx::print(Op), "' has fewer bits than its use");
  return B.CreateTrunc(*Whole, T);
}

Error Values::write(const ptx::Operand &Op, Value *New, bool IsSigned) {
  if (Op.What == Kind::Discard)
    return Error::success();
  IntegerType *T = registerOf(Op);
  if (!T || Op.Member || Op.IsNegated)
    return fail("'", ptx::print(Op), "' is no register");
  const unsigned Bits = New->getType()->getIntegerBitWidth();
  if (Bits > T->getBitWidth())
    return fail("'", ptx::print(Op), "' has fewer bits than its value");
  New = IsSigned ? B.CreateSExt(New, T) : B.CreateZExt(New, T);
  B.CreateStore(New, find(Op.Text)->Storage);
  return Error::success();
}

Expected<Value *> Values::predicate(std::string_view Register, bool IsNegated) {
  ptx::Operand Op;
  Op.What = Kind::Name;
  Op.Text = Register;
  Op.IsNegated = IsNegated;
  return read(Op, B.getInt1Ty());
}

Expected<Value *> Values::pointer(const ptx::Operand &Op, StateSpace Space) {
  if (Op.What != Kind::Address || Op.Elements.size() > 1)
    return fail("the address '", ptx::print(Op), "' is not followed");
  auto *T = PointerType::get(context(), addressSpace(Space));
  if (Op.Elements.empty())
    return B.CreateIntToPtr(B.getInt64(Op.Bits), T);
  const ptx::Operand &Base = Op.Elements.front();
  if (Base.What == Kind::Integer)
    return B.CreateIntToPtr(B.getInt64(Base.Bits + Op.Bits), T);
  Value *Place = Base.What == Kind::Name ? place(Base.Text) : nullptr;
  if (Place) {
    // The frame's memory has generic pointers, and a variable of global memory
    // the same address there.
    const bool IsItsOwn = Place->getType() == T ||
                          (isa<PointerType>(Place->getType()) &&
                           Place->getType()->getPointerAddressSpace() == 0);
    if (IsItsOwn)
      return offset(Place, Op.Bits);
    return offset(B.CreateAddrSpaceCast(Place, T), Op.Bits);
  }
  Expected<Value *> Register = readWhole(Base, B.getInt64Ty());
  if (!Register)
    return Register;
  return offset(B.CreateIntToPtr(*Register, T), Op.Bits);
}

} // namespace crsan::lift
