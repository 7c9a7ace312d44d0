// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an address adds up to.

#include "Proofs/Spread.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include <numeric>

using namespace llvm;

namespace crsan {

static constexpr size_t MostTerms = 12, MostCounters = 6;

Constant *AddressFacts::assumed(const Value *V) const {
  const auto *Found =
      find_if(Assumed, [&](const Assumption &A) { return A.Of == V; });
  return Found == Assumed.end() ? nullptr : Found->Is;
}

std::optional<APInt> AddressFacts::constant(const Value *V,
                                            unsigned Depth) const {
  if (const auto *C = dyn_cast<ConstantInt>(V))
    return C->getValue();
  if (const auto *Is = dyn_cast_or_null<ConstantInt>(assumed(V)))
    return Is->getValue();
  const auto *I = dyn_cast<Instruction>(V);
  if (Assumed.empty() ||
      !isa_and_present<BinaryOperator, CastInst, CmpInst, SelectInst,
                       MinMaxIntrinsic>(I) ||
      !I->getType()->isIntegerTy() || Depth == MostDepth)
    return std::nullopt;
  SmallVector<Constant *, 2> Operands;
  for (Value *O : I->operands()) {
    if (auto *Called = dyn_cast<Function>(O)) {
      Operands.push_back(Called);
      continue;
    }
    const auto Is = constant(O, Depth + 1);
    if (!Is)
      return std::nullopt;
    Operands.push_back(ConstantInt::get(O->getType(), *Is));
  }
  const auto *C = dyn_cast_or_null<ConstantInt>(ConstantFoldInstOperands(
      const_cast<Instruction *>(I), Operands, I->getDataLayout()));
  return C ? std::optional(C->getValue()) : std::nullopt;
}

std::optional<unsigned> Spread::indexAmong(const Value *V, ThreadGroup Among) {
  const auto I = indexOf(V);
  return I && (Among == ThreadGroup::Grid || *I < NumThreadIndices)
             ? I
             : std::nullopt;
}

/// Multiplies `T` by a value that is available when the kernel begins.
bool Spread::multiply(Term &T, const Value *V) const {
  if (T.Factors.size() == MostFactors || !isAvailable(V))
    return false;
  T.Factors.insert(llvm::upper_bound(T.Factors, V), V);
  return true;
}

void Spread::addCommon(Common C) {
  for (Common &Other : Base)
    if (Other.Of == C.Of && Other.isLike(C)) {
      Other.Scale += C.Scale;
      if (Other.Scale == 0)
        Base.erase(&Other);
      return;
    }
  Base.insert(llvm::upper_bound(Base, C,
                                [](const Common &A, const Common &B) {
                                  return std::tie(A.Of, A.Factors, A.IsSigned) <
                                         std::tie(B.Of, B.Factors, B.IsSigned);
                                }),
              std::move(C));
}

void Spread::addTo(Sum &To, Term T) {
  for (Term &Other : To)
    if (Other.isLike(T)) {
      Other.Scale += T.Scale;
      if (Other.Scale == 0)
        To.erase(&Other);
      return;
    }
  To.insert(llvm::upper_bound(To, T,
                              [](const Term &A, const Term &B) {
                                return std::tie(A.Factors, A.IsSigned) <
                                       std::tie(B.Factors, B.IsSigned);
                              }),
            std::move(T));
}

bool Spread::count(Counter C) {
  for (Counter &Other : Counters)
    if (Other.Of == C.Of && Other.Step.isLike(C.Step)) {
      if (C.Of) {
        Other.Step.Scale += C.Step.Scale;
        if (Other.Step.Scale == 0)
          Counters.erase(&Other);
        return true;
      }
      if (Other.Step == C.Step && Other.Number && C.Number) {
        *Other.Number += *C.Number - 1;
        return true;
      }
    }
  return countBeside(std::move(C));
}

/// The same of a counter that goes on by itself.
bool Spread::countBeside(Counter C) {
  if (Counters.size() == MostCounters || C.Step.Scale == 0)
    return false;
  Counters.push_back(std::move(C));
  return true;
}

/// Whether the extension of the sum `V`, of less than 64 bits, is the sum of
/// the extensions of its terms. May add to Bounded what that depends on.
bool Spread::extend(const Value *V, bool IsSigned, const AddressFacts &Facts,
                    unsigned Depth) {
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || indexAmong(V, Among) || Facts.constant(V))
    return true;
  if (Depth == MostDepth)
    return false;
  auto ExtendAll = [&](auto Operands) {
    return all_of(Operands, [&](const Value *O) {
      return extend(O, IsSigned, Facts, Depth + 1);
    });
  };
  if (const auto *P = dyn_cast<PHINode>(I)) {
    const Loop *L = Facts.Loops.getLoopFor(P->getParent());
    if (!L || L->getHeader() != P->getParent())
      return ExtendAll(P->incoming_values());
    if (stepsOf(*P, *L).empty())
      return true;
    return fitIterations(*P, *L, IsSigned, Facts, Depth) ||
           fit(*P, IsSigned, Facts, Depth);
  }
  if (isa<SelectInst>(I))
    return ExtendAll(drop_begin(I->operand_values()));
  if (I->getOpcode() != Instruction::Mul && !isSum(*I) && !isDifference(*I) &&
      !factorOf(*I))
    return true;
  const auto *O = dyn_cast<OverflowingBinaryOperator>(I);
  if (!O || (IsSigned ? O->hasNoSignedWrap() : O->hasNoUnsignedWrap()))
    return ExtendAll(I->operand_values());
  return fit(*I, IsSigned, Facts, Depth);
}

/// Whether the value of the sum `I`, if it is computed in 64 bits, is one that
/// a register of its type has, too. May add to Bounded what that depends on.
bool Spread::fit(const Instruction &I, bool IsSigned, const AddressFacts &Facts,
                 unsigned Depth) {
  Spread Exact(Among);
  Exact.Size = 1;
  Exact.IsAmount = true;
  if (!I.getType()->isIntegerTy(32) ||
      !Exact.addParts(&I, {1, {}, IsSigned}, Facts, Depth + 1) ||
      !Exact.cutStrides() ||
      !Exact.allOfCommon([](const Value *) { return false; }) ||
      !all_of(Exact.Counters,
              [](const Counter &C) { return C.Number || C.Last; }))
    return false;
  if (!IsSigned && !Exact.isOfPositive())
    return false;
  requireSmall(std::move(Exact));
  return true;
}

/// Whether nothing is subtracted.
bool Spread::isOfPositive() const {
  auto IsPositive = [](const Term &T) { return T.Scale > 0; };
  return Constant >= 0 && all_of(Base, IsPositive) &&
         all_of(
             Strides,
             [&](const Sum &Stride) { return all_of(Stride, IsPositive); }) &&
         all_of(Counters,
                [&](const Counter &C) { return IsPositive(C.Step); }) &&
         all_of(Pieces, [&](const Piece &P) {
           return all_of(P.Quotient, IsPositive) &&
                  all_of(P.Remainder, IsPositive);
         });
}

void Spread::require(ArrayRef<Spread> Sums) {
  for (const Spread &S : Sums)
    if (!is_contained(Bounded, S))
      Bounded.push_back(S);
}

/// Requires of a launch that the terms of `S`, as they are and without their
/// signs, add up to less than 2^31. Values that are its factors are then not
/// negative.
void Spread::requireSmall(Spread S) {
  require(S.Bounded);
  S.Bounded.clear();
  if (const auto Most = S.most(); !Most || *Most >= uint64_t(MostBytes))
    require(S);
}

/// An upper bound of the sum's amount, if it is known for all launches.
std::optional<uint64_t> Spread::most() const {
  if (!Base.empty())
    return std::nullopt;
  // Larger than any product of two extents.
  constexpr uint64_t TooMuch = uint64_t(1) << 62;
  uint64_t All = std::abs(Constant) + Size;
  auto Add = [&](const Sum &Step, uint64_t Last) {
    for (const Term &T : Step) {
      const uint64_t Scale = std::abs(T.Scale);
      if (!T.Factors.empty() || Last > TooMuch / Scale)
        return false;
      All += Scale * Last;
      if (All > TooMuch)
        return false;
    }
    return true;
  };
  for (unsigned Index = 0; Index < NumIndices; ++Index)
    if (!Add(Strides[Index],
             std::min<uint64_t>(LaunchIndices[Index].Most,
                                Ends[Index].value_or(INT64_MAX)) -
                 1))
      return std::nullopt;
  for (const Counter &C : Counters)
    if (!C.Number || !Add({C.Step}, *C.Number - 1))
      return std::nullopt;
  for (const Piece &P : Pieces) {
    const auto Whole = P.Whole[0].most();
    if (!Whole || !Add(P.Quotient, *Whole / P.By) || !Add(P.Remainder, P.By))
      return std::nullopt;
  }
  return All;
}

/// Adds `T` times `V`. Returns false if it is not known how that differs
/// between threads.
bool Spread::add(const Value *V, Term T, const AddressFacts &Facts,
                 unsigned Depth) {
  if (std::abs(T.Scale) >= MostBytes || Depth == MostDepth ||
      Base.size() == MostTerms || !V->getType()->isIntegerTy() ||
      V->getType()->getIntegerBitWidth() > 64)
    return false;
  if (const auto C = Facts.constant(V)) {
    const int64_t Number = T.IsSigned || C->getBitWidth() == 64
                               ? C->getSExtValue()
                               : int64_t(C->getZExtValue());
    if (std::abs(Number) >= MostBytes)
      return false;
    addConstant(Number, T);
    return true;
  }
  if (const auto Index = indexAmong(V, Among)) {
    addTo(Strides[*Index], std::move(T));
    return true;
  }
  const bool IsCommon = Facts.Among.isUniform(V);
  if (!isa<Instruction>(V) && !IsCommon)
    return false;
  const Spread Before = *this;
  if (addParts(V, T, Facts, Depth))
    return true;
  *this = Before;
  if (IsCommon)
    addWhole(V, std::move(T));
  return IsCommon;
}

/// Adds `T` times the number.
void Spread::addConstant(int64_t Number, const Term &T) {
  const int64_t Product = T.Scale * Number;
  if (T.Factors.empty())
    Constant += Product;
  else if (Product)
    addCommon({{Product, T.Factors, T.IsSigned}, nullptr});
}

/// Adds `T` times `V`, which all threads have in common.
void Spread::addWhole(const Value *V, Term T) {
  const Value *Of = multiply(T, V) ? nullptr : V;
  addCommon({std::move(T), Of});
}

/// Adds `T` times each part of the sum or product `V`.
bool Spread::addParts(const Value *V, Term T, const AddressFacts &Facts,
                      unsigned Depth) {
  const auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return false;
  if (const auto *P = dyn_cast<PHINode>(I)) {
    const Loop *L = Facts.Loops.getLoopFor(P->getParent());
    if (L && L->getHeader() == P->getParent())
      return addIterations(*P, T, Facts, Depth);
    const Spread Before = *this;
    if (addCounted(*P, T, Facts, Depth))
      return true;
    *this = Before;
    const SmallVector<const Value *, 4> Values(P->incoming_values());
    return addOneOf(Values, T, Facts, Depth);
  }
  if (isa<SelectInst>(I)) {
    if (const auto Is = Facts.constant(I->getOperand(0)))
      return add(I->getOperand(Is->isOne() ? 1 : 2), T, Facts, Depth + 1);
    return addOneOf({I->getOperand(1), I->getOperand(2)}, T, Facts, Depth);
  }
  using namespace PatternMatch;
  const Value *Whole;
  const APInt *By;
  auto Divide = [&](int64_t Number, Sum Piece::*Part, bool IsSigned) {
    return addPiece(Whole, Number, Part, IsSigned, std::move(T), Facts, Depth);
  };
  if (match(I, m_LShr(m_Value(Whole), m_APInt(By))) && By->ult(31))
    return Divide(int64_t(1) << By->getZExtValue(), &Piece::Quotient, false);
  if (I->getOpcode() == Instruction::And)
    return addMasked(*I, std::move(T), Facts, Depth);
  if (match(I, m_ZExt(m_Trunc(m_Value(Whole)))) &&
      I->getOperand(0)->getType()->getIntegerBitWidth() < 31)
    return Divide(int64_t(1)
                      << I->getOperand(0)->getType()->getIntegerBitWidth(),
                  &Piece::Remainder, false);
  if (match(I, m_IDiv(m_Value(Whole), m_APInt(By))) && By->ult(MostBytes))
    return Divide(By->getZExtValue(), &Piece::Quotient,
                  I->getOpcode() == Instruction::SDiv);
  if (match(I, m_IRem(m_Value(Whole), m_APInt(By))) && By->ult(MostBytes))
    return Divide(By->getZExtValue(), &Piece::Remainder,
                  I->getOpcode() == Instruction::SRem);
  if (isa<ZExtInst, SExtInst>(I)) {
    T.IsSigned = isa<SExtInst>(I);
    return extend(I->getOperand(0), T.IsSigned, Facts, Depth) &&
           add(I->getOperand(0), T, Facts, Depth + 1);
  }
  // `X + -1` as unsigned numbers wraps, but has the value of `X - 1` if that is
  // one of a register, as extend() requires.
  if (!T.IsSigned && I->getOpcode() == Instruction::Add &&
      !I->hasNoUnsignedWrap() && match(I->getOperand(1), m_APInt(By)) &&
      By->isNegative() && By->sgt(-MostBytes)) {
    addConstant(By->getSExtValue(), T);
    return add(I->getOperand(0), T, Facts, Depth + 1);
  }
  if (isSum(*I))
    return add(I->getOperand(0), T, Facts, Depth + 1) &&
           add(I->getOperand(1), T, Facts, Depth + 1);
  if (isDifference(*I)) {
    Term Less = T;
    Less.Scale = -Less.Scale;
    return add(I->getOperand(0), std::move(T), Facts, Depth + 1) &&
           add(I->getOperand(1), std::move(Less), Facts, Depth + 1);
  }
  if (const int64_t Factor = factorOf(*I)) {
    if (Factor >= MostBytes / std::max<int64_t>(std::abs(T.Scale), 1))
      return false;
    T.Scale *= Factor;
    return add(I->getOperand(0), T, Facts, Depth + 1);
  }
  if (I->getOpcode() == Instruction::Mul)
    for (const unsigned One : {0, 1}) {
      const Value *Other = I->getOperand(1 - One);
      if (const auto C = Facts.constant(I->getOperand(One));
          C && C->isStrictlyPositive() &&
          C->ult(MostBytes / std::max<int64_t>(std::abs(T.Scale), 1))) {
        T.Scale *= C->getSExtValue();
        return add(Other, std::move(T), Facts, Depth + 1);
      }
      if (multiply(T, I->getOperand(One)))
        return add(Other, T, Facts, Depth + 1);
    }
  return false;
}

/// Adds `T` times the sum of indices `X`.
bool Spread::addMultiple(const Spread &X, const Term &T) {
  for (unsigned Index = 0; Index < NumIndices; ++Index)
    for (const Term &Step : X.Strides[Index]) {
      Term Product = T;
      if (!Step.Factors.empty() ||
          Step.Scale >= MostBytes / std::max<int64_t>(std::abs(T.Scale), 1))
        return false;
      Product.Scale *= Step.Scale;
      addTo(Strides[Index], std::move(Product));
    }
  return true;
}

/// Adds `T` times what a mask leaves of a value: the low bits, which are a
/// remainder, or all but these.
bool Spread::addMasked(const Instruction &I, Term T, const AddressFacts &Facts,
                       unsigned Depth) {
  const unsigned Width = I.getType()->getIntegerBitWidth();
  for (const unsigned One : {0, 1}) {
    const Value *Whole = I.getOperand(1 - One);
    const auto Mask = Facts.constant(I.getOperand(One));
    if (!Mask)
      continue;
    // Whether bits that are never set are masked does not matter.
    const KnownBits Known = computeKnownBits(Whole, I.getDataLayout());
    const APInt Left = *Mask & ~Known.Zero, Masked = ~*Mask & ~Known.Zero;
    if (Left.isZero())
      return true;
    if (Masked.isZero())
      return (Width == 64 || extend(Whole, T.IsSigned, Facts, Depth + 1)) &&
             add(Whole, std::move(T), Facts, Depth + 1);
    const unsigned Low = (~Masked).countr_one(), High = (~Left).countr_one();
    if (Low > 0 && Low < 31 && Left.getActiveBits() <= Low)
      return addPiece(Whole, int64_t(1) << Low, &Piece::Remainder, false,
                      std::move(T), Facts, Depth);
    if (High == 0 || High >= 31 || Masked.getActiveBits() > High ||
        !Known.isNonNegative() || std::abs(T.Scale) >= MostBytes >> High)
      return false;
    T.Scale *= int64_t(1) << High;
    // `X >> 3 & -4` is the quotient of X by 32, four times.
    using namespace PatternMatch;
    unsigned Shift = High;
    const Value *Shifted;
    const APInt *By;
    if (match(Whole, m_LShr(m_Value(Shifted), m_APInt(By))) && By->ult(31)) {
      Whole = Shifted;
      Shift += By->getZExtValue();
    }
    return Shift < 31 && addPiece(Whole, int64_t(1) << Shift, &Piece::Quotient,
                                  false, std::move(T), Facts, Depth);
  }
  return false;
}

/// Whether this is the sum of indices `Less` and of multiples of `By`.
bool Spread::isMoreByMultiples(const Spread &Less, int64_t By) const {
  Spread Rest = *this;
  for (unsigned Index = 0; Index < NumIndices; ++Index) {
    if (Less.Strides[Index].empty() &&
        all_of(Strides[Index], [&](const Term &Step) {
          return Step.Factors.empty() && Step.Scale % By == 0;
        }))
      Rest.Strides[Index].clear();
  }
  return Rest == Less;
}

/// Adds `T` times the quotient, or the remainder, of the division of `Whole` by
/// `By`.
bool Spread::addPiece(const Value *Whole, int64_t By, Sum Piece::*Part,
                      bool IsSigned, Term T, const AddressFacts &Facts,
                      unsigned Depth) {
  Spread X(Among);
  X.Size = 1;
  if (By < 2 || !X.extend(Whole, IsSigned, Facts, Depth + 1) ||
      !X.add(Whole, {1, {}, IsSigned}, Facts, Depth + 1) || !X.Base.empty() ||
      !X.Pieces.empty() || X.Size != 1 ||
      !all_of(X.Counters,
              [&](const Counter &C) {
                return C.Step.Factors.empty() && C.Step.Scale > 0 &&
                       C.Step.Scale % By == 0;
              }) ||
      X.Constant < 0 || X.Constant % By ||
      !all_of(X.Strides, [](const Sum &Stride) {
        return all_of(Stride, [](const Term &T) { return T.Scale > 0; });
      }))
    return false;
  require(X.Bounded);
  X.Bounded.clear();
  // What is counted in multiples of the divisor moves the quotient alone.
  for (Counter &C : std::exchange(X.Counters, {})) {
    C.Step.Scale /= By;
    if (C.Step.Scale >= MostBytes / std::max<int64_t>(std::abs(T.Scale), 1))
      return false;
    C.Step = {C.Step.Scale * T.Scale, T.Factors, T.IsSigned};
    if (Part == &Piece::Quotient && !count(std::move(C)))
      return false;
  }
  const int64_t Constants = std::exchange(X.Constant, 0) / By * T.Scale;
  if (Part == &Piece::Quotient && Constants) {
    if (T.Factors.empty())
      Constant += Constants;
    else
      addCommon({{Constants, T.Factors, T.IsSigned}, nullptr});
  }
  // A common divisor of all does not matter to the quotient.
  uint64_t Divisor = By;
  for (const Sum &Stride : X.Strides)
    for (const Term &Step : Stride)
      Divisor = std::gcd(Divisor, uint64_t(Step.Scale));
  By /= int64_t(Divisor);
  for (Sum &Stride : X.Strides)
    for (Term &Step : Stride)
      Step.Scale /= int64_t(Divisor);
  if (Part == &Piece::Remainder) {
    if (std::abs(T.Scale) >= MostBytes / int64_t(Divisor))
      return false;
    T.Scale *= int64_t(Divisor);
  }
  if (By == 1)
    return Part == &Piece::Remainder || addMultiple(X, T);
  if (Pieces.empty())
    Pieces.push_back({{std::move(X)}, By, {}, {}});
  else if (Piece &P = Pieces[0]; P.By != By)
    return false;
  else if (P.Whole[0] != X) {
    // A remainder may be one of less: without what is a multiple.
    const bool IsMore = X.isMoreByMultiples(P.Whole[0], By);
    if (IsMore
            ? !P.Quotient.empty()
            : Part == &Piece::Quotient || !P.Whole[0].isMoreByMultiples(X, By))
      return false;
    if (IsMore)
      P.Whole[0] = std::move(X);
  }
  addTo(Pieces[0].*Part, std::move(T));
  return true;
}

/// Adds `T` times one of `Values`, each thread another one perhaps.
bool Spread::addOneOf(ArrayRef<const Value *> Values, const Term &T,
                      const AddressFacts &Facts, unsigned Depth) {
  constexpr size_t MostValues = 4;
  if (Values.size() > MostValues)
    return false;
  std::optional<Spread> All;
  for (const Value *V : Values) {
    Spread One(Among);
    One.Size = 1;
    if (!One.add(V, T, Facts, Depth + 1))
      return false;
    All = All ? All->hull(One) : One;
    if (!All)
      return false;
  }
  for (Counter &C : All->Counters) {
    // What is known of the loop's iterations does not bound another one of the
    // values.
    if (Values.size() > 1)
      C.Of = nullptr;
    if (!count(std::move(C)))
      return false;
  }
  for (Common &C : All->Base)
    addCommon(std::move(C));
  for (unsigned Index = 0; Index < NumIndices; ++Index)
    for (Term &Step : All->Strides[Index])
      addTo(Strides[Index], std::move(Step));
  Size += All->Size - 1;
  Constant += All->Constant;
  require(All->Bounded);
  return All->Pieces.empty();
}

} // namespace crsan
