// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables of a thread are kept in registers throughout loops.

#include "LocalPromotion.h"
#include "OptimizerSettings.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

using namespace llvm;

namespace crsan {

namespace {

/// While this lives, accesses to anything but variables of the thread are
/// volatile, so that LLVM leaves them as they are.
class OthersVolatile {
public:
  OthersVolatile(Function &F, const LoopInfo &Loops) : F(F) {
    for (Instruction &I : instructions(F)) {
      const Value *Pointer = getLoadStorePointerOperand(&I);
      if (!Pointer)
        continue;
      if (I.isVolatile())
        WereBefore.insert(&I);
      else if (isa<AllocaInst>(getUnderlyingObject(Pointer, /*MaxLookup=*/0)))
        HasLocals |= Loops.getLoopFor(I.getParent()) != nullptr;
      else
        setVolatile(I, true);
    }
  }
  ~OthersVolatile() {
    for (Instruction &I : instructions(F))
      if (getLoadStorePointerOperand(&I) && !WereBefore.contains(&I))
        setVolatile(I, false);
  }
  OthersVolatile(const OthersVolatile &) = delete;
  OthersVolatile &operator=(const OthersVolatile &) = delete;

  /// Whether loops access variables of the thread.
  bool HasLocals = false;

private:
  static void setVolatile(Instruction &I, bool IsVolatile) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      Load->setVolatile(IsVolatile);
    else
      cast<StoreInst>(I).setVolatile(IsVolatile);
  }
  Function &F;
  SmallPtrSet<const Instruction *, 8> WereBefore; ///< LLVM removes none.
};

} // namespace

PreservedAnalyses PromoteLocalsPass::run(Function &F,
                                         FunctionAnalysisManager &Analyses) {
  if (!F.getParent()->getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  const OthersVolatile Others(F, Analyses.getResult<LoopAnalysis>(F));
  if (!Others.HasLocals)
    return PreservedAnalyses::all();
  // What is known of the accesses of loops may depend on which are volatile.
  Analyses.invalidate(F, PreservedAnalyses::allInSet<CFGAnalyses>());
  const PromotionInLoops Permitted;
  createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                  /*UseMemorySSA=*/true)
      .run(F, Analyses);
  return PreservedAnalyses::none();
}

} // namespace crsan
