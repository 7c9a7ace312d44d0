// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What calls of the runtime are given.

#include "Events/Operands.h"
#include "DeviceRuntime.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace crsan {

unsigned knownSpace(const Location &Where) {
  if (Where.Space != NVPTXAS::ADDRESS_SPACE_GENERIC || !Where.Base ||
      !Where.Base->getType()->isPointerTy())
    return Where.Space;
  const Value *Object = getUnderlyingObject(Where.Base, /*MaxLookup=*/0);
  if (const auto *A = dyn_cast<Argument>(Object))
    return isKernel(*A->getParent()) && !A->hasByValAttr()
               ? unsigned(NVPTXAS::ADDRESS_SPACE_GLOBAL)
               : Where.Space;
  // So do pointers in a structure that it is given.
  if (const auto *L = dyn_cast<LoadInst>(Object))
    if (const auto *A = dyn_cast<Argument>(
            getUnderlyingObject(L->getPointerOperand(), /*MaxLookup=*/0)))
      if (isKernel(*A->getParent()) && A->hasByValAttr() &&
          A->onlyReadsMemory())
        return NVPTXAS::ADDRESS_SPACE_GLOBAL;
  return Object->getType()->getPointerAddressSpace();
}

Value *emitAddress(IRBuilder<> &B, const Location &Where) {
  Type *I64 = B.getInt64Ty();
  Value *Base = Where.Base;
  if (!Base)
    return B.getInt64(Where.Offset);
  if (Base->getType()->isIntegerTy() &&
      Where.Space == NVPTXAS::ADDRESS_SPACE_GENERIC)
    Base = B.CreateZExtOrTrunc(Base, I64);
  else {
    // Assembly may name the space of what C++ has as a generic pointer or as an
    // integer.
    if (Base->getType()->isPointerTy() &&
        Base->getType()->getPointerAddressSpace() != Where.Space)
      Base = B.CreatePtrToInt(Base, I64);
    if (Base->getType()->isIntegerTy())
      Base = B.CreateIntToPtr(Base, B.getPtrTy(Where.Space));
    if (Where.Space != NVPTXAS::ADDRESS_SPACE_GENERIC)
      Base = B.CreateAddrSpaceCast(Base, B.getPtrTy());
    Base = B.CreatePtrToInt(Base, I64);
  }
  return Where.Offset ? B.CreateAdd(Base, B.getInt64(Where.Offset)) : Base;
}

Value *emitAddress(IRBuilder<> &B, const Access &E) {
  Value *First = emitAddress(B, E.Where);
  if (!E.Rows.Stride)
    return First;
  Type *I64 = B.getInt64Ty();
  Value *Lane = B.CreateIntrinsic(B.getInt32Ty(),
                                  Intrinsic::nvvm_read_ptx_sreg_laneid, {});
  Value *Row =
      B.CreateMul(B.CreateZExt(Lane, I64), B.CreateZExt(E.Rows.Stride, I64));
  return B.CreateAdd(First, B.CreateMul(Row, B.getInt64(E.Rows.Scale)));
}

SmallVector<Value *, 8> emitBox(IRBuilder<> &B, const TensorBox &Box) {
  SmallVector<Value *, 8> All = {emitAddress(B, Box.Map),
                                 B.getInt32(Box.Coordinates.size())};
  for (Value *At : Box.Coordinates)
    All.push_back(B.CreateSExtOrTrunc(At, B.getInt32Ty()));
  All.resize(2 + MaxDimensions, B.getInt32(0));
  return All;
}

Value *emitIfMade(IRBuilder<> &B, const Access &E, Value *Value) {
  if (!E.If.Operand)
    return Value;
  Type *T = E.If.Operand->getType();
  llvm::Value *Other = ConstantInt::get(
      T, APInt(64, E.If.Constant).zextOrTrunc(T->getIntegerBitWidth()));
  llvm::Value *Holds =
      B.CreateICmp(E.If.HoldsIfEqual ? CmpInst::ICMP_EQ : CmpInst::ICMP_NE,
                   E.If.Operand, Other);
  return B.CreateSelect(Holds, Value, ConstantInt::get(Value->getType(), 0));
}

/// Of a tensor copy: the bytes of its box in shared memory.
static Value *emitBoxBytes(IRBuilder<> &B, const Access &E) {
  SmallVector<Value *, 8> Arguments = emitBox(B, *E.Box);
  Arguments.push_back(B.getInt32(!E.writes()));
  return callRuntime(B, BoxBytesName, Arguments);
}

Value *emitLength(IRBuilder<> &B, const Access &E) {
  Value *Length = E.Box      ? emitBoxBytes(B, E)
                  : E.Length ? B.CreateZExtOrTrunc(E.Length, B.getInt64Ty())
                             : B.getInt64(E.Size);
  if (E.Blocks) {
    Value *Rank = B.CreateIntrinsic(
        B.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank, {});
    Value *Mask = B.CreateZExtOrTrunc(E.Blocks, B.getInt32Ty());
    Value *IsOwn = B.CreateTrunc(B.CreateLShr(Mask, Rank), B.getInt1Ty());
    Length = B.CreateSelect(IsOwn, Length, B.getInt64(0));
  }
  if (E.Rows.Lanes % 32 != 0) {
    Value *Lane = B.CreateIntrinsic(B.getInt32Ty(),
                                    Intrinsic::nvvm_read_ptx_sreg_laneid, {});
    Length = B.CreateSelect(B.CreateICmpULT(Lane, B.getInt32(E.Rows.Lanes)),
                            Length, B.getInt64(0));
  }
  return emitIfMade(B, E, Length);
}

Value *emitSwapResult(IRBuilder<> &B, Instruction &I, const Access &E) {
  Value *Expected = E.Expected;
  if (!Expected)
    return B.getInt32(0);
  Value *Succeeded;
  if (isa<AtomicCmpXchgInst>(I))
    Succeeded = B.CreateExtractValue(&I, 1);
  else {
    Value *Found = &I;
    if (E.Result >= 0)
      Found = B.CreateExtractValue(Found, E.Result);
    if (Found->getType() != Expected->getType() ||
        !Found->getType()->isIntOrPtrTy())
      return B.getInt32(0);
    Succeeded = B.CreateICmpEQ(Found, Expected);
  }
  return B.CreateSelect(Succeeded, B.getInt32(2), B.getInt32(1));
}

} // namespace crsan
