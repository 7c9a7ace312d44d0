// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses on the sides of a branch.

#include "Collider/BranchWindow.h"
#include "crsan/abi/Site.h"
#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;

namespace crsan {

/// Adds to `Ahead` what has to be computed at the end of `BB`, in order, for
/// `V` to be known there. False if that cannot be done ahead.
static bool collectAhead(Value *V, const BasicBlock &BB,
                         const DominatorTree &DT, CodeAhead &Ahead,
                         unsigned Depth) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || DT.dominates(I->getParent(), &BB) || Ahead.contains(I))
    return true;
  if (isa<PHINode, CallBase, FreezeInst>(I) || I->mayReadOrWriteMemory() ||
      !isSafeToSpeculativelyExecute(I) || Depth == MostAhead)
    return false;
  return all_of(I->operands(),
                [&](Value *O) {
                  return collectAhead(O, BB, DT, Ahead, Depth + 1);
                }) &&
         Ahead.size() < MostAhead && Ahead.insert(I);
}

namespace {

/// Collects the accesses behind one branch.
class Collector {
public:
  Collector(BasicBlock &BB, BranchInst &Branch, const DominatorTree &DT)
      : BB(BB), Branch(Branch), DT(DT) {}

  std::optional<Window> collect() {
    const BasicBlock *Behind[2];
    for (unsigned Side : {0, 1})
      Behind[Side] = collectSide(Side);
    if (Behind[0] && Behind[0] == Behind[1])
      collectBlock(*const_cast<BasicBlock *>(Behind[0]), Common);
    if (!mayConflict())
      return std::nullopt;
    Window W;
    W.Groups.push_back({&Branch, std::move(Accesses), std::move(Ahead)});
    return W;
  }

private:
  static constexpr unsigned Common = 2; ///< On both sides.

  /// Collects what is done on one side. Returns the block that follows if the
  /// side does not synchronise; null: none is known.
  const BasicBlock *collectSide(unsigned Side) {
    BasicBlock *Next = Branch.getSuccessor(Side);
    // The other side may lead there: then this one is empty.
    if (Next->getSinglePredecessor() != &BB)
      return isa<PHINode>(Next->front()) ? nullptr : behind(Next);
    return collectBlock(*Next, Side) ? behind(Next->getSingleSuccessor())
                                     : nullptr;
  }

  /// The block, unless it begins the next iteration of a loop: what is computed
  /// in it has its value of this iteration at the branch.
  const BasicBlock *behind(const BasicBlock *Next) const {
    return Next && !DT.dominates(Next, &BB) ? Next : nullptr;
  }

  /// Returns whether the block does not synchronise.
  bool collectBlock(BasicBlock &Of, unsigned Side) {
    for (Instruction &I : Of) {
      const Events All = eventsOf(I);
      if (!keepsWindow(All))
        return false;
      for (const Event &E : checkedByCollider(I, All))
        if (isWeak(E))
          add(I, *asAccess(E), Side);
    }
    return true;
  }

  void add(Instruction &I, const Access &E, unsigned Side) {
    constexpr uint64_t LongestValue = 8;
    const bool IsSimple = E.isWhole() && E.Rows.Lanes == 0 &&
                          E.Size <= LongestValue && isPowerOf2_64(E.Size) &&
                          E.Alignment.value() >= E.Size;
    if (!IsSimple || Accesses.size() == abi::MaxGroupSize)
      return;
    WindowAccess A = {E, &I};
    APInt Offset(64, 0);
    CodeAhead More = Ahead;
    if (Value *Base = A.base(Offset).Base;
        Base && !collectAhead(Base, BB, DT, More, 0))
      return;
    Ahead = std::move(More);
    A.Written = nullptr;
    A.IsBehindBranch = true;
    if (Side != Common)
      A.If = {Branch.getCondition(), 1, /*HoldsIfEqual=*/Side == 0};
    Accesses.push_back(A);
    Sides.push_back(Side);
  }

  /// Whether two accesses of different lanes may conflict that do not meet at
  /// another check.
  bool mayConflict() const {
    for (size_t I = 0; I < Accesses.size(); ++I)
      for (size_t J = 0; J < I; ++J)
        if (Sides[I] != Sides[J] &&
            (Accesses[I].writes() || Accesses[J].writes()) &&
            mayOverlap(Accesses[I], Accesses[J]))
          return true;
    return false;
  }

  BasicBlock &BB;
  BranchInst &Branch;
  const DominatorTree &DT;
  SmallVector<WindowAccess, 8> Accesses;
  SmallVector<unsigned, 8> Sides;
  CodeAhead Ahead;
};

} // namespace

std::optional<Window> branchWindow(BasicBlock &BB, UniformityInfo &InWarp,
                                   const DominatorTree &DT) {
  auto *Branch = dyn_cast<BranchInst>(BB.getTerminator());
  if (!Branch || !Branch->isConditional() ||
      Branch->getSuccessor(0) == Branch->getSuccessor(1) ||
      !InWarp.hasDivergentTerminator(BB))
    return std::nullopt;
  return Collector(BB, *Branch, DT).collect();
}

} // namespace crsan
