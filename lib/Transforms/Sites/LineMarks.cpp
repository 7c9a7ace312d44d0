// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses of different lines stay different accesses.

#include "Sites/LineMarks.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace crsan {

PreservedAnalyses MarkLinesPass::run(Function &F, FunctionAnalysisManager &) {
  if (!Host && !F.getParent()->getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  for (Instruction &I : instructions(F)) {
    if (!isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(I) ||
        !I.getDebugLoc())
      continue;
    SmallString<64> Place;
    raw_svector_ostream Out(Place);
    for (const DILocation *At = I.getDebugLoc(); At; At = At->getInlinedAt())
      Out << At->getLine() << ':' << At->getColumn() << ' ';
    I.setMetadata(LLVMContext::MD_mmra,
                  MMRAMetadata::getTagMD(F.getContext(), "crsan-line", Place));
  }
  return PreservedAnalyses::all();
}

void removeLineMarks(Function &F) {
  for (Instruction &I : instructions(F))
    I.setMetadata(LLVMContext::MD_mmra, nullptr);
}

} // namespace crsan
