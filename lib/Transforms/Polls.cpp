// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that wait for others.

#include "Polls.h"
#include "Events/Operands.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace crsan {

using Learned = function_ref<bool(const Instruction &)>;

/// Whether the value of `Condition` comes, by instructions of `Cycle`, from one
/// of `Cycle` for which `Learns` holds.
static bool dependsOnOthers(Value *Condition, const BlockSet &Cycle,
                            Learned Learns) {
  SetVector<Value *> Values;
  Values.insert(Condition);
  for (unsigned I = 0; I < Values.size(); ++I) {
    auto *Inst = dyn_cast<Instruction>(Values[I]);
    if (!Inst || !Cycle.contains(Inst->getParent()))
      continue;
    if (Learns(*Inst))
      return true;
    Values.insert(Inst->op_begin(), Inst->op_end());
  }
  return false;
}

/// Whether it depends on others if control leaves `Cycle`.
static bool endsByOthers(const BlockSet &Cycle, Learned Learns) {
  return any_of(Cycle, [&](BasicBlock *BB) {
    const Instruction *End = BB->getTerminator();
    return End->getNumSuccessors() > 1 &&
           !all_of(successors(BB),
                   [&](BasicBlock *Next) { return Cycle.contains(Next); }) &&
           any_of(End->operands(), [&](Value *Operand) {
             return !isa<BasicBlock>(Operand) &&
                    dependsOnOthers(Operand, Cycle, Learns);
           });
  });
}

BlockSet loopsEndedBy(Function &F, Learned Learns) {
  BlockSet Found;
  auto Add = [&](const BlockSet &Cycle) {
    if (endsByOthers(Cycle, Learns))
      Found.insert_range(Cycle);
  };
  const DominatorTree DT(F);
  const LoopInfo LI(DT);
  for (const Loop *L : LI.getLoopsInPreorder())
    Add(BlockSet(L->block_begin(), L->block_end()));
  for (auto Cycle = scc_begin(&F); !Cycle.isAtEnd(); ++Cycle)
    if (Cycle.hasCycle())
      Add(BlockSet(Cycle->begin(), Cycle->end()));
  return Found;
}

/// Assembly that loops may poll. An mbarrier that it polls lies in shared
/// memory.
static bool pollsInAssembly(const Instruction &I) {
  const Events All = eventsOf(I);
  return All.Branches && none_of(All.List, [](const Event &E) {
           const auto *W = std::get_if<Wait>(&E);
           return W && !W->IsByAccess && !W->IsCounted;
         });
}

SetVector<Function *> reachableFrom(Function &Kernel) {
  SetVector<Function *> Reached;
  Reached.insert(&Kernel);
  for (unsigned I = 0; I < Reached.size(); ++I)
    for (Instruction &Inst : instructions(*Reached[I]))
      for (Value *Operand : Inst.operands())
        if (auto *Callee = dyn_cast<Function>(Operand->stripPointerCasts());
            Callee && !Callee->isDeclaration())
          Reached.insert(Callee);
  return Reached;
}

bool mayWait(const SetVector<Function *> &Functions) {
  return any_of(Functions, [](Function *F) {
    return !loopsEndedBy(*F, [](const Instruction &I) { return mayWait(I); })
                .empty() ||
           any_of(instructions(*F), pollsInAssembly);
  });
}

bool isWaitless(Function &F) {
  // What a called function returns, it may have polled for.
  auto Learns = [](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    return mayPoll(eventsOf(I)) ||
           (Call && !Call->isInlineAsm() && !isa<IntrinsicInst>(Call) &&
            !Call->use_empty());
  };
  if (!loopsEndedBy(F, Learns).empty())
    return false;
  return none_of(instructions(F), [&](const Instruction &I) {
    // Assembly may loop by itself.
    const Events All = eventsOf(I);
    return mayPoll(All) && (!isKernel(F) || All.Branches);
  });
}

} // namespace crsan
