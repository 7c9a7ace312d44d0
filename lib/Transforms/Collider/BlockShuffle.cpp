// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Permuting the order of blocks.

#include "Collider/BlockShuffle.h"
#include "DeviceRuntime.h"
#include "Events/Event.h"
#include "NativeTwin.h"
#include "Proofs/LaunchIndices.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace crsan {

namespace {

/// By dimension, as the blocks' in LaunchIndices.
constexpr Intrinsic::ID ClusterIndices[] = {
    Intrinsic::nvvm_read_ptx_sreg_clusterid_x,
    Intrinsic::nvvm_read_ptx_sreg_clusterid_y,
    Intrinsic::nvvm_read_ptx_sreg_clusterid_z};
constexpr Intrinsic::ID BlockIndices[] = {
    Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
    Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
    Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
constexpr Intrinsic::ID ClusterExtents[] = {
    Intrinsic::nvvm_read_ptx_sreg_cluster_nctaid_x,
    Intrinsic::nvvm_read_ptx_sreg_cluster_nctaid_y,
    Intrinsic::nvvm_read_ptx_sreg_cluster_nctaid_z};

/// Assembly that names a block's or a cluster's place in the grid.
bool readsBlockIndex(const CallBase &Call) {
  const auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand());
  return Asm && (StringRef(Asm->getAsmString()).contains("%ctaid") ||
                 StringRef(Asm->getAsmString()).contains("%clusterid") ||
                 StringRef(Asm->getAsmString()).contains("%gridid"));
}

bool readsClusterIndex(const CallBase &Call) {
  return is_contained(ClusterIndices, Call.getIntrinsicID());
}

/// A loop that may wait for what another block does. Loops are found as cycles
/// of the control flow graph, so that irreducible ones count too.
bool hasWaitingLoop(Function &F) {
  for (auto Cycle = scc_begin(&F); !Cycle.isAtEnd(); ++Cycle) {
    if (!Cycle.hasCycle())
      continue;
    for (BasicBlock *BB : *Cycle)
      for (Instruction &I : *BB)
        if (mayWait(I))
          return true;
  }
  return false;
}

/// Compute capability from "target-cpu", for instance 90 for sm_90a.
unsigned computeCapability(const Function &F) {
  StringRef Cpu = F.getFnAttribute("target-cpu").getValueAsString();
  unsigned Version = 0;
  if (Cpu.consume_front("sm_"))
    Cpu.consumeInteger(10, Version);
  return Version;
}

} // namespace

bool dependsOnBlockOrder(Module &M) {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (readsBlockIndex(*Call) || readsClusterIndex(*Call))
          return true;
    if (hasWaitingLoop(F))
      return true;
  }
  return false;
}

void shuffleBlocks(Module &M) {
  LLVMContext &C = M.getContext();
  Type *I32 = Type::getInt32Ty(C);
  for (unsigned D = 0; D < 3; ++D) {
    const LaunchIndex &Of = LaunchIndices[NumThreadIndices + D];
    Function *Read = Intrinsic::getDeclarationIfExists(&M, Of.Index);
    if (!Read)
      continue;
    SmallVector<CallInst *, 16> Reads;
    for (User *U : Read->users())
      if (auto *Call = cast<CallInst>(U); !isNativeTwin(*Call->getFunction()))
        Reads.push_back(Call);
    DenseMap<Function *, Value *> Done;
    for (CallInst *Call : Reads) {
      Function &F = *Call->getFunction();
      Value *&New = Done[&F];
      if (!New) {
        IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
        B.SetCurrentDebugLocation(Call->getDebugLoc());
        Value *Raw = B.CreateIntrinsic(I32, Of.Index, {});
        Value *Extent = B.CreateIntrinsic(I32, Of.Extent, {});
        New = callRuntime(B, BlockIndexName, {B.getInt32(D), Raw, Extent});
      }
      Call->replaceAllUsesWith(New);
      Call->eraseFromParent();
    }
  }
}

void defineClusterReads(Module &M) {
  unsigned Capability = 0;
  for (const Function &F : M)
    Capability = std::max(Capability, computeCapability(F));
  const bool HasClusters = Capability >= 90;
  const auto Define = [&](StringRef Name, auto Emit) {
    Function *F = M.getFunction(Name);
    if (!F)
      return;
    F->setLinkage(GlobalValue::InternalLinkage);
    F->addFnAttr(Attribute::AlwaysInline);
    IRBuilder<> B(BasicBlock::Create(M.getContext(), "", F));
    B.CreateRet(Emit(B, *F));
  };
  // The special register for the dimension that the argument names.
  const auto Read = [](IRBuilder<> &B, Function &F,
                       const Intrinsic::ID(&Of)[3]) {
    Value *Result = B.CreateIntrinsic(B.getInt32Ty(), Of[0], {});
    for (unsigned D = 1; D < 3; ++D)
      Result =
          B.CreateSelect(B.CreateICmpEQ(F.getArg(0), B.getInt32(D)),
                         B.CreateIntrinsic(B.getInt32Ty(), Of[D], {}), Result);
    return Result;
  };
  Define(IsSharedName, [&](IRBuilder<> &B, Function &F) {
    return emitAssembly(B, B.getInt32Ty(),
                        HasClusters
                            ? "{ .reg .pred p; isspacep.shared::cluster p, $1; "
                              "selp.u32 $0, 1, 0, p; }"
                            : "{ .reg .pred p; isspacep.shared p, $1; "
                              "selp.u32 $0, 1, 0, p; }",
                        "=r,l", F.getArg(0));
  });
  Define(ClusterExtentName, [&](IRBuilder<> &B, Function &F) -> Value * {
    return HasClusters ? Read(B, F, ClusterExtents) : B.getInt32(1);
  });
  Define(ClusterIndexName, [&](IRBuilder<> &B, Function &F) -> Value * {
    return Read(B, F, HasClusters ? ClusterIndices : BlockIndices);
  });
  Define(ClusterRankName, [&](IRBuilder<> &B, Function &) -> Value * {
    if (!HasClusters)
      return B.getInt32(0);
    return B.CreateIntrinsic(B.getInt32Ty(),
                             Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank, {});
  });
}

} // namespace crsan
