// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Remainders of what a loop counts.

#include "Proofs/Remainders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include <numeric>

using namespace llvm;

namespace crsan {

/// Larger than the moduli that are looked at.
static constexpr uint64_t TooMuch = 1 << 12;

bool Remainders::isNonNegative(const Value *V) const {
  return Facts->SE.isKnownNonNegative(
      Facts->SE.getSCEV(const_cast<Value *>(V)));
}

/// What is left of `V`, as a number without a sign, when it is divided by `By`;
/// `By` of 0: `V` itself. None: it does not follow from what is left of the
/// counter. `Left` is that; none: any, and the modulus is to be found.
std::optional<uint64_t> Remainders::remainder(const Value *V, uint64_t By,
                                              std::optional<uint64_t> Left,
                                              unsigned Depth) {
  using namespace PatternMatch;
  if (By >= TooMuch || Depth == MostDepth || !V->getType()->isIntegerTy() ||
      V->getType()->getIntegerBitWidth() > 64)
    return std::nullopt;
  auto Of = [&](uint64_t Whole) { return By ? Whole % By : Whole; };
  auto At = [&](const Value *V, uint64_t By) {
    return remainder(V, By, Left, Depth + 1);
  };
  if (const auto *C = dyn_cast<ConstantInt>(V))
    return Of(C->getZExtValue());
  if (V == P) {
    if (By == 0)
      return std::nullopt;
    if (!Left)
      Modulus = std::lcm(Modulus, By);
    if (Modulus >= TooMuch || Modulus % By)
      return std::nullopt;
    return Left.value_or(0) % By;
  }
  const auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return std::nullopt;
  const Value *X;
  const APInt *C;
  auto Map = [](std::optional<uint64_t> V, auto Function) {
    return V ? std::optional<uint64_t>(Function(*V)) : std::nullopt;
  };
  // What has few values.
  if (match(I, m_And(m_Value(X), m_APInt(C))) && C->ult(TooMuch))
    return Map(At(X, uint64_t(1) << C->getActiveBits()),
               [&](uint64_t Low) { return Of(Low & C->getZExtValue()); });
  if (match(I, m_IRem(m_Value(X), m_APInt(C))) && C->ult(TooMuch) &&
      !C->isZero() && (I->getOpcode() == Instruction::URem || isNonNegative(X)))
    return Map(At(X, C->getZExtValue()), Of);
  const unsigned Width = I->getType()->getIntegerBitWidth();
  if (match(I, m_Trunc(m_Value(X))) && uint64_t(1) << Width < TooMuch)
    return Map(At(X, uint64_t(1) << Width), Of);
  if (By == 0)
    return isa<ZExtInst>(I) ? At(I->getOperand(0), 0) : fold(*I, Left, Depth);
  // What is left of the operands says what is left of the result, unless the
  // result wraps and the bits that it loses matter.
  auto HasBits = [&](const Value *V) {
    return isPowerOf2_64(By) &&
           Log2_64(By) <= V->getType()->getIntegerBitWidth();
  };
  if (match(I, m_IDiv(m_Value(X), m_APInt(C))) && C->ult(TooMuch) &&
      !C->isZero() && (I->getOpcode() == Instruction::UDiv || isNonNegative(X)))
    return Map(At(X, C->getZExtValue() * By),
               [&](uint64_t Low) { return Low / C->getZExtValue(); });
  if (match(I, m_Shr(m_Value(X), m_APInt(C))) && C->ult(Log2_64(TooMuch)) &&
      C->ult(Width) &&
      (I->getOpcode() == Instruction::LShr || isNonNegative(X)))
    return Map(At(X, By << C->getZExtValue()),
               [&](uint64_t Low) { return Low >> C->getZExtValue(); });
  if (match(I, m_Trunc(m_Value(X))))
    return HasBits(I) ? At(X, By) : std::nullopt;
  if (isa<ZExtInst>(I) ||
      (isa<SExtInst>(I) &&
       (HasBits(I->getOperand(0)) || isNonNegative(I->getOperand(0)))))
    return At(I->getOperand(0), By);
  const auto *Sum = dyn_cast<OverflowingBinaryOperator>(I);
  const bool IsDisjoint = isSum(*I) && !Sum;
  if (!HasBits(I) && !IsDisjoint && !(Sum && Sum->hasNoUnsignedWrap()))
    return Map(fold(*I, Left, Depth), Of);
  const uint64_t Factor = factorOf(*I);
  if (!isSum(*I) && !isDifference(*I) && !Factor &&
      I->getOpcode() != Instruction::Xor)
    return Map(fold(*I, Left, Depth), Of);
  if (Factor)
    return Map(At(I->getOperand(0), By / std::gcd(By, Factor)),
               [&](uint64_t A) { return A * (Factor % By) % By; });
  const auto A = At(I->getOperand(0), By);
  const auto B = At(I->getOperand(1), By);
  if (!A || !B)
    return std::nullopt;
  if (I->getOpcode() == Instruction::Xor)
    return (*A ^ *B) % By;
  return (isDifference(*I) ? *A + By - *B : *A + *B) % By;
}

/// The value of `I` from the values of its operands.
std::optional<uint64_t> Remainders::fold(const Instruction &I,
                                         std::optional<uint64_t> Left,
                                         unsigned Depth) {
  if (!isa<BinaryOperator, CastInst, CmpInst, SelectInst>(I))
    return std::nullopt;
  SmallVector<Constant *, 3> Operands;
  for (const Value *O : I.operands()) {
    const auto Is = remainder(O, 0, Left, Depth + 1);
    if (!Is)
      return std::nullopt;
    Operands.push_back(ConstantInt::get(O->getType(), *Is));
  }
  const auto *C = dyn_cast_or_null<ConstantInt>(ConstantFoldInstOperands(
      const_cast<Instruction *>(&I), Operands, I.getDataLayout()));
  return C ? std::optional(C->getZExtValue()) : std::nullopt;
}

std::optional<Remainders> Remainders::in(ArrayRef<const Value *> Of,
                                         const PHINode &P, const Loop &L,
                                         const AddressFacts &Facts) {
  const auto Steps = Spread::stepsOf(P, L);
  const auto *Step =
      Steps.size() == 1 ? dyn_cast<ConstantInt>(Steps[0]) : nullptr;
  if (!Step || Step->getBitWidth() > 64)
    return std::nullopt;
  Remainders All(P, Facts);
  constexpr unsigned MostValues = 64;
  SmallSetVector<const Value *, 16> Seen(Of.begin(), Of.end());
  for (unsigned N = 0; N < Seen.size() && N < MostValues; ++N) {
    const auto *I = dyn_cast<Instruction>(Seen[N]);
    if (!I || isa<PHINode>(I))
      continue;
    Remainders More = All;
    More.Modulus = 1;
    if (L.contains(I) && More.remainder(I, 0, std::nullopt) &&
        More.Modulus > 1) {
      All.Modulus = std::lcm(All.Modulus, More.Modulus);
      All.Values.push_back(I);
    } else
      Seen.insert_range(I->operand_values());
  }
  if (All.Modulus == 1 || All.Modulus >= TooMuch)
    return std::nullopt;
  // Where the counter wraps, it loses a multiple of a power of two.
  const bool IsPower =
      isPowerOf2_64(All.Modulus) && Log2_64(All.Modulus) <= Step->getBitWidth();
  const auto *Counter =
      dyn_cast<SCEVAddRecExpr>(Facts.SE.getSCEV(const_cast<PHINode *>(&P)));
  const bool IsExact =
      Counter && ((Counter->hasNoUnsignedWrap() && !Step->isNegative()) ||
                  (Counter->hasNoSignedWrap() && All.isNonNegative(&P)));
  if (!IsPower && !IsExact)
    return std::nullopt;
  All.Step = Step->getSExtValue() % int64_t(All.Modulus);
  return All;
}

void Remainders::assume(uint64_t Left, SmallVectorImpl<Assumption> &To) const {
  Remainders This = *this;
  for (const Value *V : Values)
    if (const auto Is = This.remainder(V, 0, Left))
      To.push_back({V, ConstantInt::get(V->getType(), *Is)});
}

} // namespace crsan
