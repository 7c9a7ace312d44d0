// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel without checks.

#include "PlainBody.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace crsan {

/// Whether the call is assembly that may define a label, or a variable that is
/// known outside of it: a copy would define that again.
static bool mayDefineName(const CallBase &Call) {
  const auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand());
  if (!Asm)
    return false;
  std::string Text(Asm->getAsmString());
  for (size_t At; (At = Text.find("::")) != std::string::npos;)
    Text.erase(At, 2);
  unsigned Depth = 0;
  bool IsBegin = true; // Of a statement.
  for (const char C : Text) {
    if (C == ':' || (C == '.' && IsBegin && Depth == 0))
      return true;
    Depth += C == '{' ? 1 : C == '}' ? -1 : 0;
    IsBegin = C == ';' || C == '{' || C == '}' || (IsBegin && isSpace(C));
  }
  return false;
}

bool PlainBody::canCopy(const Function &F) {
  // Checks are several times as large.
  constexpr unsigned Most = 2000;
  const Instruction &First = *F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  return F.getInstructionCount() < Most &&
         none_of(instructions(F), [&](const Instruction &I) {
           // Variables that would take their room twice.
           if (isa<AllocaInst>(I))
             return I.getParent() != First.getParent() || First.comesBefore(&I);
           const auto *Call = dyn_cast<CallBase>(&I);
           return Call && (Call->cannotDuplicate() || mayDefineName(*Call));
         });
}

PlainBody::PlainBody(Function &F) {
  BasicBlock &Head = F.getEntryBlock();
  Body = Head.splitBasicBlock(Head.getFirstNonPHIOrDbgOrAlloca());
  HeadEnd = Head.getTerminator();
  SmallVector<BasicBlock *> New;
  for (BasicBlock &BB : drop_begin(F))
    Blocks.push_back(&BB);
  for (BasicBlock *BB : Blocks) {
    New.push_back(CloneBasicBlock(BB, Copies, ".plain", &F));
    Copies[BB] = New.back();
  }
  remapInstructionsInBlocks(New, Copies);
}

void PlainBody::emitChoice(Value *Condition) {
  Instruction *Old = HeadEnd;
  HeadEnd = IRBuilder<>(Old).CreateCondBr(Condition,
                                          cast<BasicBlock>(Copies[Body]), Body);
  Old->eraseFromParent();
}

} // namespace crsan
