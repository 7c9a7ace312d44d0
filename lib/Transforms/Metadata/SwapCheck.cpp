// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who reads what a compare-and-swap writes.

#include "Metadata/SwapCheck.h"
#include "DeviceRuntime.h"
#include "crsan/abi/Check.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace crsan {

AllocaInst *SwapCheck::reader() {
  if (!Reader) {
    IRBuilder<> Entry(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    for (AllocaInst **Variable : {&Reader, &Where}) {
      *Variable = Entry.CreateAlloca(Entry.getInt64Ty());
      Entry.CreateStore(Entry.getInt64(0), *Variable);
    }
  }
  return Reader;
}

void SwapCheck::emitBefore(Instruction *Swap, Constant *Site, Value *Address,
                           Value *Place) {
  AllocaInst *Reader = reader();
  IRBuilder<> B(Swap);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *IsNew = B.CreateICmpNE(Address, B.CreateLoad(B.getInt64Ty(), Where));
  B.SetInsertPoint(SplitBlockAndInsertIfThen(IsNew, Swap->getIterator(),
                                             /*Unreachable=*/false));
  B.SetCurrentDebugLocation(Swap->getDebugLoc());
  Value *Found = callRuntime(B, SwapReaderName, {Site, Address, Place});
  B.SetCurrentDebugLocation(DebugLoc());
  B.CreateStore(Found, Reader);
  B.CreateStore(Address, Where);
}

void SwapCheck::emitAfter(Instruction *At, DebugLoc Loc, Constant *Site,
                          Value *Address, Value *Result, uint32_t Size,
                          Value *Place) {
  IRBuilder<> B(At);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *HasWritten = B.CreateICmpEQ(Result, B.getInt32(2));
  // The next one looks anew.
  B.CreateStore(B.CreateSelect(HasWritten, B.getInt64(0), Address), Where);
  Value *Earlier = B.CreateLoad(B.getInt64Ty(), Reader);
  B.CreateStore(B.CreateSelect(HasWritten, B.getInt64(0), Earlier), Reader);
  Value *IsSuspect =
      B.CreateAnd(HasWritten, B.CreateICmpNE(Earlier, B.getInt64(0)));
  B.SetInsertPoint(SplitBlockAndInsertIfThen(
      IsSuspect, At->getIterator(), /*Unreachable=*/false,
      MDBuilder(F.getContext()).createUnlikelyBranchWeights()));
  B.SetCurrentDebugLocation(Loc);
  // The word that the reader was found in, and no other.
  callRuntime(B, AccessCheckName,
              {Site, Address, B.getInt64(std::min(Size, 4u)), Earlier,
               B.getInt32(abi::CheckReplaced), Place});
}

void SwapCheck::finish() {
  if (!Reader)
    return;
  DominatorTree DT(F);
  PromoteMemToReg({Reader, Where}, DT);
}

} // namespace crsan
