// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What threads have in common.

#include "Proofs/Uniformity.h"
#include "Proofs/LaunchIndices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace crsan {

/// Whether threads of the group that give it equal operands get equal results.
static bool isFunction(const Instruction &I, ThreadGroup Among) {
  if (isa<BinaryOperator, UnaryOperator, CastInst, CmpInst, SelectInst, PHINode,
          GetElementPtrInst, FreezeInst, ExtractValueInst, InsertValueInst,
          ExtractElementInst, InsertElementInst, ShuffleVectorInst>(I) ||
      extentOf(&I))
    return true;
  if (const auto Index = indexOf(&I))
    return *Index >= NumThreadIndices && Among == ThreadGroup::Block;
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call)
    return false;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::umin:
  case Intrinsic::umax:
  case Intrinsic::abs:
  case Intrinsic::ctlz:
  case Intrinsic::cttz:
  case Intrinsic::ctpop:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
    return true;
  // What the whole block has voted on.
  case Intrinsic::nvvm_barrier_cta_red_or_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_or_all:
  case Intrinsic::nvvm_barrier_cta_red_and_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_and_all:
  case Intrinsic::nvvm_barrier_cta_red_popc_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_popc_all:
    return Among == ThreadGroup::Block;
  default:
    return false;
  }
}

static bool isVote(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->isConvergent();
}

Uniformity::Uniformity(const Function &Kernel, ThreadGroup Among,
                       const PostDominatorTree &PDT, const LoopInfo &Loops,
                       const Uniformity::Loads &Common)
    : Among(Among), PDT(PDT), Loops(Loops) {
  for (const Instruction &I : instructions(Kernel))
    if (!I.getType()->isVoidTy() && !isFunction(I, Among) &&
        !Common.contains(&I))
      add(I);
  while (!Pending.empty()) {
    const Value *V = Pending.pop_back_val();
    for (const User *U : V->users()) {
      const auto *I = cast<Instruction>(U);
      if (I->isTerminator())
        split(*I->getParent());
      else if (!isVote(*I))
        add(*I);
    }
  }
}

bool Uniformity::isConstant(const Value *V) const {
  const auto *I = dyn_cast<Instruction>(V);
  return isUniform(V) && !(I && Loops.getLoopFor(I->getParent()));
}

void Uniformity::add(const Value &V) {
  if (Varying.insert(&V).second)
    Pending.push_back(&V);
}

/// Threads part at the end of `BB`: where they come together again, which value
/// they bring depends on the way.
void Uniformity::split(const BasicBlock &BB) {
  if (!Split.insert(&BB).second)
    return;
  const auto *Node = PDT.getNode(&BB);
  const BasicBlock *Join =
      Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
  DenseMap<const BasicBlock *, unsigned> Ways;
  for (const BasicBlock *From : successors(&BB)) {
    SmallVector<const BasicBlock *> Stack = {From};
    DenseSet<const BasicBlock *> Seen;
    while (!Stack.empty()) {
      const BasicBlock *At = Stack.pop_back_val();
      if (!Seen.insert(At).second)
        continue;
      ++Ways[At];
      if (At != Join)
        append_range(Stack, successors(At));
    }
  }
  for (const auto &[At, Number] : Ways)
    if (Number > 1 || At == Join)
      for (const PHINode &P : At->phis())
        add(P);
  // Threads that leave a loop in different iterations differ in its values.
  for (const Loop *L = Loops.getLoopFor(&BB); L; L = L->getParentLoop()) {
    if (all_of(Ways, [&](const auto &W) { return L->contains(W.first); }))
      return;
    for (const BasicBlock *In : L->blocks())
      for (const Instruction &I : *In)
        for (const User *U : I.users())
          if (const auto *User = cast<Instruction>(U); !L->contains(User)) {
            if (User->isTerminator())
              split(*User->getParent());
            else
              add(*User);
          }
  }
}

} // namespace crsan
