//===- SharedVariables.cpp - Shared memory that cannot race ---------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedVariables.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace crsan {

/// Larger arrays than any block has.
static constexpr int64_t MostBytes = 1 << 20;
static constexpr unsigned MostDepth = 8;

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

static bool isShared(const Value *V) {
  const auto *G = dyn_cast<GlobalVariable>(V);
  return G && G->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED;
}

/// Its length is the launch's, and it begins where all others such do.
static bool isDynamic(const GlobalVariable &G) { return G.isDeclaration(); }

/// Whether the kernel accesses `G` by loads, stores and atomics of addresses
/// that it computes from it, and in no other way.
static bool isOwn(const Function &Kernel, const GlobalVariable &G) {
  SmallVector<const Value *> Pending = {&G};
  DenseSet<const Value *> Seen = {&G};
  while (!Pending.empty())
    for (const Use &U : Pending.pop_back_val()->uses()) {
      const User *By = U.getUser();
      const auto *I = dyn_cast<Instruction>(By);
      if (I && I->getFunction() != &Kernel)
        continue;
      if (isa<GEPOperator, AddrSpaceCastOperator, BitCastOperator, PHINode,
              SelectInst, FreezeInst>(By)) {
        if (Seen.insert(By).second)
          Pending.push_back(By);
        continue;
      }
      if (!I)
        return false;
      const bool IsAccess =
          isa<LoadInst, ICmpInst, AnyMemIntrinsic>(I) ||
          (isa<StoreInst>(I) &&
           U.getOperandNo() == StoreInst::getPointerOperandIndex()) ||
          (isa<AtomicRMWInst>(I) &&
           U.getOperandNo() == AtomicRMWInst::getPointerOperandIndex()) ||
          (isa<AtomicCmpXchgInst>(I) &&
           U.getOperandNo() == AtomicCmpXchgInst::getPointerOperandIndex());
      const auto *Call = dyn_cast<IntrinsicInst>(I);
      if (!IsAccess && !(Call && Call->isAssumeLikeIntrinsic()))
        return false;
    }
  return true;
}

SharedVariables::SharedVariables(const Function &Kernel,
                                 const BlockUniformity &Uniformity,
                                 const BarrierIntervals &Intervals,
                                 const LoopInfo &Loops)
    : Kernel(Kernel), Uniformity(Uniformity), Intervals(Intervals),
      Loops(Loops) {
  for (const GlobalVariable &G : Kernel.getParent()->globals())
    if (isShared(&G)) {
      std::optional<Accesses> &Here =
          All.try_emplace(isDynamic(G) ? nullptr : &G, Accesses())
              .first->second;
      if (!isOwn(Kernel, G))
        Here.reset();
    }
}

void SharedVariables::add(const Instruction &I, const Event &E) {
  if (!E.Where.Base || !E.Where.Base->getType()->isPointerTy())
    return;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(E.Where.Base, Objects, nullptr, /*MaxLookup=*/0);
  if (std::optional<Accesses> *Of = accessesOf(E)) {
    if (*Of)
      (*Of)->push_back(describe(I, E));
    return;
  }
  // One of several: it is not known which.
  for (const Value *Object : Objects)
    if (isShared(Object))
      All.find(keyOf(Object))->second.reset();
}

const GlobalVariable *SharedVariables::keyOf(const Value *Object) {
  const auto *G = cast<GlobalVariable>(Object);
  return isDynamic(*G) ? nullptr : G;
}

std::optional<SharedVariables::Accesses> *
SharedVariables::accessesOf(const Event &E) {
  if (!E.Where.Base || !E.Where.Base->getType()->isPointerTy())
    return nullptr;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(E.Where.Base, Objects, nullptr, /*MaxLookup=*/0);
  if (Objects.empty() || !all_of(Objects, isShared) ||
      !all_of(Objects,
              [&](const Value *O) { return keyOf(O) == keyOf(Objects[0]); }))
    return nullptr;
  return &All.find(keyOf(Objects[0]))->second;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The dimension of a thread's index; none: it is something else.
static std::optional<unsigned> threadIndex(const Value *V) {
  const auto *I = dyn_cast<IntrinsicInst>(V);
  switch (I ? I->getIntrinsicID() : Intrinsic::not_intrinsic) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
    return 0;
  case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    return 1;
  case Intrinsic::nvvm_read_ptx_sreg_tid_z:
    return 2;
  default:
    return std::nullopt;
  }
}

/// The factor that `I` multiplies its first operand by, 0: that is not what it
/// does.
static int64_t factorOf(const Instruction &I) {
  const auto *C = I.getNumOperands() == 2
                      ? dyn_cast<ConstantInt>(I.getOperand(1))
                      : nullptr;
  if (!C || C->getBitWidth() > 64 || C->getSExtValue() < 0 ||
      C->getSExtValue() > MostBytes)
    return 0;
  if (I.getOpcode() == Instruction::Mul)
    return C->getSExtValue();
  if (I.getOpcode() == Instruction::Shl && C->getSExtValue() < 20)
    return int64_t(1) << C->getSExtValue();
  return 0;
}

static bool isSum(const Instruction &I) {
  return I.getOpcode() == Instruction::Add ||
         (I.getOpcode() == Instruction::Or &&
          cast<PossiblyDisjointInst>(I).isDisjoint());
}

/// What a sum of thread indices cannot exceed; none: it is something else.
static std::optional<uint64_t> mostOf(const Value *V, unsigned Depth = 0) {
  constexpr uint64_t MostThreads[] = {1024, 1024, 64};
  if (const auto *C = dyn_cast<ConstantInt>(V)) {
    if (C->getBitWidth() > 64 || C->isNegative())
      return std::nullopt;
    return C->getZExtValue();
  }
  if (const auto D = threadIndex(V))
    return MostThreads[*D] - 1;
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth == MostDepth)
    return std::nullopt;
  std::optional<uint64_t> Most;
  if (const int64_t Factor = factorOf(*I)) {
    Most = mostOf(I->getOperand(0), Depth + 1);
    if (Most)
      *Most *= uint64_t(Factor);
  } else if (isSum(*I)) {
    Most = mostOf(I->getOperand(0), Depth + 1);
    const auto Other = mostOf(I->getOperand(1), Depth + 1);
    Most = Most && Other ? std::optional(*Most + *Other) : std::nullopt;
  }
  return Most && *Most < (1u << 31) ? Most : std::nullopt;
}

/// Whether extending `V` extends what it is the sum of.
static bool isExact(const Value *V, bool IsSigned, unsigned Depth = 0) {
  const auto *I = dyn_cast<Instruction>(V);
  if (mostOf(V) || !I)
    return true;
  if (!isSum(*I) && !factorOf(*I))
    return true;
  if (Depth == MostDepth)
    return false;
  if (const auto *O = dyn_cast<OverflowingBinaryOperator>(I);
      O && !(IsSigned ? O->hasNoSignedWrap() : O->hasNoUnsignedWrap()))
    return false;
  return isExact(I->getOperand(0), IsSigned, Depth + 1) &&
         isExact(I->getOperand(1), IsSigned, Depth + 1);
}

/// Adds `Scale` times `V`; false: it is not known how that differs between
/// threads.
bool SharedVariables::addTerm(Access &A, const Value *V, int64_t Scale,
                              unsigned Depth) const {
  if (std::abs(Scale) > MostBytes || Depth == MostDepth)
    return false;
  if (const auto *C = dyn_cast<ConstantInt>(V)) {
    if (C->getBitWidth() > 64 || std::abs(C->getSExtValue()) > MostBytes)
      return false;
    A.Constant += Scale * C->getSExtValue();
    return true;
  }
  if (const auto D = threadIndex(V)) {
    A.Where->Stride[*D] += Scale;
    return true;
  }
  if (Uniformity.isUniform(V)) {
    A.Base.push_back({V, Scale});
    return true;
  }
  const auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return false;
  if (isa<ZExtInst, SExtInst>(I))
    return isExact(I->getOperand(0), isa<SExtInst>(I)) &&
           addTerm(A, I->getOperand(0), Scale, Depth + 1);
  if (isSum(*I))
    return addTerm(A, I->getOperand(0), Scale, Depth + 1) &&
           addTerm(A, I->getOperand(1), Scale, Depth + 1);
  if (const int64_t Factor = factorOf(*I))
    return addTerm(A, I->getOperand(0), Scale * Factor, Depth + 1);
  return false;
}

SharedVariables::Access SharedVariables::describe(const Instruction &I,
                                                  const Event &E) const {
  Access A = {&I, E, Spread{{0, 0, 0}, E.Size}, {}, E.Where.Offset};
  const DataLayout &DL = Kernel.getDataLayout();
  const Value *V = E.Where.Base;
  bool IsKnown = E.isWhole();
  while (IsKnown && !isa<GlobalVariable>(V)) {
    if (isa<AddrSpaceCastOperator, BitCastOperator>(V)) {
      V = cast<Operator>(V)->getOperand(0);
      continue;
    }
    const auto *Step = dyn_cast<GEPOperator>(V);
    if (!Step) {
      IsKnown = false;
      break;
    }
    const unsigned Bits = DL.getIndexTypeSizeInBits(Step->getType());
    SmallMapVector<Value *, APInt, 4> Terms;
    APInt Constant(Bits, 0);
    IsKnown = Step->collectOffset(DL, Bits, Terms, Constant);
    A.Constant += Constant.getSExtValue();
    for (const auto &[Term, Scale] : Terms)
      IsKnown = IsKnown &&
                (Term->getType()->getScalarSizeInBits() == Bits ||
                 isExact(Term, /*IsSigned=*/true)) &&
                addTerm(A, Term, Scale.getSExtValue(), 0);
    V = Step->getPointerOperand();
  }
  for (const int64_t Stride : A.Where->Stride)
    IsKnown &= std::abs(Stride) <= MostBytes;
  if (!IsKnown)
    A.Where.reset();
  llvm::sort(A.Base);
  return A;
}

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

static bool mayConflict(const Event &A, const Event &B) {
  return ((A.Flags | B.Flags) & abi::WritesMemory) &&
         !(A.Flags & B.Flags & abi::IsStrong);
}

/// Whether two threads that execute `A` and `B` in one interval access the same
/// place only if they are one, given that A.Where holds.
bool SharedVariables::areApart(const Access &A, const Access &B) const {
  if (!A.Where || A.Where != B.Where || A.Base != B.Base ||
      A.Constant != B.Constant)
    return false;
  // In one interval, all threads are in the same iteration of whatever loop has
  // a barrier in it; before and behind it, they are in different ones.
  return (A.At == B.At && !Intervals.repeats(*A.At)) ||
         all_of(A.Base, [&](const auto &Term) {
           const auto *I = dyn_cast<Instruction>(Term.first);
           return !I || !Loops.getLoopFor(I->getParent());
         });
}

std::optional<SmallVector<Spread, 1>>
SharedVariables::proofOf(const Instruction &I, const Event &E) {
  std::optional<Accesses> *Of = accessesOf(E);
  if (!Of || !*Of)
    return std::nullopt;
  const Access Mine = describe(I, E);
  SmallVector<Spread, 1> Conditions;
  for (const Access &Other : **Of) {
    if (!mayConflict(Mine.What, Other.What) ||
        !Intervals.mayMeet(*Mine.At, *Other.At))
      continue;
    if (!areApart(Mine, Other))
      return std::nullopt;
    if (!is_contained(Conditions, *Mine.Where))
      Conditions.push_back(*Mine.Where);
  }
  return Conditions;
}

Value *SharedVariables::emitAreApart(IRBuilder<> &B, const Spread &S) {
  static constexpr Intrinsic::ID Extents[] = {
      Intrinsic::nvvm_read_ptx_sreg_ntid_x,
      Intrinsic::nvvm_read_ptx_sreg_ntid_y,
      Intrinsic::nvvm_read_ptx_sreg_ntid_z};
  unsigned Dimensions[] = {0, 1, 2};
  llvm::sort(Dimensions, [&](unsigned D, unsigned Other) {
    return std::abs(S.Stride[D]) < std::abs(S.Stride[Other]);
  });
  // Each step is over all that the smaller ones reach.
  Value *AreApart = B.getTrue(), *Reach = B.getInt64(S.Size);
  for (const unsigned D : Dimensions) {
    Value *Last = B.CreateZExt(
        B.CreateSub(B.CreateIntrinsic(B.getInt32Ty(), Extents[D], {}),
                    B.getInt32(1)),
        B.getInt64Ty());
    Value *Stride = B.getInt64(std::abs(S.Stride[D]));
    AreApart =
        B.CreateAnd(AreApart, B.CreateOr(B.CreateICmpEQ(Last, B.getInt64(0)),
                                         B.CreateICmpUGE(Stride, Reach)));
    Reach = B.CreateAdd(Reach, B.CreateMul(Stride, Last));
  }
  return AreApart;
}

} // namespace crsan
