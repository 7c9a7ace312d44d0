//===- WarpSnapshot.cpp - What checks in line know of their warp --*- C++
//-*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Metadata/WarpSnapshot.h"
#include "DeviceRuntime.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace crsan {

using Layout = abi::AccessorLayout;

std::pair<Value *, Value *> halves(IRBuilder<> &B, Value *Accessor) {
  return {B.CreateTrunc(Accessor, B.getInt32Ty()),
          B.CreateTrunc(B.CreateLShr(Accessor, 32), B.getInt32Ty())};
}

WarpSnapshot::WarpSnapshot(Function &F, IRBuilder<> &B, bool HasLocks,
                           bool HasWarpBarriers)
    : F(F), HasLocks(HasLocks) {
  Type *I32 = B.getInt32Ty();
  Mine = B.CreateAlloca(B.getInt64Ty());
  Place = B.CreateAlloca(I32);
  Barrier = B.CreateAlloca(I32);
  Floor = B.CreateAlloca(I32);
  if (HasWarpBarriers)
    Met = B.CreateAlloca(I32);
}

SmallVector<Value *, 4> WarpSnapshot::emitSelf(IRBuilder<> &B, Value *First) {
  SmallVector<Value *, 4> State;
  if (First) {
    for (unsigned I = 0; I < 4; ++I)
      State.push_back(B.CreateExtractElement(First, I));
    Self = callRuntime(B, StateName, State[3]);
  } else {
    Self = callRuntime(B, SelfName, {});
  }
  return State;
}

void WarpSnapshot::emitFirst(IRBuilder<> &B, ArrayRef<Value *> State,
                             Constant *Sites) {
  emitSites(B, Sites);
  if (State.empty())
    emitLoad(B);
  else
    set(B, State, B.getInt32(0));
}

/// Loads the index of the function's first site, once it has one.
void WarpSnapshot::emitSites(IRBuilder<> &B, Constant *Sites) {
  Type *I32 = B.getInt32Ty();
  FirstSite = B.getInt32(0);
  if (!Sites)
    return;
  Value *Known = B.CreateLoad(
      I32, B.CreateConstGEP1_64(
               B.getInt8Ty(),
               ConstantExpr::getAddrSpaceCast(
                   Sites, B.getPtrTy(NVPTXAS::ADDRESS_SPACE_GLOBAL)),
               offsetof(abi::AccessSite, Index)));
  Instruction *Before = &*B.GetInsertPoint();
  BasicBlock *Head = Before->getParent();
  Instruction *Then = SplitBlockAndInsertIfThen(
      B.CreateICmpSLT(Known, B.getInt32(0)), Before->getIterator(),
      /*Unreachable=*/false,
      MDBuilder(F.getContext()).createUnlikelyBranchWeights());
  B.SetInsertPoint(Then);
  Value *Given = callRuntime(B, SitesName, {Sites});
  B.SetInsertPoint(Before->getParent(), Before->getParent()->begin());
  PHINode *Phi = B.CreatePHI(I32, 2);
  Phi->addIncoming(Known, Head);
  Phi->addIncoming(Given, Then->getParent());
  FirstSite = Phi;
  B.SetInsertPoint(Before);
}

void WarpSnapshot::emitLoad(IRBuilder<> &B) {
  Type *I32 = B.getInt32Ty();
  CallInst *All = emitAssembly(B, StructType::get(I32, I32, I32, I32),
                               "ld.global.v4.u32 {$0, $1, $2, $3}, [$4];",
                               "=r,=r,=r,=r,l,~{memory}", {Self});
  Loaded.push_back(All);
  SmallVector<Value *, 4> State;
  for (unsigned I = 0; I < 4; ++I)
    State.push_back(B.CreateExtractValue(All, I));
  CallInst *NowMet = nullptr;
  if (Met) {
    NowMet = emitAssembly(
        B, I32, "ld.global.u32 $0, [$1];", "=r,l,~{memory}",
        {B.CreateAdd(Self, B.getInt64(offsetof(abi::WarpState, Met)))});
    Loaded.push_back(NowMet);
  }
  set(B, State, NowMet);
}

Value *WarpSnapshot::emitWarp(IRBuilder<> &B, Value *Place) {
  Value *InBlock = B.CreateAnd(B.CreateLShr(Place, 22), 31);
  return B.CreateAnd(B.CreateAdd(Place, InBlock), abi::NumWarps - 1);
}

void WarpSnapshot::set(IRBuilder<> &B, ArrayRef<Value *> State, Value *NowMet) {
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  B.CreateStore(B.CreateShl(State[1], ClockShift), Barrier);
  B.CreateStore(B.CreateShl(State[2], ClockShift), Floor);
  if (Met)
    B.CreateStore(B.CreateShl(NowMet, ClockShift), Met);
  B.CreateStore(
      B.CreateOr(State[3], B.CreateAnd(FirstSite, B.getInt32(abi::NeedsCare))),
      Place);
  Value *Warp = emitWarp(B, State[3]);
  Value *Lane =
      B.CreateIntrinsic(I32, Intrinsic::nvvm_read_ptx_sreg_laneid, {});
  Value *Who = B.CreateOr(B.CreateShl(Warp, Layout::WarpAt), Lane);
  if (HasLocks) {
    CallInst *Lanes = emitAssembly(
        B, I32, "ld.global.u32 $0, [$1];", "=r,l,~{memory}",
        {B.CreateAdd(Self, B.getInt64(offsetof(abi::WarpState, LockedLanes)))});
    Loaded.push_back(Lanes);
    Who = B.CreateOr(Who, B.CreateShl(B.CreateAnd(B.CreateLShr(Lanes, Lane), 1),
                                      countr_zero(Layout::WideOrLocked)));
  }
  Value *When = B.CreateShl(State[0], ClockShift);
  // A power of two that all of the function's sites are below is added to it.
  Value *Site = B.CreateShl(B.CreateZExt(FirstSite, I64), Layout::SiteAt);
  B.CreateStore(
      B.CreateOr(Site, B.CreateOr(B.CreateShl(B.CreateZExt(When, I64), 32),
                                  B.CreateZExt(Who, I64))),
      Mine);
}

WarpSnapshot::Values WarpSnapshot::values(IRBuilder<> &B) {
  auto Load = [&](AllocaInst *A) {
    return B.CreateLoad(A->getAllocatedType(), A);
  };
  return {Load(Mine), Load(Place), Load(Barrier), Load(Floor),
          Met ? Load(Met) : nullptr};
}

Value *WarpSnapshot::emitClock(IRBuilder<> &B, const Values &W) {
  return B.CreateAnd(halves(B, W.Mine).second, B.getInt32(~0u << ClockShift));
}

void WarpSnapshot::emitBarrier(IntrinsicInst *Old) {
  IRBuilder<> B(Old);
  const DebugLoc Loc = Old->getDebugLoc();
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  const Values W = values(B);
  // Only if all warps have the clock that the last barrier gave them is the
  // next one known to all of them. And only whole warps go on together.
  Value *Clock = emitClock(B, W);
  constexpr uint32_t Last = ((1u << (64 - Layout::ClockAt)) - 4) << ClockShift;
  const bool IsAligned =
      Old->getIntrinsicID() == Intrinsic::nvvm_barrier_cta_sync_aligned_all;
  // Those that have parted are to meet before they are counted, as they have to
  // at the barrier.
  CallInst *Here =
      emitAssembly(B, I32,
                   IsAligned ? "bar.warp.sync 0xffffffff; activemask.b32 $0;"
                             : "activemask.b32 $0;",
                   "=r", {});
  Here->setConvergent();
  Value *MustAgree = B.CreateOr(
      B.CreateOr(B.CreateICmpNE(Clock, W.Barrier),
                 B.CreateICmpUGT(Clock, B.getInt32(Last))),
      B.CreateOr(
          B.CreateICmpNE(Here, B.getInt32(~0u)),
          B.CreateICmpNE(B.CreateAnd(W.Place, abi::NeedsCare | abi::HasFresh),
                         B.getInt32(0))));
  B.SetCurrentDebugLocation(Loc);
  CallInst *New = B.CreateIntrinsic(
      B.getInt1Ty(),
      IsAligned ? Intrinsic::nvvm_barrier_cta_red_or_aligned_all
                : Intrinsic::nvvm_barrier_cta_red_or_all,
      {B.getInt32(0), MustAgree});
  Instruction *Agree, *GoOn;
  SplitBlockAndInsertIfThenElse(
      New, Old->getIterator(), &Agree, &GoOn,
      MDBuilder(F.getContext()).createUnlikelyBranchWeights());
  Old->eraseFromParent();
  B.SetInsertPoint(Agree);
  B.SetCurrentDebugLocation(Loc);
  callRuntime(B, BlockAgreeName, {W.Place});
  B.SetCurrentDebugLocation(DebugLoc());
  emitLoad(B);

  B.SetInsertPoint(GoOn);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Now = B.CreateAdd(Clock, B.getInt32(1u << ClockShift));
  Value *Unshifted = B.CreateLShr(Now, ClockShift);
  // All lanes, before any goes on: the clock never falls.
  emitAssembly(B, B.getVoidTy(),
               "st.global.v2.u32 [$0], {$1, $1}; bar.warp.sync 0xffffffff;",
               "l,r,~{memory}", {Self, Unshifted})
      ->setConvergent();
  B.CreateStore(Now, Barrier);
  B.CreateStore(B.CreateAdd(W.Mine, ConstantInt::get(
                                        I64, uint64_t(1) << Layout::ClockAt)),
                Mine);
}

Value *WarpSnapshot::emitInBlock(IRBuilder<> &B, const Values &W, Value *Low) {
  static_assert(Layout::LaneAt == 0 && Layout::WarpAt == 5);
  Value *First = B.CreateShl(W.Place, Layout::WarpAt);
  Value *Number = B.CreateAnd(B.CreateLShr(W.Place, 16 - Layout::WarpAt),
                              63 << Layout::WarpAt);
  return B.CreateICmpULT(
      B.CreateAnd(B.CreateSub(Low, First), uint32_t(Layout::Who)), Number);
}

Value *WarpSnapshot::emitOtherBlock(IRBuilder<> &B, const Values &W) {
  Value *First = B.CreateAnd(W.Place, B.getInt32(abi::NumWarps - 1));
  Value *Number = B.CreateAnd(B.CreateLShr(W.Place, 16), B.getInt32(63));
  Value *Below = B.CreateSub(Number, B.getInt32(1));
  Value *IsAligned = B.CreateICmpEQ(
      B.CreateAnd(B.CreateOr(First, Number), Below), B.getInt32(0));
  Value *InBlock = B.CreateSelect(IsAligned, Below, B.getInt32(0));
  return B.CreateAnd(B.CreateShl(B.CreateNot(InBlock), Layout::WarpAt),
                     B.getInt32(uint32_t(Layout::Who)));
}

void WarpSnapshot::finish() {
  // Windows in which nothing is checked.
  for (CallInst *Load : Loaded) {
    for (User *U : make_early_inc_range(Load->users()))
      RecursivelyDeleteTriviallyDeadInstructions(cast<Instruction>(U));
    if (Load->use_empty())
      Load->eraseFromParent();
  }
}

} // namespace crsan
