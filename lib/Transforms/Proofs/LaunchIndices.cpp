// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices and extents of a launch.

#include "Proofs/LaunchIndices.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace crsan {

using namespace Intrinsic;
// CUDA Programming Guide, "Compute Capabilities".
const std::array<LaunchIndex, NumIndices> LaunchIndices = {
    {{nvvm_read_ptx_sreg_tid_x, nvvm_read_ptx_sreg_ntid_x, 1024},
     {nvvm_read_ptx_sreg_tid_y, nvvm_read_ptx_sreg_ntid_y, 1024},
     {nvvm_read_ptx_sreg_tid_z, nvvm_read_ptx_sreg_ntid_z, 64},
     {nvvm_read_ptx_sreg_ctaid_x, nvvm_read_ptx_sreg_nctaid_x, (1u << 31) - 1},
     {nvvm_read_ptx_sreg_ctaid_y, nvvm_read_ptx_sreg_nctaid_y, 65535},
     {nvvm_read_ptx_sreg_ctaid_z, nvvm_read_ptx_sreg_nctaid_z, 65535}}};

static Intrinsic::ID intrinsicOf(const Value *V) {
  const auto *I = dyn_cast<IntrinsicInst>(V);
  return I ? I->getIntrinsicID() : Intrinsic::not_intrinsic;
}

static std::optional<unsigned> numberOf(const Value *V,
                                        Intrinsic::ID LaunchIndex::*Register) {
  const Intrinsic::ID Id = intrinsicOf(V);
  if (Id != Intrinsic::not_intrinsic)
    for (unsigned I = 0; I < NumIndices; ++I)
      if (LaunchIndices[I].*Register == Id)
        return I;
  return std::nullopt;
}

std::optional<unsigned> indexOf(const Value *V) {
  return numberOf(V, &LaunchIndex::Index);
}
std::optional<unsigned> extentOf(const Value *V) {
  return numberOf(V, &LaunchIndex::Extent);
}

bool isSum(const Instruction &I) {
  return I.getOpcode() == Instruction::Add ||
         (I.getOpcode() == Instruction::Or &&
          cast<PossiblyDisjointInst>(I).isDisjoint());
}

int64_t factorOf(const Instruction &I) {
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

std::optional<uint64_t> mostOf(const Value *V, unsigned Depth) {
  if (const auto *C = dyn_cast<ConstantInt>(V))
    return C->getBitWidth() > 64 || C->isNegative()
               ? std::nullopt
               : std::optional(C->getZExtValue());
  if (const auto Index = indexOf(V))
    return LaunchIndices[*Index].Most - 1;
  if (const auto Extent = extentOf(V))
    return LaunchIndices[*Extent].Most;
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

bool isAvailable(const Value *V, unsigned Depth) {
  if (isa<ConstantInt, Argument>(V) || extentOf(V))
    return true;
  const auto *I = dyn_cast<Instruction>(V);
  return isa_and_present<BinaryOperator, CastInst>(I) && Depth < MostDepth &&
         isSafeToSpeculativelyExecute(I) &&
         all_of(
             I->operands(),
             [&](const Value *O) { return isAvailable(O, Depth + 1); });
}

Value *emitAvailable(IRBuilder<> &B, const Value *V) {
  const auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return const_cast<Value *>(V);
  Instruction *Copy = I->clone();
  Copy->setDebugLoc(DebugLoc());
  for (Use &O : Copy->operands())
    O = emitAvailable(B, O);
  return B.Insert(Copy);
}

Value *emitExtent(IRBuilder<> &B, unsigned Index) {
  return B.CreateZExt(
      B.CreateIntrinsic(B.getInt32Ty(), LaunchIndices[Index].Extent, {}),
      B.getInt64Ty());
}

Value *emitMost(IRBuilder<> &B, const Value *V) {
  if (const auto *C = dyn_cast<ConstantInt>(V))
    return B.getInt64(C->getZExtValue());
  if (const auto Index = indexOf(V))
    return B.CreateSub(emitExtent(B, *Index), B.getInt64(1));
  if (const auto Extent = extentOf(V))
    return emitExtent(B, *Extent);
  const auto *I = cast<Instruction>(V);
  Value *A = emitMost(B, I->getOperand(0));
  if (const int64_t Factor = factorOf(*I))
    return B.CreateMul(A, B.getInt64(Factor));
  Value *C = emitMost(B, I->getOperand(1));
  return isSum(*I) ? B.CreateAdd(A, C) : B.CreateMul(A, C);
}

/// Notes which indices have which value where `Condition` is `Holds`.
static void noteFixed(const Value *Condition, bool Holds, FixedIndices &To,
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
    if (const auto Index = indexOf(V))
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

FixedIndices fixedIndices(const Instruction &I, const DominatorTree &DT) {
  FixedIndices Values;
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
  return Values;
}

} // namespace crsan
