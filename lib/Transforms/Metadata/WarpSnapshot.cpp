// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What checks in line know of their warp.

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

Value *emitStateField(IRBuilder<> &B, Value *State, Type *T, uint64_t Offset) {
  Value *At = B.CreateAdd(State, B.getInt64(Offset));
  return B.CreateLoad(
      T, B.CreateIntToPtr(At, B.getPtrTy(NVPTXAS::ADDRESS_SPACE_GLOBAL)));
}

WarpSnapshot::WarpSnapshot(Function &F, IRBuilder<> &B, uint32_t Shape)
    : F(F), Shape(Shape) {
  for (unsigned I = 0; I < NumFields; ++I)
    Fields.push_back(
        B.CreateAlloca(I == Mine ? B.getInt64Ty() : B.getInt32Ty()));
}

void WarpSnapshot::emitState(IRBuilder<> &B, Value *First) {
  State = First ? B.CreateExtractValue(First, Entered::State)
                : callRuntime(B, SelfName, {});
}

void WarpSnapshot::emitFirst(IRBuilder<> &B, Value *First, Constant *Sites) {
  emitSites(B, Sites);
  if (First) {
    SmallVector<Value *> Arguments = {State};
    for (unsigned I :
         {Entered::Clock, Entered::Barrier, Entered::Floor, Entered::Place})
      Arguments.push_back(B.CreateExtractValue(First, I));
    Arguments.append({FirstSite, B.getInt32(Shape)});
    set(B, callRuntime(B, "__crsan_in_first_snapshot", Arguments));
  } else {
    emitLoad(B);
  }
  Value *Clock = First ? B.CreateExtractValue(First, Entered::Clock)
                       : emitStateField(B, State, B.getInt32Ty(),
                                        offsetof(abi::WarpState, Start));
  Start = callRuntime(B, "__crsan_in_start", {Clock, values(B).Place});
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
  set(B, callRuntime(B, SnapshotName,
                     {State, FirstSite, B.getInt32(Shape)}));
}

void WarpSnapshot::set(IRBuilder<> &B, CallInst *Snapshot) {
  Snapshots.push_back(Snapshot);
  for (unsigned I = 0; I < NumFields; ++I)
    B.CreateStore(B.CreateExtractValue(Snapshot, I), Fields[I]);
}

WarpSnapshot::Values WarpSnapshot::values(IRBuilder<> &B) {
  auto Load = [&](Field I) {
    return B.CreateLoad(Fields[I]->getAllocatedType(), Fields[I]);
  };
  return {Load(Mine),  Load(Place), Load(Barrier),
          Load(Floor), Load(Met),   Start};
}

/// Behind a barrier of which the runtime is not told: it is told if a thread of
/// the block has come to another barrier, or in another iteration.
void WarpSnapshot::emitMeeting(Instruction *Before, Constant *Site,
                               uint32_t Number, Value *Iteration,
                               const Values &W, const DebugLoc &Loc) {
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Found = callRuntime(B, "__crsan_in_other_meeting",
                             {W.Mine, W.Place, B.getInt32(Number), Iteration});
  B.SetInsertPoint(SplitBlockAndInsertIfThen(
      B.CreateICmpNE(Found, B.getInt64(0)), Before->getIterator(),
      /*Unreachable=*/false,
      MDBuilder(F.getContext()).createUnlikelyBranchWeights()));
  B.SetCurrentDebugLocation(Loc);
  callRuntime(B, DivergedName, {Site, Found, W.Place});
}

void WarpSnapshot::emitBarrier(IntrinsicInst *Old, Constant *Site,
                               uint32_t Number, Value *Iteration) {
  IRBuilder<> B(Old);
  const DebugLoc Loc = Old->getDebugLoc();
  const Values W = values(B);
  const bool IsAligned =
      Old->getIntrinsicID() == Intrinsic::nvvm_barrier_cta_sync_aligned_all;
  Value *MustAgree =
      callRuntime(B, "__crsan_in_must_agree",
                  {W.Mine, W.Place, W.Barrier, B.getInt32(IsAligned)});
  if (Site)
    callRuntime(B, "__crsan_in_note_meeting",
                {W.Mine, W.Place, B.getInt32(Number), Iteration, MustAgree});
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
  callRuntime(B, BlockAgreeName,
              {Site ? Site : ConstantPointerNull::get(B.getPtrTy()), Iteration,
               W.Place});
  B.SetCurrentDebugLocation(DebugLoc());
  emitLoad(B);

  B.SetInsertPoint(GoOn);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Now = callRuntime(B, "__crsan_in_next_clock", {State, W.Mine});
  B.CreateStore(Now, Fields[Barrier]);
  B.CreateStore(
      B.CreateAdd(W.Mine,
                  B.getInt64(uint64_t(1) << abi::AccessorLayout::ClockAt)),
      Fields[Mine]);
  if (Site)
    emitMeeting(GoOn, Site, Number, Iteration, W, Loc);
}

void WarpSnapshot::finish() {
  // Snapshots that no check uses.
  for (CallInst *Snapshot : Snapshots) {
    for (User *U : make_early_inc_range(Snapshot->users()))
      RecursivelyDeleteTriviallyDeadInstructions(cast<Instruction>(U));
    if (Snapshot->use_empty())
      Snapshot->eraseFromParent();
  }
}

} // namespace crsan
