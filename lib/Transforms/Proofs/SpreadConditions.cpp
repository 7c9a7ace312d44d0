// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the conditions under which threads make an access say of its address.

#include "Proofs/Spread.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace crsan {

/// Takes account of the indices that have one value where threads come to `I`.
void Spread::fix(const Instruction &I, const DominatorTree &DT) {
  const FixedIndices Values = fixedIndices(I, DT);
  for (unsigned Index = 0; Index < NumIndices; ++Index) {
    if (!Values[Index] || std::abs(*Values[Index]) >= MostBytes)
      continue;
    for (const Term &T : std::exchange(Strides[Index], {})) {
      const int64_t Product = T.Scale * *Values[Index];
      if (T.Factors.empty())
        Constant += Product;
      else if (Product)
        addCommon({{Product, T.Factors, T.IsSigned}, nullptr});
    }
    Fixed[Index] = Values[Index];
  }
}

/// Takes account of what indices and counters are less than where threads come
/// to `I`.
void Spread::bound(const Instruction &I, const AddressFacts &Facts) {
  forEachCondition(I, Facts.DT, [&](const Value *Condition, bool Holds) {
    boundBy(Condition, Holds, Facts);
  });
  SmallSetVector<const BasicBlock *, 4> Headers;
  for (const Counter &C : Counters)
    if (C.Of)
      Headers.insert(C.Of->getParent());
  for (const BasicBlock *Header : Headers)
    for (const PHINode &P : Header->phis())
      if (const auto Of = boundOf(P, Facts))
        boundBelow(&P, Of->Below, Of->IsSigned, true, Facts);
}

std::optional<Spread::Bound> Spread::boundOf(const PHINode &P,
                                             const AddressFacts &Facts) {
  const Loop *Around = Facts.Loops.getLoopFor(P.getParent());
  if (!Around)
    return std::nullopt;
  const auto Steps = stepsOf(P, *Around);
  if (Steps.empty())
    return std::nullopt;
  const Loop &L = *Around;
  const BasicBlock *Latch = L.getLoopLatch();
  const auto *Branch =
      Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
  const auto *Compare = Branch && Branch->isConditional()
                            ? dyn_cast<ICmpInst>(Branch->getCondition())
                            : nullptr;
  if (!Compare)
    return std::nullopt;
  auto Predicate = Branch->getSuccessor(0) == L.getHeader()
                       ? CmpInst::Predicate(Compare->getPredicate())
                       : Compare->getInversePredicate();
  Value *A = Compare->getOperand(0), *B = Compare->getOperand(1);
  if (ICmpInst::isGT(Predicate)) {
    Predicate = CmpInst::getSwappedPredicate(Predicate);
    std::swap(A, B);
  }
  if (Predicate != CmpInst::ICMP_SLT && Predicate != CmpInst::ICMP_ULT)
    return std::nullopt;
  // A value of this iteration that is less than a constant is, in the next one,
  // less than the constant and the step.
  const auto *Step =
      Steps.size() == 1 ? dyn_cast<ConstantInt>(Steps[0]) : nullptr;
  const auto *End = dyn_cast<ConstantInt>(B);
  if (A == &P && Step && End && Step->getBitWidth() >= 32 &&
      Step->getBitWidth() <= 64 && Step->getValue().isStrictlyPositive() &&
      Step->getValue().ult(MostBytes) && End->getValue().ult(MostBytes / 2)) {
    const APInt Next = End->getValue() + Step->getValue();
    if (Next.isNegative())
      return std::nullopt;
    B = ConstantInt::get(P.getContext(), Next);
  } else if (A != P.getIncomingValueForBlock(Latch) || !L.isLoopInvariant(B))
    return std::nullopt;
  if (!Facts.SE.isLoopEntryGuardedByCond(
          &L, Predicate, Facts.SE.getSCEV(const_cast<Value *>(startOf(P, L))),
          Facts.SE.getSCEV(B)))
    return std::nullopt;
  return Bound{B, Predicate == CmpInst::ICMP_SLT};
}

void Spread::boundBy(const Value *Condition, bool Holds,
                     const AddressFacts &Facts) {
  const auto *Compare = dyn_cast<ICmpInst>(Condition);
  if (!Compare || !Compare->isRelational() ||
      !Compare->getOperand(0)->getType()->isIntegerTy())
    return;
  const auto Predicate =
      Holds ? Compare->getPredicate() : Compare->getInversePredicate();
  const Value *A = Compare->getOperand(0), *B = Compare->getOperand(1);
  if (ICmpInst::isGT(Predicate) || ICmpInst::isGE(Predicate))
    std::swap(A, B);
  boundBelow(A, B, CmpInst::isSigned(Predicate),
             CmpInst::isStrictPredicate(Predicate), Facts);
}

/// `A` is less than `B`, or equal if not `IsStrict`.
void Spread::boundBelow(const Value *A, const Value *B, bool IsSigned,
                        bool IsStrict, const AddressFacts &Facts) {
  if (const auto *Least = dyn_cast<MinMaxIntrinsic>(B);
      Least && Least->getPredicate() ==
                   (IsSigned ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT)) {
    boundBelow(A, Least->getLHS(), IsSigned, IsStrict, Facts);
    boundBelow(A, Least->getRHS(), IsSigned, IsStrict, Facts);
    return;
  }
  if (const auto Index = indexAmong(A, Among);
      Index && IsStrict && Facts.Among.isUniform(B) && !isa<ConstantInt>(B))
    Limits.push_back({*Index, B, IsSigned});
  // The difference of the two is a sum, which is at most -1, or 0.
  Spread D(Among);
  if (!D.extend(A, IsSigned, Facts, 0) || !D.extend(B, IsSigned, Facts, 0) ||
      !D.add(A, {1, {}, IsSigned}, Facts, 0) ||
      !D.add(B, {-1, {}, IsSigned}, Facts, 0) || !D.Base.empty() || D.Size ||
      !D.Pieces.empty())
    return;
  auto IsPositive = [](const Term &T) {
    return T.Factors.empty() && T.Scale > 0;
  };
  // An index that is at least a constant.
  unsigned Moving = 0, From = 0;
  for (unsigned Index = 0; Index < NumIndices; ++Index)
    if (!D.Strides[Index].empty()) {
      ++Moving;
      From = Index;
    }
  if (Moving == 1 && D.Counters.empty() && D.Strides[From].size() == 1 &&
      D.Strides[From][0].Factors.empty() && D.Strides[From][0].Scale < 0) {
    const int64_t Step = -D.Strides[From][0].Scale;
    Begins[From] =
        std::max(Begins[From], (D.Constant + IsStrict + Step - 1) / Step);
    require(D.Bounded);
    return;
  }
  const int64_t Left = -D.Constant - IsStrict;
  if (Left < 0 ||
      !all_of(D.Strides,
              [&](const Sum &Stride) { return all_of(Stride, IsPositive); }) ||
      !all_of(D.Counters, [&](const Counter &C) { return IsPositive(C.Step); }))
    return;
  for (unsigned Index = 0; Index < NumIndices; ++Index)
    if (!D.Strides[Index].empty()) {
      const int64_t End = Left / D.Strides[Index][0].Scale + 1;
      Ends[Index] = std::min(Ends[Index].value_or(End), End);
    }
  for (const Counter &C : D.Counters)
    for (Counter &Mine : Counters)
      if (C.Of && Mine.Of == C.Of) {
        const uint64_t Number = Left / C.Step.Scale + 1;
        Mine.Number = std::min(Mine.Number.value_or(Number), Number);
      }
  cap(D, Left);
  require(D.Bounded);
}

/// The sum `D` is at most `Left`. Notes what this says of an access that is
/// moved by a multiple of the sum.
void Spread::cap(const Spread &D, int64_t Left) {
  std::optional<Term> Times;
  auto IsMultiple = [&](const Sum &Mine, const Sum &Its) {
    if (Mine.size() != 1 || Mine[0].Scale % Its[0].Scale)
      return false;
    Term T = Mine[0];
    T.Scale /= Its[0].Scale;
    if (!Times)
      Times = T;
    return *Times == T && T.Scale > 0;
  };
  Cap C = {};
  for (unsigned Index = 0; Index < NumIndices; ++Index) {
    C.Indices[Index] = !D.Strides[Index].empty();
    if (C.Indices[Index] && !IsMultiple(Strides[Index], D.Strides[Index]))
      return;
  }
  for (const Counter &Its : D.Counters) {
    const auto *Mine = find_if(
        Counters, [&](const Counter &M) { return M.Of && M.Of == Its.Of; });
    // By another, which counts the same, it may be moved beyond that.
    if (Mine == Counters.end() || !IsMultiple({Mine->Step}, {Its.Step}) ||
        any_of(drop_begin(ArrayRef(Mine, Counters.end())),
               [&](const Counter &M) { return M.Of == Its.Of; }))
      return;
    C.Counters.push_back(Its.Of);
  }
  if (!Times || any_of(Counters, [](const Counter &M) { return !M.Of; }) ||
      Left >= MostBytes / Times->Scale)
    return;
  C.Most = *Times;
  C.Most.Scale *= Left;
  Caps.push_back(std::move(C));
}

/// What is moved by indices, and by pieces of these, is moved by pieces alone
/// from now on. False if it cannot be.
bool Spread::cutStrides() {
  for (Piece &P : Pieces) {
    const Spread &X = P.Whole[0];
    std::optional<Term> Times;
    for (unsigned Index = 0; Index < NumIndices; ++Index) {
      const Sum &Step = X.Strides[Index];
      if (Step.empty())
        continue;
      // Of a multiple of the whole, all its indices are multiples.
      Sum Mine = std::exchange(Strides[Index], {});
      if (Fixed[Index] || Step.size() > 1 || Mine.size() > 1)
        return false;
      Term T = Mine.empty() ? Term{0, {}, true} : Mine[0];
      if (T.Scale % Step[0].Scale ||
          (T.Scale && !T.Factors.empty() && !Step[0].Factors.empty()) ||
          (T.Scale && !Step[0].Factors.empty()))
        return false;
      T.Scale /= Step[0].Scale;
      if (Times && !(*Times == T))
        return false;
      Times = T;
    }
    if (!Times || Times->Scale == 0)
      continue;
    addTo(P.Remainder, *Times);
    Times->Scale *= P.By;
    addTo(P.Quotient, *Times);
  }
  return true;
}

/// Takes account of the remainder that all threads have that come to `I`.
void Spread::fixRemainder(const Instruction &I, const AddressFacts &Facts) {
  using namespace PatternMatch;
  if (Pieces.empty())
    return;
  Piece &P = Pieces[0];
  forEachCondition(I, Facts.DT, [&](const Value *Condition, bool Holds) {
    CmpPredicate Predicate;
    const Value *V;
    const APInt *Number;
    if (!match(Condition, m_ICmp(Predicate, m_Value(V), m_APInt(Number))) ||
        Predicate != (Holds ? CmpInst::ICMP_EQ : CmpInst::ICMP_NE) ||
        !Number->ult(P.By))
      return;
    Spread Found(Among);
    if (!Found.add(V, {1, {}, false}, Facts, 0) || Found.Pieces.size() != 1 ||
        Found.Constant || !Found.Base.empty() || !Found.Counters.empty())
      return;
    const Piece &Other = Found.Pieces[0];
    const auto IsMoved = [](const Sum &Step) { return !Step.empty(); };
    if (Other.By != P.By || !Other.Quotient.empty() ||
        Other.Remainder.size() != 1 || Other.Remainder[0].Scale != 1 ||
        !Other.Remainder[0].Factors.empty() || any_of(Found.Strides, IsMoved))
      return;
    // Its whole may lack what is a multiple.
    Sum Multiples;
    for (unsigned Index = 0; Index < NumIndices; ++Index) {
      const Sum &Mine = P.Whole[0].Strides[Index];
      const Sum &Its = Other.Whole[0].Strides[Index];
      if (Mine == Its)
        continue;
      if (!Its.empty())
        return;
      append_range(Multiples, Mine);
    }
    P.FixedRemainder = Number->getZExtValue();
    P.Multiples = std::move(Multiples);
    require(Found.Bounded);
  });
}

std::optional<Spread> Spread::of(const Access &E, const Instruction &I,
                                 const Value *Root, const AddressFacts &Facts) {
  if (!E.isWhole() || E.Rows.Lanes)
    return std::nullopt;
  const DataLayout &DL = I.getDataLayout();
  Spread S(Facts.Among.Among);
  S.Size = E.Size;
  S.Constant = E.Where.Offset;
  const Value *V = E.Where.Base;
  while (V != Root) {
    if (isa<AddrSpaceCastOperator, BitCastOperator>(V)) {
      V = cast<Operator>(V)->getOperand(0);
      continue;
    }
    if (const Value *Is = Facts.assumed(V)) {
      V = Is;
      continue;
    }
    if (const auto *Choice = dyn_cast<SelectInst>(V))
      if (const auto Is = Facts.constant(Choice->getCondition())) {
        V = Is->isOne() ? Choice->getTrueValue() : Choice->getFalseValue();
        continue;
      }
    if (const auto *P = dyn_cast<PHINode>(V))
      if (const Value *Start = S.addSteps(*P, Facts)) {
        V = Start;
        continue;
      }
    const auto *Step = dyn_cast<GEPOperator>(V);
    if (!Step)
      return std::nullopt;
    const unsigned Bits = DL.getIndexTypeSizeInBits(Step->getType());
    SmallMapVector<Value *, APInt, 4> Terms;
    APInt Constant(Bits, 0);
    if (!Step->collectOffset(DL, Bits, Terms, Constant))
      return std::nullopt;
    S.Constant += Constant.getSExtValue();
    for (const auto &[Index, Scale] : Terms) {
      const Term T = {Scale.getSExtValue(), {}, true};
      if (Index->getType()->getScalarSizeInBits() >= Bits ||
          S.extend(Index, /*IsSigned=*/true, Facts, 0)) {
        if (!S.add(Index, T, Facts, 0))
          return std::nullopt;
      } else if (Facts.Among.isUniform(Index))
        S.addWhole(Index, T);
      else
        return std::nullopt;
    }
    V = Step->getPointerOperand();
  }
  S.fix(I, Facts.DT);
  if (!S.cutStrides())
    return std::nullopt;
  S.fixRemainder(I, Facts);
  S.bound(I, Facts);
  return S;
}

} // namespace crsan
