// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads go back behind their conditions.

#include "Guards.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace crsan::lift {

namespace {

/// Where a value is used only if a condition holds.
struct Choice {
  Value *Condition = nullptr;
  bool IfTrue = true;       ///< The value is used if the condition is so.
  Value *Instead = nullptr; ///< The result, if it is not.

  bool isSameGuard(const Choice &Other) const {
    return Condition == Other.Condition && IfTrue == Other.IfTrue;
  }
};

std::optional<Choice> choiceOf(const Use &U) {
  auto *I = cast<Instruction>(U.getUser());
  LLVMContext &C = I->getContext();
  if (auto *Select = dyn_cast<SelectInst>(I)) {
    if (U.getOperandNo() == 0 ||
        Select->getTrueValue() == Select->getFalseValue())
      return std::nullopt;
    const bool IfTrue = U.getOperandNo() == 1;
    return Choice{Select->getCondition(), IfTrue,
                  IfTrue ? Select->getFalseValue() : Select->getTrueValue()};
  }
  const unsigned Opcode = I->getOpcode();
  if (!I->getType()->isIntegerTy(1) ||
      (Opcode != Instruction::And && Opcode != Instruction::Or))
    return std::nullopt;
  const bool IsAnd = Opcode == Instruction::And;
  return Choice{I->getOperand(1 - U.getOperandNo()), IsAnd,
                ConstantInt::getBool(C, !IsAnd)};
}

/// A load, what is computed from it alone, and the choices that are made of
/// that.
class GuardedLoad {
public:
  explicit GuardedLoad(LoadInst &Load) : Block(*Load.getParent()) {
    IsGuarded = add(Load) && !Choosers.empty() && canMove();
  }

  explicit operator bool() const { return IsGuarded; }
  /// Makes a branch; this splits the block.
  void move();

private:
  bool add(Instruction &I);
  bool canMove();
  bool isAvailable(const Value *V) const {
    const auto *I = dyn_cast<Instruction>(V);
    return !I || I->getParent() != &Block || I->comesBefore(First);
  }

  BasicBlock &Block;
  bool IsGuarded = false;
  SetVector<Instruction *> Computed; ///< The load is the first.
  SmallVector<std::pair<Use *, Choice>, 4> Choosers;
  Instruction *First = nullptr; ///< Of the choosers.
};

bool isPlain(const Instruction &I) {
  return !I.mayWriteToMemory() && !I.isTerminator() && !isa<PHINode>(I) &&
         (!isa<CallBase>(I) || cast<CallBase>(I).doesNotAccessMemory());
}

bool GuardedLoad::add(Instruction &I) {
  constexpr size_t Most = 32;
  if (I.getParent() != &Block || I.use_empty() || Computed.size() == Most)
    return false;
  if (!Computed.insert(&I))
    return true;
  for (Use &U : I.uses()) {
    auto *User = cast<Instruction>(U.getUser());
    if (const auto C = choiceOf(U)) {
      if (User->getParent() != &Block)
        return false;
      if (!Choosers.empty() && !C->isSameGuard(Choosers.front().second))
        return false;
      Choosers.emplace_back(&U, *C);
    } else if (isa<LoadInst>(User) || !isPlain(*User) || !add(*User))
      return false;
  }
  return true;
}

bool GuardedLoad::canMove() {
  First = cast<Instruction>(Choosers.front().first->getUser());
  for (const auto &[U, C] : Choosers)
    if (auto *I = cast<Instruction>(U->getUser()); I->comesBefore(First))
      First = I;
  for (const auto &[U, C] : Choosers) {
    auto *Condition = dyn_cast<Instruction>(C.Condition);
    if ((Condition && Computed.contains(Condition)) ||
        isa<Constant>(C.Condition) || !isAvailable(C.Condition) ||
        !isAvailable(C.Instead))
      return false;
    if (auto *Instead = dyn_cast<Instruction>(C.Instead);
        Instead && Computed.contains(Instead))
      return false;
  }
  for (Instruction *I : Computed)
    if (!I->comesBefore(First) ||
        !all_of(I->operands(), [&](Value *V) { return isAvailable(V); }))
      return false;
  for (Instruction *I = Computed.front(); I != First; I = I->getNextNode())
    if (I->mayWriteToMemory())
      return false;
  return true;
}

void GuardedLoad::move() {
  const Choice &Guard = Choosers.front().second;
  IRBuilder<> B(First);
  Value *Condition =
      Guard.IfTrue ? Guard.Condition : B.CreateNot(Guard.Condition);
  Instruction *End =
      SplitBlockAndInsertIfThen(Condition, First->getIterator(), false);
  BasicBlock *Then = End->getParent(), *Behind = First->getParent();
  SmallVector<Instruction *> Ordered(Computed.begin(), Computed.end());
  llvm::sort(Ordered,
             [](Instruction *L, Instruction *R) { return L->comesBefore(R); });
  for (Instruction *I : Ordered)
    I->moveBefore(End->getIterator());
  for (const auto &[U, C] : Choosers) {
    auto *Chooser = cast<Instruction>(U->getUser());
    auto *Phi = PHINode::Create(Chooser->getType(), 2, "", Behind->begin());
    Phi->setDebugLoc(Chooser->getDebugLoc());
    Phi->addIncoming(U->get(), Then);
    Phi->addIncoming(C.Instead, &Block);
    Chooser->replaceAllUsesWith(Phi);
  }
  for (const auto &[U, C] : Choosers)
    cast<Instruction>(U->getUser())->eraseFromParent();
}

} // namespace

PreservedAnalyses GuardLoadsPass::run(Function &F, FunctionAnalysisManager &) {
  SmallVector<LoadInst *> Loads;
  for (Instruction &I : instructions(F))
    if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple())
      Loads.push_back(Load);
  // From the last on: a condition of a later load may be a choice of an
  // earlier one.
  bool HasMoved = false;
  for (LoadInst *Load : reverse(Loads))
    if (GuardedLoad Guarded(*Load); Guarded) {
      Guarded.move();
      HasMoved = true;
    }
  return HasMoved ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace crsan::lift
