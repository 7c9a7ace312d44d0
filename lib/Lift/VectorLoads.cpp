// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads of vectors of which some elements are not used.

#include "VectorLoads.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace crsan::lift {

/// The uses of each element; empty if the vector is used as a whole, or all of
/// its elements are.
static SmallVector<SmallVector<ExtractElementInst *, 1>, 8>
usedElements(const LoadInst &Load) {
  const auto *T = dyn_cast<FixedVectorType>(Load.getType());
  if (!T || !Load.isSimple())
    return {};
  SmallVector<SmallVector<ExtractElementInst *, 1>, 8> Uses(
      T->getNumElements());
  for (User *U : const_cast<LoadInst &>(Load).users()) {
    auto *Part = dyn_cast<ExtractElementInst>(U);
    const auto *Index =
        Part ? dyn_cast<ConstantInt>(Part->getIndexOperand()) : nullptr;
    if (!Index || Index->getZExtValue() >= Uses.size())
      return {};
    Uses[Index->getZExtValue()].push_back(Part);
  }
  if (none_of(Uses, [](const auto &Parts) { return Parts.empty(); }))
    return {};
  return Uses;
}

static void narrow(LoadInst &Load) {
  const DataLayout &Layout = Load.getDataLayout();
  IRBuilder<> B(&Load);
  for (const auto &[Index, Parts] : enumerate(usedElements(Load))) {
    if (Parts.empty())
      continue;
    Type *T = Parts.front()->getType();
    const uint64_t Offset = Index * Layout.getTypeStoreSize(T).getFixedValue();
    Value *From =
        B.CreateConstGEP1_64(B.getInt8Ty(), Load.getPointerOperand(), Offset);
    LoadInst *Part =
        B.CreateAlignedLoad(T, From, commonAlignment(Load.getAlign(), Offset));
    Part->copyMetadata(Load);
    for (ExtractElementInst *Use : Parts) {
      Use->replaceAllUsesWith(Part);
      Use->eraseFromParent();
    }
  }
  Load.eraseFromParent();
}

PreservedAnalyses NarrowVectorLoadsPass::run(Function &F,
                                             FunctionAnalysisManager &) {
  SmallVector<LoadInst *, 8> Loads;
  for (Instruction &I : instructions(F))
    if (auto *Load = dyn_cast<LoadInst>(&I);
        Load && !usedElements(*Load).empty())
      Loads.push_back(Load);
  for (LoadInst *Load : Loads)
    narrow(*Load);
  return Loads.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace crsan::lift
