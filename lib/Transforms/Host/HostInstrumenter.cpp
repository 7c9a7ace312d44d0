// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emitting the checks of a host function.

#include "Host/HostInstrumenter.h"
#include "Events/Operands.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

STATISTIC(NumHostAccesses, "Number of accesses of host code checked");
STATISTIC(NumPlainCopies, "Number of loops of host code with a plain copy");

namespace crsan {

Events hostEventsOf(const Instruction &I) {
  Events All;
  const auto *Load = dyn_cast<LoadInst>(&I);
  const auto *Store = dyn_cast<StoreInst>(&I);
  const auto *M = dyn_cast<MemIntrinsic>(&I);
  if ((Load && !Load->isSimple()) || (Store && !Store->isSimple()) ||
      (M && M->isVolatile()))
    All.ByCollider = Skip::Strong;
  else if (Load || Store || M)
    All = eventsOf(I);
  // Such as memory relative to a segment register.
  erase_if(All.List, [](const Event &E) {
    return !isWeak(E) || asAccess(E)->Where.Space != 0;
  });
  return All;
}

void HostInstrumenter::run() {
  plan();
  if (Blocks.empty())
    return;
  if (!F.hasOptNone())
    addPlainCopies();
  for (BasicBlock *BB : Blocks)
    instrument(*BB);
  // What LLVM has found out before no longer holds.
  F.removeFnAttr(Attribute::Memory);
  F.removeFnAttr(Attribute::NoSync);
}

void HostInstrumenter::plan() {
  for (Instruction &I : instructions(F)) {
    const Events All = hostEventsOf(I);
    Checked List;
    if (!isIgnored(I))
      for (const Event &E : All.List)
        List.push_back(*asAccess(E));
    if (List.empty())
      continue;
    Accesses[&I] = std::move(List);
    Blocks.insert(I.getParent());
  }
}

LoopBases HostInstrumenter::basesOf(const Loop &L, ScalarEvolution &SE) {
  LoopBases Bases;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB)
      if (const auto Found = Accesses.find(&I); Found != Accesses.end())
        for (const Access &A : Found->second)
          Bases.add(A.Where.Base, L, SE);
  return Bases;
}

void HostInstrumenter::addPlainCopies() {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  auto &AC = FAM.getResult<AssumptionAnalysis>(F);
  for (Loop *Top : LI.getTopLevelLoops())
    simplifyLoop(Top, &DT, &LI, /*SE=*/nullptr, &AC, /*MSSAU=*/nullptr,
                 /*PreserveLCSSA=*/false);
  ScalarEvolution SE(F, FAM.getResult<TargetLibraryAnalysis>(F), AC, DT, LI);
  SmallVector<std::pair<Loop *, LoopBases>, 8> Chosen;
  for (Loop *L : LI.getLoopsInPreorder())
    if (any_of(L->blocks(),
               [&](BasicBlock *BB) { return Blocks.contains(BB); }) &&
        canHavePlainCopy(*L))
      Chosen.push_back({L, basesOf(*L, SE)});
  for (const auto &[L, Bases] : Chosen) {
    const GateValues Values = addPlainCopy(*L, Bases, Gate, LI, DT);
    for (BasicBlock *BB : L->blocks())
      Known[BB] = Values;
    ++NumPlainCopies;
  }
}

/// Checks the accesses of a block. The gate is looked at again behind whatever
/// may have given a GPU work.
void HostInstrumenter::instrument(BasicBlock &BB) {
  const auto OfLoop = Known.find(&BB);
  GateValues Now;
  if (OfLoop != Known.end())
    Now = OfLoop->second;
  SmallVector<Instruction *, 32> Instructions;
  for (Instruction &I : BB)
    Instructions.push_back(&I);
  for (Instruction *I : Instructions) {
    if (mayGiveWork(*I))
      Now = {};
    const auto Found = Accesses.find(I);
    if (Found == Accesses.end())
      continue;
    if (!Now.Size) {
      IRBuilder<> B(I);
      B.SetCurrentDebugLocation(DebugLoc());
      Now = Gate.load(B);
    }
    for (const Access &A : Found->second)
      emitCheck(*I, A, Now);
  }
}

void HostInstrumenter::emitCheck(Instruction &I, const Access &A,
                                 const GateValues &Now) {
  ++NumHostAccesses;
  IRBuilder<> B(&I);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Address = emitAddress(B, A.Where);
  Value *IsInside = B.CreateICmpULT(B.CreateSub(Address, Now.Begin), Now.Size);
  B.SetInsertPoint(SplitBlockAndInsertIfThen(
      IsInside, I.getIterator(), /*Unreachable=*/false,
      MDBuilder(F.getContext()).createUnlikelyBranchWeights()));
  // A call needs a location where the callee has debug information.
  B.SetCurrentDebugLocation(I.getDebugLoc());
  Value *Length = A.Length ? B.CreateZExtOrTrunc(A.Length, B.getInt64Ty())
                           : B.getInt64(A.Size);
  abi::HostSite Site = {};
  Site.Id = Table.addHostAccess(I, A);
  Site.Size = uint32_t(A.Length ? 0 : std::min<uint64_t>(A.Size, ~0u));
  Site.Access = abi::kindOf(A.Flags);
  Gate.emitCheck(B, Gate.addSite(Site), Address, Length);
}

} // namespace crsan
