//===- Spread.cpp - Where threads access an array -------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proofs/Spread.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace crsan {

/// Further than any step that a program makes.
static constexpr int64_t MostBytes = int64_t(1) << 31;
static constexpr unsigned MostDepth = 10, MostFactors = 3;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

static constexpr struct {
  Intrinsic::ID Index, Extent;
  uint64_t Most; ///< Of the extent (CUDA Programming Guide, "Compute
                 ///< Capabilities").
} Indices[] = {{Intrinsic::nvvm_read_ptx_sreg_tid_x,
                Intrinsic::nvvm_read_ptx_sreg_ntid_x, 1024},
               {Intrinsic::nvvm_read_ptx_sreg_tid_y,
                Intrinsic::nvvm_read_ptx_sreg_ntid_y, 1024},
               {Intrinsic::nvvm_read_ptx_sreg_tid_z,
                Intrinsic::nvvm_read_ptx_sreg_ntid_z, 64},
               {Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                Intrinsic::nvvm_read_ptx_sreg_nctaid_x, (1u << 31) - 1},
               {Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                Intrinsic::nvvm_read_ptx_sreg_nctaid_y, 65535},
               {Intrinsic::nvvm_read_ptx_sreg_ctaid_z,
                Intrinsic::nvvm_read_ptx_sreg_nctaid_z, 65535}};
static constexpr unsigned NumThreadIndices = 3;

static Intrinsic::ID intrinsicOf(const Value *V) {
  const auto *I = dyn_cast<IntrinsicInst>(V);
  return I ? I->getIntrinsicID() : Intrinsic::not_intrinsic;
}

/// Which index or, if `IsExtent`, which extent it is.
static std::optional<unsigned> registerOf(const Value *V, bool IsExtent) {
  const Intrinsic::ID Id = intrinsicOf(V);
  if (Id != Intrinsic::not_intrinsic)
    for (unsigned I = 0; I < std::size(Indices); ++I)
      if ((IsExtent ? Indices[I].Extent : Indices[I].Index) == Id)
        return I;
  return std::nullopt;
}

std::optional<unsigned> Spread::indexOf(const Value *V, ThreadGroup Among) {
  const auto I = registerOf(V, /*IsExtent=*/false);
  return I && (Among == ThreadGroup::Grid || *I < NumThreadIndices)
             ? I
             : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static bool isSum(const Instruction &I) {
  return I.getOpcode() == Instruction::Add ||
         (I.getOpcode() == Instruction::Or &&
          cast<PossiblyDisjointInst>(I).isDisjoint());
}

/// The constant that `I` multiplies its first operand by; 0: it does something
/// else.
static int64_t factorOf(const Instruction &I) {
  const unsigned Opcode = I.getOpcode();
  if (Opcode != Instruction::Mul && Opcode != Instruction::Shl)
    return 0;
  const auto *C = dyn_cast<ConstantInt>(I.getOperand(1));
  if (!C || C->getBitWidth() > 64 || C->getSExtValue() <= 0 ||
      C->getSExtValue() > MostBytes)
    return Opcode == Instruction::Shl && C && C->isZero() ? 1 : 0;
  if (Opcode == Instruction::Mul)
    return C->getSExtValue();
  return C->getSExtValue() < 31 ? int64_t(1) << C->getSExtValue() : 0;
}

/// What is surely not negative, a sum or product of indices and extents, cannot
/// exceed; none: it is something else.
static std::optional<uint64_t> mostOf(const Value *V, unsigned Depth = 0) {
  if (const auto *C = dyn_cast<ConstantInt>(V))
    return C->getBitWidth() > 64 || C->isNegative()
               ? std::nullopt
               : std::optional(C->getZExtValue());
  if (const auto Index = registerOf(V, /*IsExtent=*/false))
    return Indices[*Index].Most - 1;
  if (const auto Extent = registerOf(V, /*IsExtent=*/true))
    return Indices[*Extent].Most;
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || I->getNumOperands() != 2 || Depth == MostDepth)
    return std::nullopt;
  const int64_t Factor = factorOf(*I);
  if (!Factor && !isSum(*I) && I->getOpcode() != Instruction::Mul)
    return std::nullopt;
  const auto A = mostOf(I->getOperand(0), Depth + 1);
  const auto B = Factor ? std::optional(uint64_t(Factor))
                        : mostOf(I->getOperand(1), Depth + 1);
  if (!A || !B)
    return std::nullopt;
  const APInt Wide = isSum(*I) ? APInt(128, *A) + APInt(128, *B)
                               : APInt(128, *A) * APInt(128, *B);
  return Wide.getActiveBits() < 62 ? std::optional(Wide.getZExtValue())
                                   : std::nullopt;
}

/// Whether `V` can be computed when the kernel begins, from what is there.
static bool isAvailable(const Value *V, unsigned Depth = 0) {
  if (isa<ConstantInt, Argument>(V) || registerOf(V, /*IsExtent=*/true))
    return true;
  const auto *I = dyn_cast<Instruction>(V);
  return isa_and_present<BinaryOperator, CastInst>(I) && Depth < MostDepth &&
         isSafeToSpeculativelyExecute(I) &&
         all_of(
             I->operands(),
             [&](const Value *O) { return isAvailable(O, Depth + 1); });
}

static Value *emitAvailable(IRBuilder<> &B, const Value *V) {
  const auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return const_cast<Value *>(V);
  Instruction *Copy = I->clone();
  Copy->setDebugLoc(DebugLoc());
  for (Use &O : Copy->operands())
    O = emitAvailable(B, O);
  return B.Insert(Copy);
}

/// That the sum `V`, of less than 64 bits, extends to a sum of its terms'
/// extensions; false: it may not.
bool Spread::extend(const Value *V, bool IsSigned, const Uniformity &Among,
                    unsigned Depth) {
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || Among.isUniform(V) || indexOf(V, Among.Among))
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

/// Adds `T` times `V`; false: it is not known how that differs between threads.
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
  if (const auto Index = indexOf(V, Among.Among)) {
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

/// Notes which indices have which value if `Condition` is `Holds`.
static void
noteFixed(const Value *Condition, bool Holds,
          std::array<std::optional<int64_t>, std::size(Indices)> &To,
          unsigned Depth = 0) {
  using namespace PatternMatch;
  const Value *A, *B;
  if (Depth == MostDepth)
    return;
  if (Holds ? match(Condition, m_LogicalAnd(m_Value(A), m_Value(B)))
            : match(Condition, m_LogicalOr(m_Value(A), m_Value(B)))) {
    noteFixed(A, Holds, To, Depth + 1);
    noteFixed(B, Holds, To, Depth + 1);
    return;
  }
  const auto *Compare = dyn_cast<ICmpInst>(Condition);
  const auto *C =
      Compare ? dyn_cast<ConstantInt>(Compare->getOperand(1)) : nullptr;
  if (!C ||
      Compare->getPredicate() != (Holds ? CmpInst::ICMP_EQ : CmpInst::ICMP_NE))
    return;
  SmallVector<const Value *, 4> Sums = {Compare->getOperand(0)};
  int64_t Number = C->getSExtValue();
  while (!Sums.empty()) {
    const Value *V = Sums.pop_back_val();
    const APInt *Offset;
    if (const auto Index = registerOf(V, /*IsExtent=*/false))
      To[*Index] = Number;
    else if (Sums.empty() && match(V, m_Add(m_Value(A), m_APInt(Offset))) &&
             Offset->getSignificantBits() < 32) {
      Number -= Offset->getSExtValue();
      Sums.push_back(A);
    } else if (Number == 0 && match(V, m_Or(m_Value(A), m_Value(B))) &&
               Sums.size() < MostDepth)
      Sums.append({A, B});
  }
}

/// Takes account of conditions under which threads come to `I`.
void Spread::fix(const Instruction &I, const DominatorTree &DT) {
  std::array<std::optional<int64_t>, NumIndices> Values;
  constexpr unsigned Most = 32;
  const auto *Node = DT.getNode(I.getParent());
  for (unsigned Up = 0; Node && Up < Most; Node = Node->getIDom(), ++Up) {
    const auto *Branch =
        dyn_cast<BranchInst>(Node->getBlock()->getTerminator());
    if (!Branch || !Branch->isConditional() ||
        Branch->getSuccessor(0) == Branch->getSuccessor(1))
      continue;
    for (const bool Holds : {true, false})
      if (DT.dominates(BasicBlockEdge(Branch->getParent(),
                                      Branch->getSuccessor(Holds ? 0 : 1)),
                       I.getParent()))
        noteFixed(Branch->getCondition(), Holds, Values);
  }
  for (unsigned Index = 0; Index < NumIndices; ++Index) {
    auto &Sum = Strides[Index];
    if (!Values[Index] ||
        (*Values[Index] != 0 &&
         any_of(Sum, [](const Term &T) { return !T.Factors.empty(); })))
      continue;
    for (const Term &T : Sum)
      Constant += T.Scale * *Values[Index];
    Sum.clear();
    IsFixed[Index] = true;
  }
}

std::optional<Spread> Spread::of(const Access &E, const Instruction &I,
                                 const Value *Root, const Uniformity &Among,
                                 const DominatorTree &DT) {
  if (!E.isWhole())
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
  if (IsFixed != Other.IsFixed || Strides != Other.Strides ||
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
  // Over a step, it is a neighbour's.
  for (const auto &Sum : Strides)
    if (Sum.size() == 1 && Sum[0].Factors.empty() &&
        std::abs(Sum[0].Scale) < int64_t(Both.Size))
      return std::nullopt;
  return Both;
}

/// The indices, the one of the smallest steps first, as far as one can tell.
SmallVector<unsigned, Spread::NumIndices> Spread::order() const {
  auto Rank = [&](unsigned Index) {
    std::pair<unsigned, int64_t> Most = {0, 0};
    for (const Term &T : Strides[Index]) {
      // A row is longer than its block is wide.
      const bool IsOfLaunch = all_of(T.Factors, [](const Value *V) {
        return registerOf(V, /*IsExtent=*/true).has_value();
      });
      const unsigned Kind = T.Factors.empty() ? 0 : IsOfLaunch ? 1 : 2;
      Most = std::max(Most, {Kind, std::abs(T.Scale)});
    }
    return Most;
  };
  // x before y, and a thread before its block, where that does not tell.
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

Value *Spread::emitExtent(IRBuilder<> &B, unsigned Index) {
  return B.CreateZExt(
      B.CreateIntrinsic(B.getInt32Ty(), Indices[Index].Extent, {}),
      B.getInt64Ty());
}

/// What `V` is at most in this launch (mostOf).
Value *Spread::emitMost(IRBuilder<> &B, const Value *V) {
  if (const auto *C = dyn_cast<ConstantInt>(V))
    return B.getInt64(C->getZExtValue());
  if (const auto Index = registerOf(V, /*IsExtent=*/false))
    return B.CreateSub(emitExtent(B, *Index), B.getInt64(1));
  if (const auto Extent = registerOf(V, /*IsExtent=*/true))
    return emitExtent(B, *Extent);
  const auto *I = cast<Instruction>(V);
  Value *A = emitMost(B, I->getOperand(0));
  if (const int64_t Factor = factorOf(*I))
    return B.CreateMul(A, B.getInt64(Factor));
  Value *C = emitMost(B, I->getOperand(1));
  return isSum(*I) ? B.CreateAdd(A, C) : B.CreateMul(A, C);
}

Value *Spread::emitAreApart(IRBuilder<> &B) const {
  Value *AreApart = B.getTrue(), *Reach = B.getInt64(Size);
  auto Require = [&](Value *V) { AreApart = B.CreateAnd(AreApart, V); };
  Value *Most = B.getInt64(MostBytes);
  for (const Value *V : Bounded)
    Require(B.CreateICmpULT(emitMost(B, V), Most));
  for (const unsigned Index : order()) {
    if (IsFixed[Index])
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
    // Which way does not matter, but to be sure of what is negative, it has to
    // be known.
    if (Sum.size() == 1 && Sum[0].Factors.empty())
      Stride = B.getInt64(std::abs(Sum[0].Scale));
    Require(B.CreateOr(IsOne, B.CreateAnd(B.CreateICmpSGE(Stride, Reach),
                                          B.CreateICmpSLT(Stride, Most))));
    Reach = B.CreateAdd(Reach, B.CreateMul(Stride, Last));
  }
  return AreApart;
}

/// In units of the steps of each index, as digits: where each of the two has
/// places. If the digits of one differ, for no larger blocks, so do all places.
std::optional<BlockBounds> Spread::disjoint(const Spread &Other) const {
  if (Among != ThreadGroup::Block || Base != Other.Base)
    return std::nullopt;
  struct Digit {
    int64_t Step;
    unsigned Index;
  };
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
  if (Digits.empty() || Constant < 0 || Other.Constant < 0)
    return std::nullopt;
  // All places of one within one step of the larger index.
  BlockBounds Most = AnyBlock;
  std::optional<std::pair<unsigned, uint64_t>> Least;
  bool AreDisjoint = false;
  int64_t RestA = Constant, RestB = Other.Constant, Above = 0;
  for (const Digit &D : Digits) {
    if (Above % D.Step)
      return std::nullopt;
    const int64_t A = RestA / D.Step, B = RestB / D.Step;
    RestA %= D.Step;
    RestB %= D.Step;
    const bool Moves[] = {!Strides[D.Index].empty(),
                          !Other.Strides[D.Index].empty()};
    auto Bound = [&](int64_t Number) {
      Most[D.Index] =
          std::min(Most[D.Index], uint64_t(std::max<int64_t>(Number, 0)));
    };
    if (Above) {
      const int64_t Number = Above / D.Step;
      if (Moves[0])
        Bound(Number - A);
      if (Moves[1])
        Bound(Number - B);
    }
    Above = D.Step;
    if (A == B)
      continue;
    // The lower one has to end before the other begins.
    if (!Moves[A < B ? 0 : 1])
      AreDisjoint = true;
    else if (!Least || Least->second < uint64_t(std::abs(A - B)))
      Least = {D.Index, uint64_t(std::abs(A - B))};
  }
  // Of an element, parts.
  if (RestA + int64_t(Size) > Above || RestB + int64_t(Other.Size) > Above)
    return std::nullopt;
  if (RestA + int64_t(Size) <= RestB || RestB + int64_t(Other.Size) <= RestA)
    AreDisjoint = true;
  if (!AreDisjoint) {
    if (!Least)
      return std::nullopt;
    Most[Least->first] = std::min(Most[Least->first], Least->second);
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
    if (Most[Index] < Indices[Index].Most)
      Holds = B.CreateAnd(
          Holds, B.CreateICmpULE(B.CreateIntrinsic(B.getInt32Ty(),
                                                   Indices[Index].Extent, {}),
                                 B.getInt32(uint32_t(Most[Index]))));
  return Holds;
}

} // namespace crsan
