// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic as proofs know it.

#include "RecoveredArithmetic.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace crsan::lift {

/// The remainder as a mask of the dividend; null: it may be something else.
static Value *maskOf(CallInst &Statement) {
  const auto *Asm = dyn_cast<InlineAsm>(Statement.getCalledOperand());
  if (!Asm || Statement.arg_size() != 2)
    return nullptr;
  const StringRef Text = Asm->getAsmString();
  const bool IsSigned =
      Text == "rem.s32 $0, $1, $2;" || Text == "rem.s64 $0, $1, $2;";
  if (!IsSigned && Text != "rem.u32 $0, $1, $2;" &&
      Text != "rem.u64 $0, $1, $2;")
    return nullptr;
  Value *Of = Statement.getArgOperand(0), *By = Statement.getArgOperand(1);
  const DataLayout &DL = Statement.getDataLayout();
  if (!isKnownToBeAPowerOfTwo(By, DL, /*OrZero=*/true) ||
      (IsSigned && !isKnownNonNegative(Of, SimplifyQuery(DL, &Statement))))
    return nullptr;
  IRBuilder<> B(&Statement);
  return B.CreateAnd(Of, B.CreateSub(By, ConstantInt::get(By->getType(), 1)));
}

/// `X - (X & M)` is `X & ~M`; null: `I` is something else.
static Value *restOf(Instruction &I) {
  using namespace PatternMatch;
  const APInt *Mask;
  if (I.getOpcode() != Instruction::Sub ||
      !match(I.getOperand(1),
             m_And(m_Specific(I.getOperand(0)), m_APInt(Mask))))
    return nullptr;
  return IRBuilder<>(&I).CreateAnd(I.getOperand(0),
                                   ConstantInt::get(I.getType(), ~*Mask));
}

/// `X - A - B` is `X - (A + B)`, of which the sum is computed anyway; null: it
/// is not, or `I` is something else.
static Value *differenceOf(Instruction &I, const DominatorTree &DT) {
  using namespace PatternMatch;
  Value *X, *A, *B;
  // Constants have no list of their users.
  if (!match(&I, m_Sub(m_Sub(m_Value(X), m_Value(A)), m_Value(B))) ||
      isa<Constant>(A))
    return nullptr;
  for (User *U : A->users())
    if (match(U, m_c_Add(m_Specific(A), m_Specific(B))) && DT.dominates(U, &I))
      return IRBuilder<>(&I).CreateSub(X, U);
  return nullptr;
}

PreservedAnalyses RecoverArithmeticPass::run(Function &F,
                                             FunctionAnalysisManager &FAM) {
  const auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (auto *Or = dyn_cast<PossiblyDisjointInst>(&I)) {
      if (haveNoCommonBitsSet(Or->getOperand(0), Or->getOperand(1),
                              SimplifyQuery(F.getDataLayout(), Or)))
        Or->setIsDisjoint(true);
      continue;
    }
    auto *Statement = dyn_cast<CallInst>(&I);
    Value *Known = Statement ? maskOf(*Statement) : restOf(I);
    if (!Known && !Statement)
      Known = differenceOf(I, DT);
    if (Known) {
      I.replaceAllUsesWith(Known);
      I.eraseFromParent();
    }
  }
  return PreservedAnalyses::none();
}

} // namespace crsan::lift
