// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proofs by cases.

#include "Proofs/Cases.h"
#include "Proofs/Remainders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace crsan {

static constexpr size_t MostStates = 40;

/// The loop whose header has `P`; null: there is none.
static const Loop *loopOf(const PHINode &P, const AddressFacts &Facts) {
  const Loop *L = Facts.Loops.getLoopFor(P.getParent());
  return L && L->getHeader() == P.getParent() ? L : nullptr;
}

/// The phis of loops' headers that `Of` are computed from, and that are the
/// same for all threads of the group: integers and pointers.
static SmallVector<const PHINode *, 2> countedIn(ArrayRef<const Value *> Of,
                                                 const AddressFacts &Facts) {
  constexpr unsigned MostValues = 64;
  SmallVector<const PHINode *, 2> All;
  SmallSetVector<const Value *, 16> Seen(Of.begin(), Of.end());
  for (unsigned N = 0; N < Seen.size() && N < MostValues * Of.size(); ++N) {
    const auto *I = dyn_cast<Instruction>(Seen[N]);
    if (!I)
      continue;
    const auto *P = dyn_cast<PHINode>(I);
    if (P && loopOf(*P, Facts)) {
      if (P->getType()->isIntOrPtrTy() && Facts.Among.isUniform(P))
        All.push_back(P);
    } else
      Seen.insert_range(I->operand_values());
  }
  return All;
}

SmallVector<const Loop *, 2> countingLoops(ArrayRef<const Value *> Of,
                                           const AddressFacts &Facts) {
  SmallSetVector<const Loop *, 2> Loops;
  for (const PHINode *P : countedIn(Of, Facts))
    Loops.insert(loopOf(*P, Facts));
  return SmallVector<const Loop *, 2>(Loops.begin(), Loops.end());
}

namespace {

/// What a loop counts by a phi: the phi's value, or only what is left of it.
struct Counted {
  const PHINode *Of;
  std::optional<Remainders> Left = std::nullopt;
};

/// What is counted by several, in one iteration.
using State = SmallVector<Constant *, 2>;

/// All states of a loop.
struct States {
  std::vector<State> All;
  /// Those that may follow each other.
  std::vector<std::pair<size_t, size_t>> Steps;
};

using Assumptions = SmallVector<Assumption, 2>;

} // namespace

static Assumptions assume(ArrayRef<Counted> Of, const State &S) {
  Assumptions All;
  for (const auto &[C, Is] : zip(Of, S))
    if (C.Left)
      C.Left->assume(cast<ConstantInt>(Is)->getZExtValue(), All);
    else
      All.push_back({C.Of, Is});
  return All;
}

static std::optional<States> statesOf(const Loop &L, ArrayRef<Counted> Of,
                                      const AddressFacts &Facts);

/// The constant that `V` is; null: it is not known.
static Constant *constantOf(const Value *V, const AddressFacts &Facts) {
  if (const auto *C = dyn_cast<Constant>(V))
    return const_cast<Constant *>(C);
  if (Constant *Is = Facts.assumed(V))
    return Is;
  const auto Is = Facts.constant(V);
  return Is ? ConstantInt::get(V->getContext(), *Is) : nullptr;
}

/// The constants that `V` may be: one, or one for each value of what an outer
/// loop counts.
static std::optional<State> constantsOf(const Value *V,
                                        const AddressFacts &Facts) {
  if (Constant *Is = constantOf(V, Facts))
    return State{Is};
  const auto Outer = countedIn(V, Facts);
  if (Outer.size() != 1)
    return std::nullopt;
  const Counted By = {Outer[0]};
  const auto Found = statesOf(*loopOf(*Outer[0], Facts), By, Facts);
  if (!Found)
    return std::nullopt;
  State All;
  for (const State &S : Found->All) {
    const Assumptions Assumed = assume(By, S);
    AddressFacts InCase = Facts;
    InCase.Assumed = Assumed;
    Constant *Is = constantOf(V, InCase);
    if (!Is)
      return std::nullopt;
    All.push_back(Is);
  }
  return All;
}

/// What may be counted when the loop begins.
static std::optional<State> startsOf(const Counted &C, const BasicBlock &Before,
                                     const AddressFacts &Facts) {
  auto All = constantsOf(C.Of->getIncomingValueForBlock(&Before), Facts);
  if (!C.Left)
    return All;
  const uint64_t Modulus = C.Left->modulus();
  Type *I64 = Type::getInt64Ty(Before.getContext());
  if (All && all_of(*All, IsaPred<ConstantInt>)) {
    for (Constant *&Is : *All)
      Is = ConstantInt::get(I64,
                            cast<ConstantInt>(Is)->getValue().urem(Modulus));
    return All;
  }
  if (Modulus > MostStates)
    return std::nullopt;
  All.emplace();
  for (uint64_t Left = 0; Left < Modulus; ++Left)
    All->push_back(ConstantInt::get(I64, Left));
  return All;
}

/// None: the states are too many, or not known.
static std::optional<States> statesOf(const Loop &L, ArrayRef<Counted> Of,
                                      const AddressFacts &Facts) {
  const BasicBlock *Before = L.getLoopPredecessor();
  const BasicBlock *Latch = L.getLoopLatch();
  if (!Before || !Latch || !Facts.Assumed.empty())
    return std::nullopt;
  States Found;
  std::vector<State> &All = Found.All;
  All.emplace_back();
  for (const Counted &C : Of) {
    const auto Starts = startsOf(C, *Before, Facts);
    if (!Starts || Starts->size() * All.size() > MostStates)
      return std::nullopt;
    for (const State &S : std::exchange(All, {}))
      for (Constant *Is : *Starts) {
        State With = S;
        With.push_back(Is);
        if (!is_contained(All, With))
          All.push_back(std::move(With));
      }
  }
  const auto *End = dyn_cast<BranchInst>(Latch->getTerminator());
  for (size_t N = 0; N < All.size(); ++N) {
    if (All.size() > MostStates)
      return std::nullopt;
    const Assumptions Assumed = assume(Of, All[N]);
    AddressFacts InCase = Facts;
    InCase.Assumed = Assumed;
    const auto GoesOn = End && End->isConditional()
                            ? InCase.constant(End->getCondition())
                            : std::nullopt;
    if (GoesOn && !L.contains(End->getSuccessor(GoesOn->isZero())))
      continue;
    State Next;
    for (const auto &[C, Is] : zip(Of, All[N]))
      if (C.Left)
        Next.push_back(ConstantInt::get(
            Is->getType(),
            C.Left->next(cast<ConstantInt>(Is)->getZExtValue())));
      else if (Constant *Follows =
                   constantOf(C.Of->getIncomingValueForBlock(Latch), InCase))
        Next.push_back(Follows);
      else
        return std::nullopt;
    const auto At = find(All, Next);
    Found.Steps.push_back({N, At - All.begin()});
    if (At == All.end())
      All.push_back(std::move(Next));
  }
  return Found;
}

/// What the loop counts, as far as it has few states: values of its phis,
/// or else remainders of these.
static std::pair<SmallVector<Counted, 2>, States>
countedBy(const Loop &L, ArrayRef<const Value *> Of,
          const AddressFacts &Facts) {
  SmallVector<Counted, 2> All;
  States Found;
  auto Add = [&](ArrayRef<Counted> More) {
    SmallVector<Counted, 2> With = All;
    append_range(With, More);
    auto States = statesOf(L, With, Facts);
    if (!States)
      return false;
    All = std::move(With);
    Found = std::move(*States);
    return true;
  };
  auto IsKnown = [&](const PHINode *P) {
    return any_of(All, [&](const Counted &C) { return C.Of == P; });
  };
  for (const PHINode *P : countedIn(Of, Facts)) {
    if (loopOf(*P, Facts) != &L || IsKnown(P))
      continue;
    // And what it is computed from in the iteration before.
    SmallSetVector<const PHINode *, 2> Values;
    Values.insert(P);
    constexpr unsigned MostValues = 4;
    for (unsigned N = 0; N < Values.size() && Values.size() < MostValues; ++N)
      if (const BasicBlock *Latch = L.getLoopLatch())
        for (const PHINode *From :
             countedIn(Values[N]->getIncomingValueForBlock(Latch), Facts))
          if (loopOf(*From, Facts) == &L && !IsKnown(From))
            Values.insert(From);
    SmallVector<Counted, 2> More;
    for (const PHINode *Value : Values)
      More.push_back({Value});
    if (!Add(More))
      if (auto Left = Remainders::in(Of, *P, L, Facts))
        Add(Counted{P, std::move(Left)});
  }
  return {std::move(All), std::move(Found)};
}

std::vector<Case> casesOf(const Loop &L, ArrayRef<const Value *> Of,
                          const BarrierIntervals::IterationPairs &Iterations,
                          const AddressFacts &Facts) {
  const auto [By, Found] = countedBy(L, Of, Facts);
  std::vector<Case> All;
  if (By.empty())
    return All;
  auto Add = [&](const State &Mine, const State &Other) {
    Case C = {assume(By, Mine), assume(By, Other)};
    if (!is_contained(All, C))
      All.push_back(std::move(C));
  };
  if (Iterations.Same)
    for (const State &S : Found.All)
      Add(S, S);
  for (const auto &[From, To] : Found.Steps) {
    if (Iterations.NextOfB)
      Add(Found.All[From], Found.All[To]);
    if (Iterations.NextOfA)
      Add(Found.All[To], Found.All[From]);
  }
  return All;
}

namespace {
/// A condition that is true, or false if not `Holds`.
struct Known {
  const Value *Condition;
  bool Holds;
};
} // namespace

/// What the branches say where threads come to `I`.
static SmallVector<Known, 8> conditionsOf(const Instruction &I,
                                          const DominatorTree &DT) {
  SmallVector<Known, 8> All;
  forEachCondition(I, DT, [&](const Value *Condition, bool Holds) {
    All.push_back({Condition, Holds});
  });
  return All;
}

static bool arePossible(ArrayRef<Known> Conditions,
                        const AddressFacts &InCase) {
  return none_of(Conditions, [&](const Known &K) {
    const auto Found = InCase.constant(K.Condition);
    return Found && Found->isOne() != K.Holds;
  });
}

bool isPossible(const Instruction &I, const AddressFacts &InCase) {
  return arePossible(conditionsOf(I, InCase.DT), InCase);
}

bool isNeverReached(const Instruction &I, const AddressFacts &Facts) {
  using namespace PatternMatch;
  constexpr unsigned MostValues = 1024;
  const auto Conditions = conditionsOf(I, Facts.DT);
  // The values that are compared with constants, with what all comparisons
  // leave.
  SmallMapVector<const Value *, ConstantRange, 2> Limited;
  for (const Known &K : Conditions) {
    CmpPredicate Predicate;
    const Value *V;
    const APInt *Limit;
    if (!match(K.Condition, m_ICmp(Predicate, m_Value(V), m_APInt(Limit))))
      continue;
    const auto Is = ConstantRange::makeExactICmpRegion(
        K.Holds ? CmpInst::Predicate(Predicate)
                : CmpInst::getInversePredicate(Predicate),
        *Limit);
    const auto [Of, IsNew] = Limited.try_emplace(
        V, Facts.SE.getUnsignedRange(Facts.SE.getSCEV(const_cast<Value *>(V))));
    Of->second = Of->second.intersectWith(Is);
  }
  return any_of(Limited, [&](const auto &L) {
    const auto &[V, Range] = L;
    if (Range.isFullSet() || Range.isSizeLargerThan(MostValues))
      return false;
    for (APInt Value = Range.getLower(); Value != Range.getUpper(); ++Value) {
      const Assumption Is = {V, ConstantInt::get(V->getType(), Value)};
      AddressFacts InCase = Facts;
      InCase.Assumed = Is;
      if (arePossible(Conditions, InCase))
        return false;
    }
    return true;
  });
}

bool forEachCase(ArrayRef<std::vector<Case>> Loops,
                 function_ref<bool(const Case &)> Each) {
  constexpr size_t MostCases = 128;
  size_t Number = 1;
  for (const std::vector<Case> &Cases : Loops)
    Number *= Cases.size();
  if (Number > MostCases)
    return false;
  for (size_t N = 0; N < Number; ++N) {
    Case All;
    size_t Rest = N;
    for (const std::vector<Case> &Cases : Loops) {
      const Case &C = Cases[Rest % Cases.size()];
      append_range(All.Mine, C.Mine);
      append_range(All.Other, C.Other);
      Rest /= Cases.size();
    }
    if (!Each(All))
      return false;
  }
  return true;
}

} // namespace crsan
