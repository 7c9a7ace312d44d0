// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices and extents of a launch.

#include "Proofs/LaunchIndices.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
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

bool isDifference(const Instruction &I) {
  return I.getOpcode() == Instruction::Sub;
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

bool isAvailable(const Value *V, unsigned Depth) {
  if (isa<ConstantInt, Argument>(V) || extentOf(V))
    return true;
  const auto *I = dyn_cast<Instruction>(V);
  return isa_and_present<BinaryOperator, CastInst>(I) && Depth < MostDepth &&
         isSafeToSpeculativelyExecute(I) &&
         all_of(I->operands(),
                [&](const Value *O) { return isAvailable(O, Depth + 1); });
}

Value *emitAvailable(IRBuilder<> &B, const Value *V) {
  const auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return const_cast<Value *>(V);
  Instruction *Copy = I->clone();
  Copy->setDebugLoc(DebugLoc());
  // The kernel may not execute the original.
  Copy->dropPoisonGeneratingFlags();
  for (Use &O : Copy->operands())
    O = emitAvailable(B, O);
  return B.Insert(Copy);
}

static Instruction::BinaryOps opcodeOf(const SCEV &S) {
  switch (S.getSCEVType()) {
  case scAddExpr:
    return Instruction::Add;
  case scMulExpr:
    return Instruction::Mul;
  default:
    return Instruction::UDiv;
  }
}

static Intrinsic::ID extremeOf(const SCEV &S) {
  switch (S.getSCEVType()) {
  case scSMaxExpr:
    return smax;
  case scUMaxExpr:
    return umax;
  case scSMinExpr:
    return smin;
  case scUMinExpr:
    return umin;
  default:
    return not_intrinsic;
  }
}

bool isAvailable(const SCEV &S) {
  return !SCEVExprContains(
             &S,
             [](const SCEV *Part) {
               switch (Part->getSCEVType()) {
               case scUDivExpr: {
                 const auto *By =
                     dyn_cast<SCEVConstant>(cast<SCEVUDivExpr>(Part)->getRHS());
                 return !By || By->isZero();
               }
               case scUnknown:
                 return !isAvailable(cast<SCEVUnknown>(Part)->getValue());
               case scConstant:
               case scTruncate:
               case scZeroExtend:
               case scSignExtend:
               case scAddExpr:
               case scMulExpr:
               case scSMaxExpr:
               case scUMaxExpr:
               case scSMinExpr:
               case scUMinExpr:
                 return false;
               default:
                 return true;
               }
             }) &&
         S.getType()->isIntegerTy() && S.getType()->getIntegerBitWidth() <= 64;
}

Value *emitAvailable(IRBuilder<> &B, const SCEV &S) {
  if (const auto *C = dyn_cast<SCEVConstant>(&S))
    return C->getValue();
  if (const auto *U = dyn_cast<SCEVUnknown>(&S))
    return emitAvailable(B, U->getValue());
  Value *All = nullptr;
  for (const SCEV *Part : S.operands()) {
    Value *V = emitAvailable(B, *Part);
    if (isa<SCEVCastExpr>(S))
      return B.CreateIntCast(V, S.getType(), isa<SCEVSignExtendExpr>(S));
    if (!All)
      All = V;
    else if (const Intrinsic::ID Extreme = extremeOf(S))
      All = B.CreateBinaryIntrinsic(Extreme, All, V);
    else
      All = B.CreateBinOp(opcodeOf(S), All, V);
  }
  return All;
}

Value *emitExtent(IRBuilder<> &B, unsigned Index) {
  return B.CreateZExt(
      B.CreateIntrinsic(B.getInt32Ty(), LaunchIndices[Index].Extent, {}),
      B.getInt64Ty());
}

/// Notes which indices have which value where `Condition` is `Holds`.
static void noteFixed(const Value *Condition, bool Holds, FixedIndices &To) {
  using namespace PatternMatch;
  const Value *A, *B;
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

/// Calls `Each` with the conditions that `Condition` connects, as far as all of
/// them hold, or none of them does.
static void forEachPart(const Value *Condition, bool Holds,
                        function_ref<void(const Value *, bool)> Each,
                        unsigned Depth = 0) {
  using namespace PatternMatch;
  const Value *A, *B;
  if (Depth == MostDepth)
    return;
  if (!(Holds ? match(Condition, m_LogicalAnd(m_Value(A), m_Value(B)))
              : match(Condition, m_LogicalOr(m_Value(A), m_Value(B)))))
    return Each(Condition, Holds);
  forEachPart(A, Holds, Each, Depth + 1);
  forEachPart(B, Holds, Each, Depth + 1);
}

void forEachCondition(const Instruction &I, const DominatorTree &DT,
                      function_ref<void(const Value *, bool)> Each) {
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
        forEachPart(Branch->getCondition(), Holds, Each);
  }
}

FixedIndices fixedIndices(const Instruction &I, const DominatorTree &DT) {
  FixedIndices Values;
  forEachCondition(I, DT, [&](const Value *Condition, bool Holds) {
    noteFixed(Condition, Holds, Values);
  });
  return Values;
}

} // namespace crsan
