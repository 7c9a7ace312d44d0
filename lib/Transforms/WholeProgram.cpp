// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that are a whole device program.

#include "WholeProgram.h"
#include "Events/Operands.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace crsan {

/// Whether assembly of the module may call a function by its name.
static bool callsByName(const Module &M) {
  return StringRef(M.getModuleInlineAsm()).contains("call") ||
         any_of(M, [](const Function &F) {
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
  const auto IsLocal = [](const Function &F) {
    return !F.isDeclaration() && !isKernel(F);
  };
  for (Function &F : make_filter_range(M, IsLocal)) {
    F.setComdat(nullptr);
    F.setVisibility(GlobalValue::DefaultVisibility);
    F.setLinkage(GlobalValue::InternalLinkage);
  }
  for (bool IsAgain = true; IsAgain;) {
    IsAgain = false;
    for (Function &F : make_early_inc_range(M)) {
      F.removeDeadConstantUsers();
      if (!IsLocal(F) || !F.use_empty())
        continue;
      FAM.clear(F, F.getName());
      F.eraseFromParent();
      IsAgain = true;
    }
  }
}

void alignVariables(Module &M, bool IsWholeProgram) {
  const Align Vector(16);
  const DataLayout &DL = M.getDataLayout();
  for (GlobalVariable &V : M.globals()) {
    const unsigned Space = V.getAddressSpace();
    if (Space != NVPTXAS::ADDRESS_SPACE_CONST &&
        Space != NVPTXAS::ADDRESS_SPACE_SHARED)
      continue;
    // Of definitions in several modules the linker takes one.
    const bool IsOurs =
        IsWholeProgram ? !V.isDeclaration() : V.isStrongDefinitionForLinker();
    const uint64_t Size =
        IsOurs ? DL.getTypeAllocSize(V.getValueType()).getFixedValue() : 0;
    if (Size && isAligned(Vector, Size) && V.getAlign().valueOrOne() < Vector)
      V.setAlignment(Vector);
  }
}

} // namespace crsan
