// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compare-and-swaps that take a lock.

#include "Metadata/Locks.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace crsan {

namespace {

/// The same value, though it may have been computed twice.
bool areEqual(const Value *A, const Value *B) {
  if (A == B)
    return true;
  const auto *I = dyn_cast<Instruction>(A), *J = dyn_cast<Instruction>(B);
  return I && J && I->isIdenticalTo(J) && !I->mayReadOrWriteMemory() &&
         !isa<PHINode>(I);
}

/// What an address is reckoned from, whether C++ or assembly names it.
const Value *rootOf(const DataLayout &DL, const Location &Where,
                    int64_t &Offset) {
  Offset = Where.Offset;
  const Value *Base = Where.Base;
  for (;;) {
    if (Base && Base->getType()->isPointerTy())
      Base = CheckedAccesses::rootOf(DL, {const_cast<Value *>(Base), 0, Offset},
                                     Offset);
    if (!isa_and_nonnull<IntToPtrInst, PtrToIntInst>(Base))
      return Base;
    Base = cast<CastInst>(Base)->getOperand(0);
  }
}

bool areOfOneLocation(const DataLayout &DL, const Access &A, const Access &B) {
  int64_t OffsetA, OffsetB;
  const Value *RootA = rootOf(DL, A.Where, OffsetA);
  const Value *RootB = rootOf(DL, B.Where, OffsetB);
  return RootA && RootB && OffsetA == OffsetB && A.Size == B.Size &&
         areEqual(RootA, RootB);
}

bool areEqualConstants(const Value *A, const Value *B) {
  const auto *I = dyn_cast_or_null<ConstantInt>(A);
  const auto *J = dyn_cast_or_null<ConstantInt>(B);
  return I && J && APInt::isSameValue(I->getValue(), J->getValue());
}

/// The ways from a compare-and-swap on which it has succeeded.
class Ways {
public:
  Ways(const EventPlan::Step &Swap, const DominatorTree &DT)
      : Swap(*Swap.Inst), What(*Swap.access()), DT(DT) {}

  bool allComeTo(const SmallPtrSetImpl<const Instruction *> &Ends);

private:
  std::optional<bool> known(const Value *Condition) const;
  bool isResult(const Value *V) const;
  void goOn(const BasicBlock &From);

  const Instruction &Swap;
  const Access &What;
  const DominatorTree &DT;
  SmallVector<const BasicBlock *, 16> ToDo;
  SmallPtrSet<const BasicBlock *, 16> Seen;
};

/// Whether it is what the compare-and-swap has found.
bool Ways::isResult(const Value *V) const {
  const auto *Part = dyn_cast<ExtractValueInst>(V);
  if (!Part)
    return V == &Swap && !Swap.getType()->isStructTy();
  const int Element = isa<AtomicCmpXchgInst>(Swap) ? 0 : What.Result;
  return Part->getAggregateOperand() == &Swap && Part->getNumIndices() == 1 &&
         int(Part->getIndices()[0]) == Element;
}

/// What a condition is where the compare-and-swap has succeeded, if that says
/// so, or the branches that led to it.
std::optional<bool> Ways::known(const Value *Condition) const {
  const Value *Inner, *Right;
  CmpPredicate Predicate;
  if (match(Condition, m_Not(m_Value(Inner))))
    if (const auto Holds = known(Inner))
      return !*Holds;
  if (isa<AtomicCmpXchgInst>(Swap) &&
      match(Condition, m_ExtractValue<1>(m_Specific(&Swap))))
    return true;
  if (match(Condition, m_ICmp(Predicate, m_Value(Inner), m_Value(Right))) &&
      ICmpInst::isEquality(Predicate) && isResult(Inner) &&
      areEqualConstants(Right, What.Expected))
    return Predicate == CmpInst::ICMP_EQ;
  for (const DomTreeNode *N = DT.getNode(Swap.getParent()); N;
       N = N->getIDom()) {
    const auto *Branch = dyn_cast<BranchInst>(N->getBlock()->getTerminator());
    if (!Branch || Branch->isUnconditional() ||
        !areEqual(Branch->getCondition(), Condition))
      continue;
    for (const unsigned Side : {0, 1})
      if (DT.dominates(
              BasicBlockEdge(N->getBlock(), Branch->getSuccessor(Side)),
              Swap.getParent()))
        return Side == 0;
  }
  return std::nullopt;
}

void Ways::goOn(const BasicBlock &From) {
  const Instruction *Last = From.getTerminator();
  auto Add = [&](const BasicBlock *To) {
    if (Seen.insert(To).second)
      ToDo.push_back(To);
  };
  if (const auto *Branch = dyn_cast<BranchInst>(Last);
      Branch && Branch->isConditional())
    if (const auto Holds = known(Branch->getCondition()))
      return Add(Branch->getSuccessor(*Holds ? 0 : 1));
  if (const auto *Switch = dyn_cast<SwitchInst>(Last);
      Switch && isResult(Switch->getCondition()))
    if (const auto *Found = dyn_cast<ConstantInt>(What.Expected);
        Found && Found->getType() == Switch->getCondition()->getType())
      return Add(Switch->findCaseValue(Found)->getCaseSuccessor());
  for (const BasicBlock *To : successors(&From))
    Add(To);
}

bool Ways::allComeTo(const SmallPtrSetImpl<const Instruction *> &Ends) {
  const BasicBlock *Block = Swap.getParent();
  for (auto From = std::next(Swap.getIterator());;) {
    bool HasEnded = false;
    for (; From != Block->end() && !HasEnded; ++From) {
      if (isa<ReturnInst>(*From))
        return false;
      // Round a loop, it is another attempt.
      HasEnded = Ends.contains(&*From) || &*From == &Swap ||
                 isa<UnreachableInst>(*From);
    }
    if (!HasEnded)
      goOn(*Block);
    if (ToDo.empty())
      return true;
    Block = ToDo.pop_back_val();
    From = Block->begin();
  }
}

} // namespace

bool takesLock(const EventPlan::Step &Swap, ArrayRef<EventPlan::Step> Steps,
               const DominatorTree &DT) {
  const Access *E = Swap.access();
  if (!E || !isa_and_nonnull<ConstantInt>(E->Expected))
    return false;
  const DataLayout &DL = Swap.Inst->getDataLayout();
  SmallPtrSet<const Instruction *, 4> GivesBack;
  for (const EventPlan::Step &S : Steps)
    if (isStrong(S.What) && S.Inst != Swap.Inst &&
        areEqualConstants(S.access()->Written, E->Expected) &&
        areOfOneLocation(DL, *S.access(), *E))
      GivesBack.insert(S.Inst);
  return !GivesBack.empty() && Ways(Swap, DT).allComeTo(GivesBack);
}

} // namespace crsan
