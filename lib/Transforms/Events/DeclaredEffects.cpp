// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What calls do and do not say.

#include "Events/DeclaredEffects.h"
#include "Events/Event.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace crsan {

/// A special register that changes while a thread runs.
static bool readsTime(StringRef Assembly) {
  return Assembly.contains("%clock") || Assembly.contains("%globaltimer") ||
         Assembly.contains("%pm");
}

static void declareAssembly(CallBase &Call, const InlineAsm &Asm) {
  if (Asm.hasSideEffects())
    return;
  const StringRef Text = Asm.getAsmString();
  const Events All = eventsOf(Call);
  if (All.List.empty() && All.Unlisted == Skip::None && !readsTime(Text))
    return;
  Call.setCalledOperand(
      InlineAsm::get(Asm.getFunctionType(), Text, Asm.getConstraintString(),
                     /*hasSideEffects=*/true, Asm.isAlignStack(),
                     Asm.getDialect(), Asm.canThrow()));
  Call.removeFnAttr(Attribute::Memory);
  Call.setConvergent();
}

/// mma.sync, wmma.load.sync and their like are executed by all lanes of a warp.
static bool isMatrixInstruction(const IntrinsicInst &Call) {
  const StringRef Name = Intrinsic::getBaseName(Call.getIntrinsicID());
  return Name.starts_with("llvm.nvvm.wmma.") ||
         Name.starts_with("llvm.nvvm.mma.");
}

void declareEffects(Function &F) {
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call)
      continue;
    if (const auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
      declareAssembly(*Call, *Asm);
    else if (const auto *Known = dyn_cast<IntrinsicInst>(Call);
             Known && isMatrixInstruction(*Known))
      Call->setConvergent();
  }
}

} // namespace crsan
