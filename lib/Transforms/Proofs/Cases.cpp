// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proofs by cases.

#include "Proofs/Cases.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace crsan {

/// The loop whose header has `P`; null: there is none.
static const Loop *loopOf(const PHINode &P, const AddressFacts &Facts) {
  const Loop *L = Facts.Loops.getLoopFor(P.getParent());
  return L && L->getHeader() == P.getParent() ? L : nullptr;
}

SmallVector<const PHINode *, 2> countedIn(const Value *V,
                                          const AddressFacts &Facts) {
  constexpr unsigned MostValues = 64;
  SmallVector<const PHINode *, 2> All;
  SmallSetVector<const Value *, 16> Seen;
  Seen.insert(V);
  for (unsigned N = 0; N < Seen.size() && N < MostValues; ++N) {
    const auto *I = dyn_cast<Instruction>(Seen[N]);
    if (!I)
      continue;
    const auto *P = dyn_cast<PHINode>(I);
    if (P && loopOf(*P, Facts)) {
      if (P->getType()->isIntegerTy() && Facts.Among.isUniform(P))
        All.push_back(P);
    } else
      Seen.insert_range(I->operand_values());
  }
  return All;
}

/// The constants that `V` may be: one, or one for each value of what an outer
/// loop counts.
static std::optional<SmallVector<APInt, 0>>
constantsOf(const Value *V, const AddressFacts &Facts) {
  if (const auto Is = Facts.constant(V))
    return SmallVector<APInt, 0>{*Is};
  const auto Of = countedIn(V, Facts);
  if (Of.size() != 1)
    return std::nullopt;
  const auto Values = valuesOf(*Of[0], Facts);
  if (!Values)
    return std::nullopt;
  SmallVector<APInt, 0> All;
  for (const APInt &Value : *Values) {
    const Assumption Assumed = {Of[0], Value};
    AddressFacts InCase = Facts;
    InCase.Assumed = Assumed;
    const auto Is = InCase.constant(V);
    if (!Is)
      return std::nullopt;
    All.push_back(*Is);
  }
  return All;
}

std::optional<SmallVector<APInt, 0>> valuesOf(const PHINode &P,
                                              const AddressFacts &Facts) {
  constexpr size_t MostValues = 40;
  const Loop *L = loopOf(P, Facts);
  const BasicBlock *Before = L ? L->getLoopPredecessor() : nullptr;
  const BasicBlock *Latch = L ? L->getLoopLatch() : nullptr;
  if (!Before || !Latch || !Facts.Assumed.empty())
    return std::nullopt;
  auto All = constantsOf(P.getIncomingValueForBlock(Before), Facts);
  if (!All)
    return std::nullopt;
  const auto *End = dyn_cast<BranchInst>(Latch->getTerminator());
  for (size_t N = 0; N < All->size(); ++N) {
    if (All->size() > MostValues)
      return std::nullopt;
    const Assumption Assumed = {&P, (*All)[N]};
    AddressFacts InCase = Facts;
    InCase.Assumed = Assumed;
    const auto GoesOn = End && End->isConditional()
                            ? InCase.constant(End->getCondition())
                            : std::nullopt;
    if (GoesOn && !L->contains(End->getSuccessor(GoesOn->isZero())))
      continue;
    const auto Next = InCase.constant(P.getIncomingValueForBlock(Latch));
    if (!Next)
      return std::nullopt;
    if (!is_contained(*All, *Next))
      All->push_back(*Next);
  }
  return All;
}

bool isPossible(const Instruction &I, const AddressFacts &InCase) {
  bool Is = true;
  forEachCondition(I, InCase.DT, [&](const Value *Condition, bool Holds) {
    if (const auto Found = InCase.constant(Condition))
      Is &= Found->isOne() == Holds;
  });
  return Is;
}

bool forEachCase(ArrayRef<Cases> All,
                 function_ref<bool(ArrayRef<Assumption>)> Each) {
  constexpr size_t MostCases = 128;
  size_t Number = 1;
  for (const Cases &C : All)
    Number *= C.Values.size();
  if (Number > MostCases)
    return false;
  for (size_t Case = 0; Case < Number; ++Case) {
    SmallVector<Assumption, 2> Assumed;
    size_t Rest = Case;
    for (const Cases &C : All) {
      Assumed.push_back({C.Of, C.Values[Rest % C.Values.size()]});
      Rest /= C.Values.size();
    }
    if (!Each(Assumed))
      return false;
  }
  return true;
}

} // namespace crsan
