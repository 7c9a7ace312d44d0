// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weak loads and stores, memory of the frame, and barriers of a block.

#include "Events/Event.h"
#include "Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace crsan::lift {

namespace {

using ptx::StateSpace;

/// A weak load or store that names no operation or priority of a cache.
struct PlainAccess {
  StateSpace Space = StateSpace::Generic;
  unsigned Elements = 1;
  bool IsInvariant = false; ///< ld.global.nc
};

std::optional<PlainAccess> readModifiers(const ptx::Instruction &I) {
  PlainAccess A;
  for (std::string_view M : I.Modifiers) {
    const StringRef Name = str(M);
    if (Name == "v2" || Name == "v4" || Name == "v8")
      A.Elements = Name[1] - '0';
    else if (Name == "nc")
      A.IsInvariant = true;
    else if (Name == "shared::cta")
      A.Space = StateSpace::Shared;
    else if (Name == "param::entry" || Name == "param::func")
      A.Space = StateSpace::Param;
    else if (const StateSpace S = ptx::parseStateSpace(M);
             S != StateSpace::None)
      A.Space = S;
    else if (Name != "weak" && !ptx::parseScalarType(M))
      return std::nullopt;
  }
  if (ptx::sizeOf(I.type()) == 0 ||
      (A.IsInvariant && A.Space != StateSpace::Global))
    return std::nullopt;
  return A;
}

/// The registers that are loaded or stored: one, or those of a vector.
ArrayRef<ptx::Operand> elementsOf(const ptx::Operand &Op) {
  return Op.What == ptx::Operand::Kind::Vector ? ArrayRef(Op.Elements)
                                               : ArrayRef(Op);
}

Type *accessType(IntegerType *Element, const PlainAccess &A) {
  return A.Elements == 1 ? static_cast<Type *>(Element)
                         : FixedVectorType::get(Element, A.Elements);
}

LoadInst *createLoad(Values &V, const PlainAccess &A, Type *T, Value *From,
                     Align Alignment) {
  LoadInst *Load = V.B.CreateAlignedLoad(T, From, Alignment);
  if (A.IsInvariant)
    Load->setMetadata(LLVMContext::MD_invariant_load,
                      MDNode::get(V.context(), {}));
  return Load;
}

/// The value of type `T` at `From`, of which only the bytes of the mask are
/// loaded, by loads without gaps; the others are zero.
Value *loadUsedBytes(Values &V, const PlainAccess &A, IntegerType *T,
                     Value *From, Align Alignment, uint64_t Used) {
  const unsigned Size = T->getBitWidth() / 8;
  Value *All = ConstantInt::get(T, 0);
  for (unsigned Begin = 0, Length; Begin < Size; Begin += Length) {
    Length = 1;
    if (!(Used >> Begin & 1))
      continue;
    const Align Here = commonAlignment(Alignment, Begin);
    while (Length * 2 <= Here.value() && Begin + Length * 2 <= Size &&
           (~(Used >> Begin) & maskTrailingOnes<uint64_t>(Length * 2)) == 0)
      Length *= 2;
    LoadInst *Load =
        createLoad(V, A, V.B.getIntNTy(8 * Length),
                   V.B.CreateConstGEP1_64(V.B.getInt8Ty(), From, Begin), Here);
    All = V.B.CreateOr(All, V.B.CreateShl(V.B.CreateZExt(Load, T), 8 * Begin));
  }
  return All;
}

Expected<bool> liftLoad(Values &V, const ptx::Instruction &I,
                        const PlainAccess &A) {
  IntegerType *Element = memoryType(V.context(), I.type());
  const auto To = elementsOf(I.Operands[0]);
  if (To.size() != A.Elements)
    return fail("the result of '", str(I.Opcode), "' has another length");
  Expected<Value *> From = V.pointer(I.Operands[1], A.Space);
  if (!From)
    return From.takeError();
  const unsigned Size = ptx::sizeOf(I.type());
  const Align Alignment(Size * A.Elements);
  const bool HasGaps = ~V.UsedBytes & maskTrailingOnes<uint32_t>(
                                          std::min(Size * A.Elements, 32u));
  LoadInst *Load =
      HasGaps ? nullptr
              : createLoad(V, A, accessType(Element, A), *From, Alignment);
  for (const auto &[Index, Op] : enumerate(To)) {
    const unsigned Begin = Size * Index;
    Value *Part = HasGaps           ? loadUsedBytes(V, A, Element,
                                                    V.B.CreateConstGEP1_64(
                                                        V.B.getInt8Ty(), *From, Begin),
                                                    commonAlignment(Alignment, Begin),
                                                    uint64_t(V.UsedBytes) >> Begin)
                  : A.Elements == 1 ? Load
                                    : V.B.CreateExtractElement(Load, Index);
    if (Error E = V.write(Op, Part, ptx::isSigned(I.type())))
      return std::move(E);
  }
  return true;
}

Expected<bool> liftStore(Values &V, const ptx::Instruction &I,
                         const PlainAccess &A) {
  IntegerType *Element = memoryType(V.context(), I.type());
  Type *T = accessType(Element, A);
  const auto From = elementsOf(I.Operands[1]);
  if (From.size() != A.Elements)
    return fail("the value of '", str(I.Opcode), "' has another length");
  Expected<Value *> To = V.pointer(I.Operands[0], A.Space);
  if (!To)
    return To.takeError();
  Value *Stored = PoisonValue::get(T);
  for (const auto &[Index, Op] : enumerate(From)) {
    Expected<Value *> Part = V.read(Op, Element);
    if (!Part)
      return Part.takeError();
    Stored =
        A.Elements == 1 ? *Part : V.B.CreateInsertElement(Stored, *Part, Index);
  }
  V.B.CreateAlignedStore(Stored, *To,
                         Align(ptx::sizeOf(I.type()) * A.Elements));
  return true;
}

/// alloca, stacksave, stackrestore: memory of the frame, whose addresses are
/// those of local memory.
Expected<bool> liftFrame(Values &V, const ptx::Instruction &I) {
  IntegerType *T = registerType(V.context(), I.type());
  if (I.Opcode == "stackrestore") {
    Expected<Value *> To = V.read(I.Operands[0], T);
    if (!To)
      return To.takeError();
    V.B.CreateStackRestore(V.B.CreateIntToPtr(*To, V.B.getPtrTy()));
    return true;
  }
  if (I.Opcode == "stacksave") {
    Value *Now = V.B.CreatePtrToInt(V.B.CreateStackSave(), T);
    if (Error E = V.write(I.Operands[0], Now))
      return std::move(E);
    return true;
  }
  Expected<Value *> Size = V.read(I.Operands[1], T);
  if (!Size)
    return Size.takeError();
  AllocaInst *New = V.B.CreateAlloca(V.B.getInt8Ty(), *Size);
  New->setAlignment(Align(I.Operands.size() > 2 ? I.Operands[2].Bits : 8));
  Value *Place = V.B.CreateAddrSpaceCast(
      New, PointerType::get(V.context(), NVPTXAS::ADDRESS_SPACE_LOCAL));
  if (Error E = V.write(I.Operands[0], V.B.CreatePtrToInt(Place, T)))
    return std::move(E);
  return true;
}

/// bar.sync 0 and its spellings: __syncthreads(), or a barrier of inline
/// assembly.
bool isBlockBarrier(const ptx::Instruction &I) {
  const bool IsAligned =
      I.Opcode == "bar" || (I.Opcode == "barrier" && I.has("aligned"));
  return IsAligned && I.has("sync") && !I.has("warp") && !I.has("cluster") &&
         I.Operands.size() == 1 &&
         I.Operands[0].What == ptx::Operand::Kind::Integer &&
         I.Operands[0].Bits == 0;
}

} // namespace

Expected<bool> liftMemory(Values &V, const ptx::Instruction &I) {
  if (isBlockBarrier(I)) {
    V.B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all,
                        {V.B.getInt32(0)})
        ->addFnAttr(Attribute::get(V.context(), FromPTX));
    return true;
  }
  if (I.Opcode == "alloca" || I.Opcode == "stacksave" ||
      I.Opcode == "stackrestore")
    return liftFrame(V, I);
  if ((I.Opcode != "ld" && I.Opcode != "st") || I.Operands.size() != 2)
    return false;
  const std::optional<PlainAccess> A = readModifiers(I);
  if (!A)
    return false;
  return I.Opcode == "ld" ? liftLoad(V, I, *A) : liftStore(V, I, *A);
}

} // namespace crsan::lift
