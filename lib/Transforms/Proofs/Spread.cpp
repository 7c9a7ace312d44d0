// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where threads access an array.

#include "Proofs/Spread.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace crsan {

static constexpr unsigned MostFactors = 3;

/// The index that `V` is, if threads of one group may differ in it.
static std::optional<unsigned> indexAmong(const Value *V, ThreadGroup Among) {
  const auto I = indexOf(V);
  return I && (Among == ThreadGroup::Grid || *I < NumThreadIndices)
             ? I
             : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Where accesses are
//===----------------------------------------------------------------------===//

/// Whether the extension of the sum `V`, of less than 64 bits, is the sum of
/// the extensions of its terms. May add to Bounded what that depends on.
bool Spread::extend(const Value *V, bool IsSigned, const Uniformity &Among,
                    unsigned Depth) {
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || Among.isUniform(V) || indexAmong(V, Among.Among))
    return true;
  if (I->getOpcode() != Instruction::Mul && !isSum(*I) && !factorOf(*I))
    return true;
  if (Depth == MostDepth)
    return false;
  const auto *O = dyn_cast<OverflowingBinaryOperator>(I);
  if (!O || (IsSigned ? O->hasNoSignedWrap() : O->hasNoUnsignedWrap()))
    return extend(I->getOperand(0), IsSigned, Among, Depth + 1) &&
           extend(I->getOperand(1), IsSigned, Among, Depth + 1);
  const auto Most = mostOf(V);
  if (!Most)
    return false;
  if (*Most >= 1u << 31 && !is_contained(Bounded, V))
    Bounded.push_back(V);
  return true;
}

/// Adds `T` times `V`. Returns false if it is not known how that differs
/// between threads.
bool Spread::add(const Value *V, Term T, const Uniformity &Among,
                 unsigned Depth) {
  if (std::abs(T.Scale) >= MostBytes || Depth == MostDepth ||
      !V->getType()->isIntegerTy() || V->getType()->getIntegerBitWidth() > 64)
    return false;
  if (const auto *C = dyn_cast<ConstantInt>(V); C && T.Factors.empty()) {
    if (std::abs(C->getSExtValue()) >= MostBytes)
      return false;
    Constant += T.Scale * C->getSExtValue();
    return true;
  }
  if (const auto Index = indexAmong(V, Among.Among)) {
    Strides[*Index].push_back(T);
    return true;
  }
  if (Among.isUniform(V)) {
    Base.push_back({T, V});
    return true;
  }
  const auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return false;
  if (isa<ZExtInst, SExtInst>(I)) {
    T.IsSigned = isa<SExtInst>(I);
    return extend(I->getOperand(0), T.IsSigned, Among, Depth) &&
           add(I->getOperand(0), T, Among, Depth + 1);
  }
  if (isSum(*I))
    return add(I->getOperand(0), T, Among, Depth + 1) &&
           add(I->getOperand(1), T, Among, Depth + 1);
  if (const int64_t Factor = factorOf(*I)) {
    if (Factor >= MostBytes / std::max<int64_t>(std::abs(T.Scale), 1))
      return false;
    T.Scale *= Factor;
    return add(I->getOperand(0), T, Among, Depth + 1);
  }
  if (I->getOpcode() == Instruction::Mul && T.Factors.size() < MostFactors)
    for (const unsigned One : {0, 1})
      if (isAvailable(I->getOperand(One))) {
        T.Factors.push_back(I->getOperand(One));
        return add(I->getOperand(1 - One), T, Among, Depth + 1);
      }
  return false;
}

/// Takes account of the conditions under which threads come to `I`.
void Spread::fix(const Instruction &I, const DominatorTree &DT) {
  const FixedIndices Values = fixedIndices(I, DT);
  for (unsigned Index = 0; Index < NumIndices; ++Index) {
    auto &Sum = Strides[Index];
    if (!Values[Index] ||
        (*Values[Index] != 0 &&
         any_of(Sum, [](const Term &T) { return !T.Factors.empty(); })))
      continue;
    for (const Term &T : Sum)
      Constant += T.Scale * *Values[Index];
    Sum.clear();
    Fixed[Index] = Values[Index];
  }
}

std::optional<Spread> Spread::of(const Access &E, const Instruction &I,
                                 const Value *Root, const Uniformity &Among,
                                 const DominatorTree &DT) {
  if (!E.isWhole() || E.Rows.Lanes)
    return std::nullopt;
  const DataLayout &DL = I.getDataLayout();
  Spread S;
  S.Among = Among.Among;
  S.Size = E.Size;
  S.Constant = E.Where.Offset;
  const Value *V = E.Where.Base;
  while (V != Root) {
    if (isa<AddrSpaceCastOperator, BitCastOperator>(V)) {
      V = cast<Operator>(V)->getOperand(0);
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
    for (const auto &[Term, Scale] : Terms)
      if ((Term->getType()->getScalarSizeInBits() < Bits &&
           !S.extend(Term, /*IsSigned=*/true, Among, 0)) ||
          !S.add(Term, {Scale.getSExtValue(), {}, true}, Among, 0))
        return std::nullopt;
    V = Step->getPointerOperand();
  }
  llvm::sort(S.Base, [](const Common &A, const Common &B) {
    return std::tie(A.Of, A.Factors, A.Scale) <
           std::tie(B.Of, B.Factors, B.Scale);
  });
  S.fix(I, DT);
  return S;
}

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

bool Spread::isConstant(const Uniformity &Among) const {
  auto IsConstant = [&](const Term &T) {
    return all_of(T.Factors,
                  [&](const Value *V) { return Among.isConstant(V); });
  };
  return all_of(Base,
                [&](const Common &C) {
                  return IsConstant(C) && Among.isConstant(C.Of);
                }) &&
         all_of(Strides,
                [&](const auto &Sum) { return all_of(Sum, IsConstant); });
}

std::optional<Spread> Spread::hull(const Spread &Other) const {
  if (Fixed != Other.Fixed || Strides != Other.Strides ||
      Base != Other.Base)
    return std::nullopt;
  Spread Both = *this;
  const int64_t Begin = std::min(Constant, Other.Constant);
  const int64_t End =
      std::max(Constant + int64_t(Size), Other.Constant + int64_t(Other.Size));
  Both.Constant = Begin;
  Both.Size = End - Begin;
  for (const Value *V : Other.Bounded)
    if (!is_contained(Both.Bounded, V))
      Both.Bounded.push_back(V);
  // What is larger than a step overlaps with that of the next index.
  for (const auto &Sum : Strides)
    if (Sum.size() == 1 && Sum[0].Factors.empty() &&
        std::abs(Sum[0].Scale) < int64_t(Both.Size))
      return std::nullopt;
  return Both;
}

/// The indices, by the smallest step first. Steps that are known only at run
/// time are ranked by what programs usually do; the order is a guess, which the
/// emitted condition tests.
SmallVector<unsigned, NumIndices> Spread::order() const {
  auto Rank = [&](unsigned Index) {
    std::pair<unsigned, int64_t> Most = {0, 0};
    for (const Term &T : Strides[Index]) {
      // A product of extents is larger than a constant, as a row is longer
      // than its block is wide.
      const bool IsOfLaunch = all_of(
          T.Factors, [](const Value *V) { return extentOf(V).has_value(); });
      const unsigned Kind = T.Factors.empty() ? 0 : IsOfLaunch ? 1 : 2;
      Most = std::max(Most, {Kind, std::abs(T.Scale)});
    }
    return Most;
  };
  // Among equals x comes before y, and a thread before its block.
  constexpr unsigned Usual[] = {0, 3, 1, 4, 2, 5};
  SmallVector<std::tuple<std::pair<unsigned, int64_t>, unsigned, unsigned>,
              NumIndices>
      Ranked;
  for (unsigned N = 0; N < NumIndices; ++N)
    if (Among == ThreadGroup::Grid || Usual[N] < NumThreadIndices)
      Ranked.push_back({Rank(Usual[N]), N, Usual[N]});
  llvm::sort(Ranked);
  SmallVector<unsigned, NumIndices> Order;
  for (const auto &[First, Second, Index] : Ranked)
    Order.push_back(Index);
  return Order;
}

Value *Spread::emitAreApart(IRBuilder<> &B) const {
  Value *AreApart = B.getTrue(), *Reach = B.getInt64(Size);
  auto Require = [&](Value *V) { AreApart = B.CreateAnd(AreApart, V); };
  Value *Most = B.getInt64(MostBytes);
  for (const Value *V : Bounded)
    Require(B.CreateICmpULT(emitMost(B, V), Most));
  for (const unsigned Index : order()) {
    if (Fixed[Index])
      continue;
    const auto &Sum = Strides[Index];
    Value *Last = B.CreateSub(emitExtent(B, Index), B.getInt64(1));
    Value *IsOne = B.CreateICmpEQ(Last, B.getInt64(0));
    Value *Stride = B.getInt64(0);
    for (const Term &T : Sum) {
      Value *Product = B.getInt64(T.Scale);
      for (const Value *V : T.Factors)
        Product =
            B.CreateMul(Product, B.CreateIntCast(emitAvailable(B, V),
                                                 B.getInt64Ty(), T.IsSigned));
      Stride = B.CreateAdd(Stride, Product);
    }
    // The direction of a step does not matter, but only a constant is known to
    // be negative.
    if (Sum.size() == 1 && Sum[0].Factors.empty())
      Stride = B.getInt64(std::abs(Sum[0].Scale));
    Require(B.CreateOr(IsOne, B.CreateAnd(B.CreateICmpSGE(Stride, Reach),
                                          B.CreateICmpSLT(Stride, Most))));
    Reach = B.CreateAdd(Reach, B.CreateMul(Stride, Last));
  }
  return AreApart;
}

/// The indices in which one of the two moves, by the largest step first. None:
/// a step is not a positive constant, or differs between the two.
std::optional<SmallVector<Spread::Digit, NumThreadIndices>>
Spread::digits(const Spread &Other) const {
  SmallVector<Digit, NumThreadIndices> Digits;
  for (unsigned Index = 0; Index < NumThreadIndices; ++Index) {
    const auto &A = Strides[Index], &B = Other.Strides[Index];
    for (const auto *Sum : {&A, &B})
      if (Sum->size() > 1 || (Sum->size() == 1 && (!(*Sum)[0].Factors.empty() ||
                                                   (*Sum)[0].Scale <= 0)))
        return std::nullopt;
    if (A.empty() && B.empty())
      continue;
    if (!A.empty() && !B.empty() && A[0].Scale != B[0].Scale)
      return std::nullopt;
    Digits.push_back({A.empty() ? B[0].Scale : A[0].Scale, Index});
  }
  llvm::sort(Digits,
             [](const Digit &A, const Digit &B) { return A.Step > B.Step; });
  return Digits;
}

/// Writes where each of the two accesses as a number whose digits are in units
/// of the steps. Where no digit carries, which bounds the block's extents, the
/// two are apart if one digit surely differs.
std::optional<BlockBounds> Spread::disjoint(const Spread &Other) const {
  if (Among != ThreadGroup::Block || Base != Other.Base || Constant < 0 ||
      Other.Constant < 0)
    return std::nullopt;
  const auto Digits = digits(Other);
  if (!Digits || Digits->empty())
    return std::nullopt;
  BlockBounds Most = AnyBlock;
  auto Bound = [&](unsigned Index, int64_t Number) {
    Most[Index] = std::min(Most[Index], uint64_t(std::max<int64_t>(Number, 0)));
  };
  /// The digit that differs most of those that differ for small blocks only.
  std::optional<std::pair<unsigned, int64_t>> Least;
  bool AreDisjoint = false;
  int64_t RestA = Constant, RestB = Other.Constant, Above = 0;
  for (const Digit &D : *Digits) {
    if (Above % D.Step)
      return std::nullopt;
    const int64_t A = RestA / D.Step, B = RestB / D.Step;
    RestA %= D.Step;
    RestB %= D.Step;
    const bool Moves[] = {!Strides[D.Index].empty(),
                          !Other.Strides[D.Index].empty()};
    if (Above && Moves[0])
      Bound(D.Index, Above / D.Step - A);
    if (Above && Moves[1])
      Bound(D.Index, Above / D.Step - B);
    Above = D.Step;
    if (A == B)
      continue;
    // The lower one has to end before the other begins.
    if (!Moves[A < B ? 0 : 1])
      AreDisjoint = true;
    else if (!Least || Least->second < std::abs(A - B))
      Least = {D.Index, std::abs(A - B)};
  }
  // What is left is within an element.
  if (RestA + int64_t(Size) > Above || RestB + int64_t(Other.Size) > Above)
    return std::nullopt;
  if (RestA + int64_t(Size) <= RestB || RestB + int64_t(Other.Size) <= RestA)
    AreDisjoint = true;
  if (!AreDisjoint) {
    if (!Least)
      return std::nullopt;
    Bound(Least->first, Least->second);
  }
  if (is_contained(Most, 0u))
    return std::nullopt;
  return Most;
}

Value *Requirement::emit(IRBuilder<> &B) const {
  Value *Holds = B.getTrue();
  for (const Spread &S : Apart)
    Holds = B.CreateAnd(Holds, S.emitAreApart(B));
  for (unsigned Index = 0; Index < Most.size(); ++Index)
    if (Most[Index] < LaunchIndices[Index].Most)
      Holds = B.CreateAnd(
          Holds,
          B.CreateICmpULE(B.CreateIntrinsic(B.getInt32Ty(),
                                            LaunchIndices[Index].Extent, {}),
                          B.getInt32(uint32_t(Most[Index]))));
  return Holds;
}

} // namespace crsan
