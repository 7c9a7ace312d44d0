// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that cannot race.

#include "Metadata/Exemptions.h"
#include "DeviceRuntime.h"
#include "Events/Operands.h"
#include "PlainBody.h"
#include "crsan/abi/Check.h"
#include "crsan/abi/Names.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace crsan {

/// Emits which exemptions hold, one bit for each.
static Value *emitWhichHold(IRBuilder<> &B, EventPlan &Plan) {
  Value *Table = nullptr;
  auto Owner = [&](Value *Address) {
    if (!Table)
      Table = callRuntime(B, OwnersName, {});
    return callRuntime(B, OwnerName,
                       {B.CreateExtractElement(Table, uint64_t(0)),
                        B.CreateExtractElement(Table, 1), Address});
  };
  Value *Which = nullptr;
  for (auto [I, E] : enumerate(Plan.exemptions())) {
    Value *Holds = E.Array ? Plan.arrays()->emitIsHarmless(B, *E.Array, Owner)
                           : E.Launch.emit(B);
    Value *Bit = B.CreateZExt(Holds, B.getInt64Ty());
    Bit = I ? B.CreateShl(Bit, I) : Bit;
    Which = Which ? B.CreateOr(Which, Bit) : Bit;
  }
  return Which;
}

/// Emits the conditions in front of `At`. They depend on the launch alone: the
/// first warps of a grid write down which of them hold, and the others read it.
static void emitConditions(Function &F, EventPlan &Plan, Instruction *At) {
  if (Plan.exemptions().empty())
    return;
  // Variables must stay in the first block.
  for (Instruction &I : make_early_inc_range(F.getEntryBlock()))
    if (auto *A = dyn_cast<AllocaInst>(&I);
        A && A->isStaticAlloca() && At->comesBefore(A))
      A->moveBefore(At->getIterator());
  IRBuilder<> B(At);
  auto *Word =
      new GlobalVariable(*F.getParent(), B.getInt64Ty(), /*isConstant=*/false,
                         GlobalValue::InternalLinkage, B.getInt64(0),
                         abi::ExemptionsPrefix + F.getName(), nullptr,
                         GlobalValue::NotThreadLocal, /*AddressSpace=*/1);
  Constant *Where = ConstantExpr::getAddrSpaceCast(Word, B.getPtrTy());
  Value *Known = callRuntime(B, KnownExemptionsName, {Where});
  Instruction *Unknown = SplitBlockAndInsertIfThen(
      B.CreateICmpEQ(Known, B.getInt64(0)), At, /*Unreachable=*/false);
  BasicBlock *Before = Unknown->getParent()->getSinglePredecessor();
  B.SetInsertPoint(Unknown);
  Value *Found = emitWhichHold(B, Plan);
  callRuntime(B, NoteExemptionsName, {Where, Found});
  B.SetInsertPoint(At->getParent(), At->getParent()->begin());
  PHINode *Which = B.CreatePHI(B.getInt64Ty(), 2);
  Which->addIncoming(Known, Before);
  Which->addIncoming(Found, Unknown->getParent());
  B.SetInsertPoint(At);
  for (auto [I, E] : enumerate(Plan.exemptions()))
    E.Holds =
        B.CreateICmpNE(B.CreateAnd(Which, uint64_t(1) << I), B.getInt64(0));
}

static bool canCopy(const Function &F, const EventPlan &Plan) {
  return isKernel(F) && PlainBody::canCopy(F) &&
         any_of(Plan.steps(),
                [](const EventPlan::Step &S) { return S.access(); });
}

/// Whether the kernel does nothing that others might have to know of, if its
/// exemptions hold.
static bool isPlainIfExempt(const EventPlan &Plan) {
  return Plan.breaks().empty() &&
         all_of(Plan.steps(), [](const EventPlan::Step &S) {
           return isWeak(S.What)
                      ? S.IsProven || S.Unless
                      : isOneOf<BlockBarrier, WarpBarrier, Leave>(S.What) &&
                            !S.Site;
         });
}

/// Whether nothing that the kernel executes tells the runtime anything, if it
/// executes the copy.
static bool canBeLeftOut(const Function &F) {
  return !F.hasOptNone() && none_of(instructions(F), [](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || isa<IntrinsicInst>(Call) || Call->isInlineAsm())
      return isOfSeveralWarps(I);
    const Function *Callee = Call->getCalledFunction();
    return !Callee || !Callee->isDeclaration() || !isHarmless(*Callee);
  });
}

/// Whether blocks of the kernel synchronise with nothing outside of them.
static bool isIsolated(const EventPlan &Plan) {
  return Plan.breaks().empty() &&
         none_of(Plan.steps(), [](const EventPlan::Step &S) {
           return mayOrderBeyondBarriers(S.What);
         });
}

/// Its accesses are counted as others are, if the grid is followed.
static void emitCounts(Function &F, EventPlan &Plan, PlainBody &Plain,
                       Value *IsFollowed, Constant *Sites) {
  IRBuilder<> B(Plain.headEnd());
  Type *I32 = B.getInt32Ty();
  AllocaInst *Number = B.CreateAlloca(I32);
  B.CreateStore(B.getInt32(0), Number);
  const StringRef Name =
      isa<ConstantPointerNull>(Sites) ? CountProvenCallName : CountProvenName;
  for (const EventPlan::Step &S : Plan.steps()) {
    B.SetInsertPoint(Plain.copyOf(S.Inst));
    if (S.InBlock)
      B.CreateStore(
          B.CreateAdd(B.CreateLoad(I32, Number), B.getInt32(S.InBlock)),
          Number);
    if (std::holds_alternative<Leave>(S.What))
      callRuntime(
          B, Name,
          {B.CreateSelect(IsFollowed, B.CreateLoad(I32, Number), B.getInt32(0)),
           Sites});
  }
  DominatorTree DT(F);
  PromoteMemToReg(Number, DT);
}

static void emitPlain(Function &F, EventPlan &Plan, PlainBody &Plain,
                      uint32_t Flags, bool IsExempt, bool IsLeftOut,
                      Constant *Sites) {
  IRBuilder<> B(Plain.headEnd());
  const uint32_t Tag = abi::kernelTag(F.getName().data(), F.getName().size());
  const uint32_t Isolated = isIsolated(Plan) ? abi::EnterIsolated : 0;
  Value *IsPlain = B.getInt1(IsExempt);
  if (IsExempt)
    for (const EventPlan::Exemption &E : Plan.exemptions())
      IsPlain = B.CreateAnd(IsPlain, E.Holds);
  Value *IsFollowed = IsLeftOut ? callRuntime(B, IsFollowedName,
                                              {B.getInt32(Flags | Isolated),
                                               B.getInt32(Tag), IsPlain})
                                : static_cast<Value *>(B.getTrue());
  Plain.emitChoice(B.CreateOr(IsPlain, B.CreateNot(IsFollowed)));
  if (IsExempt)
    emitCounts(F, Plan, Plain, IsFollowed,
               Sites ? ConstantExpr::getAddrSpaceCast(Sites, B.getPtrTy())
                     : ConstantPointerNull::get(B.getPtrTy()));
}

Instruction *emitExemptions(Function &F, EventPlan &Plan, uint32_t Flags,
                            Constant *Sites) {
  IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  if (Flags & abi::EnterLeaky) {
    for (EventPlan::Exemption &E : Plan.exemptions())
      E.Holds = B.getFalse();
    return &*B.GetInsertPoint();
  }
  const bool IsExempt = isPlainIfExempt(Plan), IsLeftOut = canBeLeftOut(F);
  if (!canCopy(F, Plan) || (!IsExempt && !IsLeftOut)) {
    Instruction *At = &*B.GetInsertPoint();
    emitConditions(F, Plan, At);
    return At;
  }
  PlainBody Plain(F);
  emitConditions(F, Plan, Plain.headEnd());
  emitPlain(F, Plan, Plain, Flags, IsExempt, IsLeftOut, Sites);
  return &*Plain.body()->getFirstNonPHIOrDbgOrAlloca();
}

} // namespace crsan
