// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel without checks.

#include "Metadata/PlainBody.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace crsan {

bool PlainBody::canCopy(const Function &F) {
  // Checks are several times as large.
  constexpr unsigned Most = 2000;
  const Instruction &First = *F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  return F.getInstructionCount() < Most &&
         none_of(
             instructions(F),
             [&](const Instruction &I) {
               // Variables that would take their room twice.
               if (isa<AllocaInst>(I))
                 return I.getParent() != First.getParent() ||
                        First.comesBefore(&I);
               const auto *Call = dyn_cast<CallBase>(&I);
               // It may have labels.
               return Call && (Call->isInlineAsm() || Call->cannotDuplicate());
             });
}

PlainBody::PlainBody(Function &F) : Head(&F.getEntryBlock()) {
  Body = Head->splitBasicBlock(Head->getFirstNonPHIOrDbgOrAlloca());
  SmallVector<BasicBlock *> Old, New;
  for (BasicBlock &BB : drop_begin(F))
    Old.push_back(&BB);
  for (BasicBlock *BB : Old) {
    New.push_back(CloneBasicBlock(BB, Copies, ".plain", &F));
    Copies[BB] = New.back();
  }
  remapInstructionsInBlocks(New, Copies);
}

void PlainBody::emitChoice(Value *Condition) {
  IRBuilder<> B(Head->getTerminator());
  B.CreateCondBr(Condition, cast<BasicBlock>(Copies[Body]), Body);
  Head->getTerminator()->eraseFromParent();
}

} // namespace crsan
