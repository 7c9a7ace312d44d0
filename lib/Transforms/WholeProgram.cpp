// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that are a whole device program.

#include "WholeProgram.h"
#include "Events/Operands.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace crsan {

/// Whether assembly of the module may call a function by its name.
static bool callsByName(const Module &M) {
  return any_of(M, [](const Function &F) {
    return any_of(instructions(F), [](const Instruction &I) {
      const auto *Call = dyn_cast<CallBase>(&I);
      const auto *Asm =
          Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr;
      return Asm && StringRef(Asm->getAsmString()).contains("call");
    });
  });
}

void dropUncalled(Module &M, FunctionAnalysisManager &FAM) {
  if (callsByName(M))
    return;
  for (bool IsAgain = true; IsAgain;) {
    IsAgain = false;
    for (Function &F : make_early_inc_range(M)) {
      if (F.isDeclaration() || isKernel(F))
        continue;
      F.removeDeadConstantUsers();
      if (F.use_empty()) {
        FAM.clear(F, F.getName());
        F.eraseFromParent();
        IsAgain = true;
        continue;
      }
      F.setComdat(nullptr);
      F.setVisibility(GlobalValue::DefaultVisibility);
      F.setLinkage(GlobalValue::InternalLinkage);
    }
  }
}

} // namespace crsan
