//===- Polls.cpp - Loops that wait for others -----------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Polls.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace crsan {

/// Whether one of the instructions of a piece of PTX may be part of a poll: it
/// reads memory strongly or past the caches, or updates it atomically.
static bool mayPoll(StringRef PTX) {
  SmallVector<StringRef, 8> Statements;
  SplitString(PTX, Statements, ";{}\n");
  return any_of(Statements, [](StringRef S) {
    const size_t At = S.find_if_not([](char C) { return isSpace(C); });
    StringRef Op = S.substr(std::min(At, S.size()));
    if (Op.starts_with("@"))
      Op = Op.drop_until([](char C) { return isSpace(C); }).ltrim();
    Op = Op.take_until([](char C) { return isSpace(C); });
    const auto Has = [&](StringRef Part) { return Op.contains(Part); };
    return Op.starts_with("atom") || Op.starts_with("red.") || Has("_wait") ||
           (Op.starts_with("ld") &&
            (Has(".volatile") || Has(".relaxed") || Has(".acquire") ||
             Has(".mmio") || Has(".ca") || Has(".cg") || Has(".cv")));
  });
}

bool mayPoll(const Instruction &I) {
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
    return true;
  if (isa<LoadInst, MemIntrinsic>(I))
    return I.isVolatile() || I.isAtomic();
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  if (const auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
    return mayPoll(StringRef(Asm->getAsmString()));
  const Function *Callee = Call->getCalledFunction();
  return Callee && Callee->isIntrinsic() &&
         (Callee->getName().contains("atomic") ||
          Callee->getName().contains(".wait"));
}

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

bool isWaitless(Function &F) {
  // What a called function returns, it may have polled for.
  auto Learns = [](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    return mayPoll(I) || (Call && !Call->isInlineAsm() &&
                          !isa<IntrinsicInst>(Call) && !Call->use_empty());
  };
  if (!loopsEndedBy(F, Learns).empty())
    return false;
  const bool IsKernel = F.getCallingConv() == CallingConv::PTX_Kernel;
  return none_of(instructions(F), [&](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    // Assembly may loop by itself.
    const bool Loops =
        Call && Call->isInlineAsm() &&
        StringRef(cast<InlineAsm>(Call->getCalledOperand())->getAsmString())
            .contains("bra");
    return mayPoll(I) && (!IsKernel || Loops);
  });
}

} // namespace crsan
