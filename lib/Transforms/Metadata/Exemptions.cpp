// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that cannot race.

#include "Metadata/Exemptions.h"
#include "DeviceRuntime.h"
#include "Events/Operands.h"
#include "PlainBody.h"
#include "crsan/abi/Cell.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace crsan {

static void emitConditions(IRBuilder<> &B, EventPlan &Plan) {
  Value *Table = nullptr;
  auto Owner = [&](Value *Address) {
    if (!Table)
      Table = callRuntime(B, OwnersName, {});
    Value *Entry = B.CreateAnd(B.CreateLShr(Address, abi::PageShift - 3),
                               B.CreateExtractElement(Table, 1));
    return B.CreateAnd(
        emitAssembly(
            B, B.getInt32Ty(), "ld.global.u32 $0, [$1];", "=r,l,~{memory}",
            B.CreateAdd(B.CreateExtractElement(Table, uint64_t(0)), Entry)),
        B.getInt32(abi::PageOwners));
  };
  for (EventPlan::Exemption &E : Plan.exemptions())
    E.Holds = E.Array ? Plan.arrays()->emitIsHarmless(B, *E.Array, Owner)
                      : E.Launch.emit(B);
}

/// Whether the kernel does nothing that others might have to know of, if its
/// exemptions hold.
static bool mayBePlain(const Function &F, const EventPlan &Plan) {
  return isKernel(F) && Plan.breaks().empty() && PlainBody::canCopy(F) &&
         any_of(Plan.steps(),
                [](const EventPlan::Step &S) { return S.access(); }) &&
         all_of(Plan.steps(), [](const EventPlan::Step &S) {
           return isWeak(S.What)
                      ? S.IsProven || S.Unless
                      : isOneOf<BlockBarrier, WarpBarrier, Leave>(S.What) &&
                            !S.Site;
         });
}

/// Its accesses are counted as others are.
static void emitPlain(Function &F, EventPlan &Plan, PlainBody &Plain) {
  IRBuilder<> B(Plain.headEnd());
  Type *I32 = B.getInt32Ty();
  AllocaInst *Number = B.CreateAlloca(I32);
  B.CreateStore(B.getInt32(0), Number);
  for (const EventPlan::Step &S : Plan.steps()) {
    B.SetInsertPoint(Plain.copyOf(S.Inst));
    if (S.InBlock)
      B.CreateStore(
          B.CreateAdd(B.CreateLoad(I32, Number), B.getInt32(S.InBlock)),
          Number);
    if (std::holds_alternative<Leave>(S.What))
      callRuntime(B, CountProvenName, B.CreateLoad(I32, Number));
  }
  Value *Holds = B.getTrue();
  B.SetInsertPoint(Plain.headEnd());
  for (const EventPlan::Exemption &E : Plan.exemptions())
    Holds = B.CreateAnd(Holds, E.Holds);
  Plain.emitChoice(Holds);
  DominatorTree DT(F);
  PromoteMemToReg(Number, DT);
}

Instruction *emitExemptions(Function &F, EventPlan &Plan, bool IsLeaky) {
  IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  if (IsLeaky) {
    for (EventPlan::Exemption &E : Plan.exemptions())
      E.Holds = B.getFalse();
    return &*B.GetInsertPoint();
  }
  if (!mayBePlain(F, Plan)) {
    emitConditions(B, Plan);
    return &*B.GetInsertPoint();
  }
  PlainBody Plain(F);
  B.SetInsertPoint(Plain.headEnd());
  emitConditions(B, Plan);
  emitPlain(F, Plan, Plain);
  return &*Plain.body()->getFirstNonPHIOrDbgOrAlloca();
}

} // namespace crsan
