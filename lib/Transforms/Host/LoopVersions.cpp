// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops without checks, for as long as there is nothing to check.

#include "Host/LoopVersions.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace crsan {

bool mayGiveWork(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  return Call && !isa<IntrinsicInst>(Call) &&
         isModSet(Call->getMemoryEffects().getModRef(IRMemLocation::Other));
}

bool canHavePlainCopy(const Loop &L) {
  if (!L.isInnermost() || !L.isLoopSimplifyForm() || !L.isSafeToClone())
    return false;
  for (const BasicBlock *BB : L.blocks())
    for (const Instruction &I : *BB)
      if (mayGiveWork(I))
        return false;
  return true;
}

void LoopBases::add(Value *Pointer, const Loop &L, ScalarEvolution &SE) {
  constexpr size_t Most = 8;
  const auto *Base =
      dyn_cast<SCEVUnknown>(SE.getPointerBase(SE.getSCEV(Pointer)));
  if (Base && L.isLoopInvariant(Base->getValue()))
    Bases.insert(Base->getValue());
  else
    AreKnown = false;
  AreKnown &= Bases.size() <= Most;
}

Value *LoopBases::emitIsOutside(IRBuilder<> &B, const GateValues &Gate,
                                const DominatorTree &DT) const {
  // A base that an earlier loop computes is one of two values, of that loop and
  // of its copy.
  if (!AreKnown || !all_of(Bases, [&](Value *Base) {
        return DT.dominates(Base, &*B.GetInsertPoint());
      }))
    return B.CreateICmpEQ(Gate.Size, B.getInt64(0));
  Value *Are = nullptr;
  for (Value *Base : Bases) {
    // A base may point to the end of its object. A closed gate begins at 0.
    Value *At = B.CreateSub(B.CreatePtrToInt(Base, B.getInt64Ty()), Gate.Begin);
    Value *Is = B.CreateICmpUGT(At, Gate.Size);
    Are = Are ? B.CreateAnd(Are, Is) : Is;
  }
  return Are;
}

GateValues addPlainCopy(Loop &L, const LoopBases &Bases, HostGate &Gate,
                        LoopInfo &LI, DominatorTree &DT) {
  formLCSSA(L, DT, &LI, /*SE=*/nullptr);
  SmallVector<BasicBlock *, 4> Exits;
  L.getUniqueExitBlocks(Exits);
  BasicBlock *Fork = L.getLoopPreheader();
  BasicBlock *Preheader =
      SplitBlock(Fork, Fork->getTerminator(), &DT, &LI, /*MSSAU=*/nullptr);
  ValueToValueMapTy Copies;
  SmallVector<BasicBlock *, 8> Blocks;
  Loop *Plain = cloneLoopWithPreheader(Preheader, Fork, &L, Copies, ".plain",
                                       &LI, &DT, Blocks);
  remapInstructionsInBlocks(Blocks, Copies);

  IRBuilder<> B(Fork->getTerminator());
  B.SetCurrentDebugLocation(DebugLoc());
  const GateValues Values = Gate.load(B);
  B.CreateCondBr(Bases.emitIsOutside(B, Values, DT), Plain->getLoopPreheader(),
                 Preheader,
                 MDBuilder(B.getContext()).createLikelyBranchWeights());
  Fork->getTerminator()->eraseFromParent();

  for (BasicBlock *Exit : Exits) {
    for (PHINode &Phi : Exit->phis())
      for (unsigned I = 0, End = Phi.getNumIncomingValues(); I < End; ++I) {
        Value *FromLoop = Phi.getIncomingValue(I);
        Value *Copy = Copies.lookup(FromLoop);
        Phi.addIncoming(Copy ? Copy : FromLoop,
                        cast<BasicBlock>(Copies[Phi.getIncomingBlock(I)]));
      }
    DT.changeImmediateDominator(Exit, Fork);
  }
  return Values;
}

} // namespace crsan
