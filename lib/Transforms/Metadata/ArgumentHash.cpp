// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hash of a kernel's arguments.

#include "Metadata/ArgumentHash.h"
#include "crsan/abi/Launch.h"

using namespace llvm;

namespace crsan {

/// The size of an argument in bytes, as the driver sees it; 0: not known.
static uint64_t sizeOf(const Argument &A, const DataLayout &Layout) {
  Type *T = A.hasByValAttr() ? A.getParamByValType() : A.getType();
  const bool IsScalar =
      T->isIntegerTy() || T->isPointerTy() || T->isFloatingPointTy();
  if (!T->isSized() || !(IsScalar || A.hasByValAttr()))
    return 0;
  const uint64_t Size = Layout.getTypeAllocSize(T);
  // Of a bool, or an integer of other bits, not all bits have a value.
  const bool HasPadding =
      !A.hasByValAttr() && Size >= 4 && Layout.getTypeSizeInBits(T) != 8 * Size;
  return HasPadding ? 0 : Size;
}

/// The words of an argument of 4 or 8 bytes.
static SmallVector<Value *, 2> wordsOf(IRBuilder<> &B, Argument &A,
                                       uint64_t Size) {
  SmallVector<Value *, 2> Words;
  if (A.hasByValAttr()) {
    const Align Aligned = A.getParamAlign().valueOrOne();
    for (uint64_t At = 0; At < Size; At += 4)
      Words.push_back(B.CreateAlignedLoad(
          B.getInt32Ty(), B.CreateConstGEP1_64(B.getInt8Ty(), &A, At),
          commonAlignment(Aligned, At)));
    return Words;
  }
  Type *Bits = B.getIntNTy(8 * Size);
  Value *Whole = A.getType()->isPointerTy()   ? B.CreatePtrToInt(&A, Bits)
                 : A.getType()->isIntegerTy() ? B.CreateZExt(&A, Bits)
                                              : B.CreateBitCast(&A, Bits);
  Words.push_back(B.CreateTrunc(Whole, B.getInt32Ty()));
  if (Size == 8)
    Words.push_back(B.CreateTrunc(B.CreateLShr(Whole, 32), B.getInt32Ty()));
  return Words;
}

Value *emitArgumentHash(IRBuilder<> &B, Function &Kernel) {
  const DataLayout &Layout = Kernel.getDataLayout();
  SmallVector<Value *, abi::NumArgumentWords> Words;
  for (Argument &A : Kernel.args()) {
    const uint64_t Size = sizeOf(A, Layout);
    if (Size == 0)
      return B.getInt32(0);
    if ((Size == 4 || Size == 8) && Words.size() < abi::NumArgumentWords)
      append_range(Words, wordsOf(B, A, Size));
  }
  Words.truncate(std::min<size_t>(Words.size(), abi::NumArgumentWords));
  // As abi::addArgumentWord and abi::finishArguments.
  Value *Hash = B.getInt32(0);
  for (Value *Word : Words) {
    Hash =
        B.CreateMul(B.CreateXor(Hash, Word), B.getInt32(abi::ArgumentFactor));
    Hash = B.CreateXor(Hash, B.CreateLShr(Hash, abi::ArgumentShift));
  }
  return B.CreateOr(Hash, 1);
}

} // namespace crsan
