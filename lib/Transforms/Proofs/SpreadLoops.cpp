// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What loops add to an address.

#include "Proofs/Spread.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace crsan {

SmallVector<const Value *, 1> Spread::stepsOf(const PHINode &P, const Loop &L) {
  constexpr size_t MostSteps = 8;
  if (P.getParent() != L.getHeader() || P.getNumIncomingValues() != 2)
    return {};
  const unsigned Inside = L.contains(P.getIncomingBlock(0u)) ? 0 : 1;
  if (L.contains(P.getIncomingBlock(1 - Inside)))
    return {};
  // A compiler that makes one iteration of several adds several times.
  SmallVector<const Value *, 1> Steps;
  for (const Value *V = P.getIncomingValue(Inside); V != &P;) {
    const auto *Sum = dyn_cast<BinaryOperator>(V);
    if (!Sum || Sum->getOpcode() != Instruction::Add ||
        Steps.size() == MostSteps)
      return {};
    const unsigned Step = L.isLoopInvariant(Sum->getOperand(1)) ? 1 : 0;
    if (!L.isLoopInvariant(Sum->getOperand(Step)) ||
        L.isLoopInvariant(Sum->getOperand(1 - Step)))
      return {};
    Steps.push_back(Sum->getOperand(Step));
    V = Sum->getOperand(1 - Step);
  }
  return Steps;
}

const Value *Spread::startOf(const PHINode &P, const Loop &L) {
  return P.getIncomingValue(L.contains(P.getIncomingBlock(0u)));
}

/// As fit(), of what the loop counts by `P`.
bool Spread::fitIterations(const PHINode &P, const Loop &L, bool IsSigned,
                           const AddressFacts &Facts, unsigned Depth) {
  if (!extend(startOf(P, L), IsSigned, Facts, Depth + 1))
    return false;
  const auto *Iterations =
      dyn_cast<SCEVAddRecExpr>(Facts.SE.getSCEV(const_cast<PHINode *>(&P)));
  if (Iterations && (IsSigned ? Iterations->hasNoSignedWrap()
                              : Iterations->hasNoUnsignedWrap()))
    return true;
  return endOf(P, L, IsSigned, Facts, Depth);
}

/// What `P` is less than in all iterations of the loop. The loop does not count
/// downwards by it, nor beyond what a register of its type has. Null: that is
/// not known. May add to Bounded what it depends on.
Value *Spread::endOf(const PHINode &P, const Loop &L, bool IsSigned,
                     const AddressFacts &Facts, unsigned Depth) {
  const auto Bound = boundOf(P, Facts);
  if (!Bound || Bound->IsSigned != IsSigned ||
      P.getType()->getIntegerBitWidth() < 32)
    return nullptr;
  const Term One = {1, {}, IsSigned};
  auto AddTo = [&](Spread &S, const Value *V) {
    return S.extend(V, IsSigned, Facts, Depth + 1) &&
           S.add(V, One, Facts, Depth + 1) &&
           S.allOfCommon([](const Value *) { return false; }) &&
           S.Counters.empty() && S.Pieces.empty();
  };
  // What is less than a bound is, after one more iteration, less than the sum
  // of the bound and the steps.
  Spread Next(Among);
  if (!AddTo(Next, Bound->Below))
    return nullptr;
  for (const Value *Step : stepsOf(P, L)) {
    Spread Alone(Among);
    if (!AddTo(Alone, Step) || !Alone.isOfPositive() || !AddTo(Next, Step))
      return nullptr;
    requireSmall(std::move(Alone));
  }
  requireSmall(std::move(Next));
  return Bound->Below;
}

/// Adds the most that what a loop counts by `P` may amount to, `T` times. It is
/// between the start, which must not be negative, and the end.
bool Spread::addAmount(const PHINode &P, const Term &T,
                       const AddressFacts &Facts, unsigned Depth) {
  const Loop &L = *Facts.Loops.getLoopFor(P.getParent());
  Spread Start(Among);
  if (!Start.extend(startOf(P, L), T.IsSigned, Facts, Depth + 1) ||
      !Start.add(startOf(P, L), {1, {}, T.IsSigned}, Facts, Depth + 1) ||
      !Start.cutStrides() ||
      !Start.allOfCommon([](const Value *) { return false; }) ||
      !Start.Counters.empty() || !Start.isOfPositive())
    return false;
  Value *End = endOf(P, L, T.IsSigned, Facts, Depth);
  const SCEV *Last = End ? Facts.SE.getSCEV(End) : nullptr;
  if (!Last || !isAvailable(*Last))
    return false;
  requireSmall(std::move(Start));
  return countBeside({T, nullptr, std::nullopt, Last}) &&
         add(startOf(P, L), T, Facts, Depth + 1);
}

/// By what the iterations of a loop are counted, whichever of its phis says so.
static const PHINode *counterOf(const Loop &L) {
  return &*L.getHeader()->phis().begin();
}

/// Multiplies `T` by what a loop adds in each iteration.
bool Spread::multiplyByStep(Term &T, const Value *Step,
                            const AddressFacts &Facts, unsigned Depth) {
  if (const auto *Number = dyn_cast<ConstantInt>(Step)) {
    if (std::abs(Number->getSExtValue()) >= MostBytes)
      return false;
    T.Scale *= Number->getSExtValue();
    return true;
  }
  // A product of several values is the same product elsewhere.
  Spread Parts(Among);
  if (Parts.extend(Step, T.IsSigned, Facts, Depth + 1) &&
      Parts.add(Step, T, Facts, Depth + 1) && Parts.Base.size() == 1 &&
      !Parts.Base[0].Of && Parts.Constant == 0 && Parts.Counters.empty() &&
      Parts.Pieces.empty() && Parts.Size == 0 &&
      all_of(Parts.Strides, [](const Sum &S) { return S.empty(); })) {
    T = Parts.Base[0];
    require(Parts.Bounded);
    return true;
  }
  return multiply(T, Step);
}

/// Multiplies `T` by the sum of `Steps`, which are multiples of one value.
bool Spread::multiplyBySteps(Term &T, ArrayRef<const Value *> Steps,
                             const AddressFacts &Facts, unsigned Depth) {
  Sum All;
  for (const Value *Step : Steps) {
    Term One = T;
    if (!multiplyByStep(One, Step, Facts, Depth) ||
        std::abs(One.Scale) >= MostBytes)
      return false;
    addTo(All, std::move(One));
  }
  if (All.size() != 1)
    return false;
  T = All[0];
  return true;
}

/// Counts the iterations of `L` by steps `Step`, and `More` of them.
bool Spread::countIterations(const Loop &L, const PHINode *Of, Term Step,
                             unsigned More, const AddressFacts &Facts) {
  Counter C = {std::move(Step), Of, std::nullopt, nullptr};
  // A bound that is larger only says that the counter does not wrap.
  constexpr unsigned MostIterations = 1 << 20;
  if (const unsigned Most = Facts.SE.getSmallConstantMaxTripCount(&L);
      Most && Most < MostIterations)
    C.Number = Most + More;
  else if (const SCEV *Last = Facts.SE.getSymbolicMaxBackedgeTakenCount(&L);
           isAvailable(*Last)) {
    C.Last = Last;
    C.Beyond = More;
  } else if (IsAmount)
    return false;
  return count(std::move(C));
}

/// Adds `T` times what a loop counts by `P`.
bool Spread::addIterations(const PHINode &P, Term T, const AddressFacts &Facts,
                           unsigned Depth) {
  const Loop &L = *Facts.Loops.getLoopFor(P.getParent());
  const auto Steps = stepsOf(P, L);
  if (Steps.empty() || !Facts.MayDiffer(L))
    return false;
  const Spread Before = *this;
  Term Step = T;
  if (multiplyBySteps(Step, Steps, Facts, Depth) &&
      countIterations(L, counterOf(L), std::move(Step), 0, Facts) &&
      add(startOf(P, L), T, Facts, Depth + 1))
    return true;
  *this = Before;
  return IsAmount && addAmount(P, T, Facts, Depth);
}

/// Adds `T` times what a loop has counted up to its end, or the start where it
/// is not entered: `X` is one of the two. Compilers put such a loop in front of
/// one whose iterations are several of the source's.
bool Spread::addCounted(const PHINode &X, const Term &T,
                        const AddressFacts &Facts, unsigned Depth) {
  const PHINode *Of = nullptr;
  for (const Value *V : X.incoming_values()) {
    const auto *Next = dyn_cast<BinaryOperator>(V);
    const Loop *L = Next ? Facts.Loops.getLoopFor(Next->getParent()) : nullptr;
    if (L && !L->contains(&X))
      for (const PHINode &P : L->getHeader()->phis())
        if (is_contained(P.operands(), V) && !stepsOf(P, *L).empty())
          Of = &P;
  }
  if (!Of)
    return false;
  const Loop &L = *Facts.Loops.getLoopFor(Of->getParent());
  Term Step = T;
  return Facts.MayDiffer(L) &&
         all_of(
             X.incoming_values(),
             [&](const Value *V) { return is_contained(Of->operands(), V); }) &&
         multiplyBySteps(Step, stepsOf(*Of, L), Facts, Depth) &&
         countIterations(L, &X, std::move(Step), 1, Facts) &&
         add(startOf(*Of, L), T, Facts, Depth + 1);
}

/// Adds what a loop adds to the pointer `P` in each iteration. Returns the
/// pointer with which it begins; null if that is not known.
const Value *Spread::addSteps(const PHINode &P, const AddressFacts &Facts) {
  const Loop *L = Facts.Loops.getLoopFor(P.getParent());
  const BasicBlock *Latch = L ? L->getLoopLatch() : nullptr;
  if (!Latch || L->getHeader() != P.getParent() ||
      P.getNumIncomingValues() != 2 || !Facts.MayDiffer(*L))
    return nullptr;
  const DataLayout &DL = P.getDataLayout();
  const unsigned Bits = DL.getIndexTypeSizeInBits(P.getType());
  APInt Bytes(Bits, 0);
  const Value *V = P.getIncomingValueForBlock(Latch);
  while (V != &P) {
    const auto *Next = dyn_cast<GEPOperator>(V);
    SmallMapVector<Value *, APInt, 4> Terms;
    if (!Next || !Next->collectOffset(DL, Bits, Terms, Bytes))
      return nullptr;
    for (const auto &[Step, Scale] : Terms) {
      Term T = {Scale.getSExtValue(), {}, true};
      if (!L->isLoopInvariant(Step) || !multiplyByStep(T, Step, Facts, 0) ||
          !countIterations(*L, counterOf(*L), std::move(T), 0, Facts))
        return nullptr;
    }
    V = Next->getPointerOperand();
  }
  if (std::abs(Bytes.getSExtValue()) >= MostBytes ||
      (!Bytes.isZero() &&
       !countIterations(*L, counterOf(*L), {Bytes.getSExtValue(), {}, true}, 0,
                        Facts)))
    return nullptr;
  return startOf(P, *L);
}

} // namespace crsan
