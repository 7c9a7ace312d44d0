//===- ReadOnly.cpp - What a kernel only reads ----------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReadOnly.h"
#include "Event.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace crsan {

/// Each costs every warp some instructions.
static constexpr size_t MostPointers = 8;

ReadOnlyInputs::ReadOnlyInputs(Function &Kernel, const LoopInfo &Loops)
    : Loops(Loops) {
  for (Instruction &I : instructions(Kernel))
    if (I.mayWriteToMemory() && !noteWrite(I)) {
      IsKnown = false;
      return;
    }
}

std::optional<ReadOnlyInputs::Given>
ReadOnlyInputs::asGiven(const Value *Object) {
  if (auto *A = dyn_cast<Argument>(Object)) {
    if (!A->getType()->isPointerTy() || A->hasByValAttr())
      return std::nullopt;
    return Given{const_cast<Argument *>(A), std::nullopt, A->getType()};
  }
  const auto *Load = dyn_cast<LoadInst>(Object);
  if (!Load || !Load->isSimple() || !Load->getType()->isPointerTy())
    return std::nullopt;
  const DataLayout &DL = Load->getDataLayout();
  const Value *From = Load->getPointerOperand();
  APInt At(DL.getIndexTypeSizeInBits(From->getType()), 0);
  auto *Of =
      dyn_cast<Argument>(From->stripAndAccumulateConstantOffsets(DL, At, true));
  if (!Of || !Of->hasByValAttr())
    return std::nullopt;
  return Given{const_cast<Argument *>(Of), At.getSExtValue(), Load->getType()};
}

/// False if it may be anywhere.
bool ReadOnlyInputs::noteWritten(const Value *Pointer) {
  // What assembly is given.
  if (auto *Cast = dyn_cast<PtrToIntOperator>(Pointer))
    Pointer = Cast->getPointerOperand();
  if (!Pointer->getType()->isPointerTy())
    return false;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Pointer, Objects, &Loops, /*MaxLookup=*/0);
  for (const Value *Object : Objects) {
    // No allocation that a pointer is given to has variables in it.
    if (isa<AllocaInst, GlobalVariable, ConstantPointerNull, UndefValue>(
            Object))
      continue;
    const std::optional<Given> G = asGiven(Object);
    if (!G)
      return false;
    if (is_contained(Written, *G))
      continue;
    if (Written.size() == MostPointers)
      return false;
    Written.push_back(*G);
  }
  return true;
}

/// False if it may write anywhere.
bool ReadOnlyInputs::noteWrite(Instruction &I) {
  // These only order.
  if (isa<FenceInst, LoadInst>(I))
    return true;
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return noteWritten(Store->getPointerOperand());
  if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    return noteWritten(Update->getPointerOperand());
  if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    return noteWritten(Swap->getPointerOperand());
  if (auto *Fill = dyn_cast<AnyMemIntrinsic>(&I))
    return noteWritten(Fill->getRawDest());
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  const Events All = eventsOf(I);
  for (const Event &E : All.List) {
    // Whoever waits for another grid may run beside it.
    if (E.What == Event::Kind::Unknown || E.What == Event::Kind::Learn ||
        E.What == Event::Kind::Call)
      return false;
    // An asynchronous copy writes shared memory.
    if (E.What != Event::Kind::Copy && (E.Flags & abi::WritesMemory) &&
        !noteWritten(E.Where.Base))
      return false;
  }
  if (Call->isInlineAsm())
    return All.Skipped == Skip::None || All.Skipped == Skip::Private;
  if (isa<IntrinsicInst>(Call))
    return all_of(Call->args(), [&](const Value *V) {
      return !V->getType()->isPointerTy() || noteWritten(V);
    });
  // printf and the like.
  const Function *Callee = Call->getCalledFunction();
  return Callee && Callee->isDeclaration();
}

std::optional<unsigned> ReadOnlyInputs::inputOf(const Value *Pointer) {
  if (!IsKnown || !Pointer->getType()->isPointerTy())
    return std::nullopt;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Pointer, Objects, &Loops, /*MaxLookup=*/0);
  if (Objects.size() != 1)
    return std::nullopt;
  const std::optional<Given> G = asGiven(Objects[0]);
  if (!G || is_contained(Written, *G))
    return std::nullopt;
  const auto *It = find(Inputs, *G);
  if (It == Inputs.end() && Inputs.size() == MostPointers)
    return std::nullopt;
  const unsigned Number = It - Inputs.begin();
  if (It == Inputs.end())
    Inputs.push_back(*G);
  return Number;
}

Value *ReadOnlyInputs::emitIsReadOnly(IRBuilder<> &B, unsigned Input,
                                      function_ref<Value *(Value *)> Owner) {
  auto NumberOf = [&](Given &G) {
    if (G.Number)
      return G.Number;
    Value *Pointer = G.Of;
    if (G.At)
      Pointer =
          B.CreateLoad(G.T, B.CreateConstGEP1_64(B.getInt8Ty(), G.Of, *G.At));
    return G.Number = Owner(B.CreatePtrToInt(
               B.CreateAddrSpaceCast(Pointer, B.getPtrTy()), B.getInt64Ty()));
  };
  Value *Mine = NumberOf(Inputs[Input]);
  Value *IsReadOnly =
      B.CreateICmpNE(Mine, ConstantInt::get(Mine->getType(), 0));
  for (Given &G : Written)
    IsReadOnly = B.CreateAnd(IsReadOnly, B.CreateICmpNE(Mine, NumberOf(G)));
  return IsReadOnly;
}

} // namespace crsan
