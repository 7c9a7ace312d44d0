//===- Spread.cpp - Where threads access an array -------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Spread.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace crsan {

/// Further than any step that a program makes.
static constexpr int64_t MostBytes = int64_t(1) << 31;
static constexpr unsigned MostDepth = 10;

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
         all_of(I->operands(),
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
  if (const auto *C = dyn_cast<ConstantInt>(V); C && !T.Factor) {
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
  if (I->getOpcode() == Instruction::Mul && !T.Factor)
    for (const unsigned One : {0, 1})
      if (isAvailable(I->getOperand(One))) {
        T.Factor = I->getOperand(One);
        return add(I->getOperand(1 - One), T, Among, Depth + 1);
      }
  return false;
}

std::optional<Spread> Spread::of(const Event &E, const Value *Root,
                                 const Uniformity &Among,
                                 const DataLayout &DL) {
  if (!E.isWhole())
    return std::nullopt;
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
          !S.add(Term, {Scale.getSExtValue(), nullptr, true}, Among, 0))
        return std::nullopt;
    V = Step->getPointerOperand();
  }
  llvm::sort(S.Base, [](const Common &A, const Common &B) {
    return std::tie(A.Of, A.Factor, A.Scale) <
           std::tie(B.Of, B.Factor, B.Scale);
  });
  return S;
}

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

bool Spread::isConstant(const Uniformity &Among) const {
  auto IsConstant = [&](const Term &T) {
    return !T.Factor || Among.isConstant(T.Factor);
  };
  return all_of(Base,
                [&](const Common &C) {
                  return IsConstant(C) && Among.isConstant(C.Of);
                }) &&
         all_of(Strides,
                [&](const auto &Sum) { return all_of(Sum, IsConstant); });
}

/// The indices, the one of the smallest steps first, as far as one can tell.
SmallVector<unsigned, Spread::NumIndices> Spread::order() const {
  auto Rank = [&](unsigned Index) {
    std::pair<unsigned, int64_t> Most = {0, 0};
    for (const Term &T : Strides[Index]) {
      // A row is longer than its block is wide.
      const unsigned Kind = !T.Factor ? 0 : registerOf(T.Factor, true) ? 1 : 2;
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
    const auto &Sum = Strides[Index];
    Value *Last = B.CreateSub(emitExtent(B, Index), B.getInt64(1));
    Value *IsOne = B.CreateICmpEQ(Last, B.getInt64(0));
    Value *Stride = B.getInt64(0);
    for (const Term &T : Sum) {
      Value *Factor = B.getInt64(1);
      if (T.Factor)
        Factor = B.CreateIntCast(emitAvailable(B, T.Factor), B.getInt64Ty(),
                                 T.IsSigned);
      Stride = B.CreateAdd(Stride, B.CreateMul(Factor, B.getInt64(T.Scale)));
    }
    // Which way does not matter, but to be sure of what is negative, it has to
    // be known.
    if (Sum.size() == 1 && !Sum[0].Factor)
      Stride = B.getInt64(std::abs(Sum[0].Scale));
    Require(B.CreateOr(IsOne, B.CreateAnd(B.CreateICmpSGE(Stride, Reach),
                                          B.CreateICmpSLT(Stride, Most))));
    Reach = B.CreateAdd(Reach, B.CreateMul(Stride, Last));
  }
  return AreApart;
}

} // namespace crsan
