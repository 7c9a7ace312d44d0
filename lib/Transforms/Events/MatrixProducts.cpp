// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the runtime is called around matrix products of warp groups.

#include "Events/MatrixProducts.h"
#include "Events/Event.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace crsan {

/// Whether the instruction does nothing but issue and commit matrix products,
/// if that.
static bool onlyIssues(const Instruction &I) {
  if (!I.mayReadOrWriteMemory() && I.willReturn())
    return true;
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || !(Call->isInlineAsm() || isa<IntrinsicInst>(Call)))
    return false;
  const Events All = eventsOf(I);
  return All.Unlisted == Skip::None && !All.MayLeave && !All.Branches &&
         all_of(All.List, [](const Event &E) {
           const auto *Commit = std::get_if<CommitCopies>(&E);
           return std::holds_alternative<OperandRead>(E) ||
                  (Commit && Commit->By == Completion::Product);
         });
}

static bool isProductFence(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  if (const auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
    return StringRef(Asm->getAsmString()).trim(" \t\n;") ==
           "wgmma.fence.sync.aligned";
  return Call->getIntrinsicID() == Intrinsic::nvvm_wgmma_fence_sync_aligned;
}

/// Moves what `V` is computed from in front of `At`, of the same block. False
/// if that cannot be done; then some of it may have been moved.
static bool hoist(Value *V, Instruction *At) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || I->getParent() != At->getParent() || I->comesBefore(At))
    return true;
  if (isa<PHINode>(I) || I->mayHaveSideEffects() || I->mayReadOrWriteMemory() ||
      !all_of(I->operands(), [&](Value *O) { return hoist(O, At); }))
    return false;
  I->moveBefore(At->getIterator());
  return true;
}

Instruction *beforeProducts(Instruction *I, ArrayRef<Value *> Descriptors) {
  Instruction *Before = I->getPrevNode();
  while (Before && !isProductFence(*Before) && onlyIssues(*Before))
    Before = Before->getPrevNode();
  if (!Before || !isProductFence(*Before) ||
      !all_of(Descriptors, [&](Value *V) { return hoist(V, Before); }))
    return I;
  return Before;
}

bool isProductWait(const Instruction &I) {
  const Events All = eventsOf(I);
  return any_of(All.List,
                [](const Event &E) {
                  const auto *Awaited = std::get_if<AwaitCopies>(&E);
                  return Awaited && Awaited->By == Completion::Product;
                }) &&
         all_of(All.List, [](const Event &E) {
           return isOneOf<OperandRead, CommitCopies, AwaitCopies, ProxyFence,
                          Opaque>(E);
         });
}

} // namespace crsan
