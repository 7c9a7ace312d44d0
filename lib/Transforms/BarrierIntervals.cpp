//===- BarrierIntervals.cpp - What barriers keep apart --------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BarrierIntervals.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace crsan {

//===----------------------------------------------------------------------===//
// BlockUniformity
//===----------------------------------------------------------------------===//

/// Whether threads of a block that give it equal operands get equal results.
static bool isFunction(const Instruction &I) {
  if (isa<BinaryOperator, UnaryOperator, CastInst, CmpInst, SelectInst, PHINode,
          GetElementPtrInst, FreezeInst, ExtractValueInst, InsertValueInst,
          ExtractElementInst, InsertElementInst, ShuffleVectorInst>(I))
    return true;
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call)
    return false;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
  // What the whole block has voted on.
  case Intrinsic::nvvm_barrier_cta_red_or_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_or_all:
  case Intrinsic::nvvm_barrier_cta_red_and_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_and_all:
  case Intrinsic::nvvm_barrier_cta_red_popc_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_popc_all:
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::umin:
  case Intrinsic::umax:
  case Intrinsic::abs:
  case Intrinsic::ctlz:
  case Intrinsic::cttz:
  case Intrinsic::ctpop:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
    return true;
  default:
    return false;
  }
}

static bool isVote(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->isConvergent();
}

BlockUniformity::BlockUniformity(const Function &Kernel,
                                 const PostDominatorTree &PDT,
                                 const LoopInfo &Loops)
    : PDT(PDT), Loops(Loops) {
  for (const Instruction &I : instructions(Kernel))
    if (!I.getType()->isVoidTy() && !isFunction(I))
      add(I);
  while (!Pending.empty()) {
    const Value *V = Pending.pop_back_val();
    for (const User *U : V->users()) {
      const auto *I = cast<Instruction>(U);
      if (I->isTerminator())
        split(*I->getParent());
      else if (!isVote(*I))
        add(*I);
    }
  }
}

void BlockUniformity::add(const Value &V) {
  if (Varying.insert(&V).second)
    Pending.push_back(&V);
}

/// Threads part at the end of `BB`: where they come together again, which value
/// they bring depends on the way.
void BlockUniformity::split(const BasicBlock &BB) {
  if (!Split.insert(&BB).second)
    return;
  const auto *Node = PDT.getNode(&BB);
  const BasicBlock *Join =
      Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
  DenseMap<const BasicBlock *, unsigned> Ways;
  for (const BasicBlock *From : successors(&BB)) {
    SmallVector<const BasicBlock *> Stack = {From};
    DenseSet<const BasicBlock *> Seen;
    while (!Stack.empty()) {
      const BasicBlock *At = Stack.pop_back_val();
      if (!Seen.insert(At).second)
        continue;
      ++Ways[At];
      if (At != Join)
        append_range(Stack, successors(At));
    }
  }
  for (const auto &[At, Number] : Ways)
    if (Number > 1 || At == Join)
      for (const PHINode &P : At->phis())
        add(P);
  // Who leaves a loop in another iteration has other values of it.
  for (const Loop *L = Loops.getLoopFor(&BB); L; L = L->getParentLoop()) {
    if (all_of(Ways, [&](const auto &W) { return L->contains(W.first); }))
      return;
    for (const BasicBlock *In : L->blocks())
      for (const Instruction &I : *In)
        for (const User *U : I.users())
          if (const auto *User = cast<Instruction>(U); !L->contains(User)) {
            if (User->isTerminator())
              split(*User->getParent());
            else
              add(*User);
          }
  }
}

//===----------------------------------------------------------------------===//
// BarrierIntervals
//===----------------------------------------------------------------------===//

BarrierIntervals::BarrierIntervals(const Function &Kernel,
                                   ArrayRef<const Instruction *> Barriers,
                                   const BlockUniformity &Uniformity) {
  const DenseSet<const Instruction *> Set(Barriers.begin(), Barriers.end());
  SmallVector<unsigned> Starts = {0};
  for (const BasicBlock &BB : Kernel) {
    Cut &C = Cuts[&BB];
    C.First = BlockOf.size();
    BlockOf.push_back(&BB);
    for (const Instruction &I : BB)
      if (Set.contains(&I)) {
        C.At.push_back(&I);
        Starts.push_back(BlockOf.size());
        BlockOf.push_back(&BB);
      }
  }
  // In huge functions, it would take too long.
  constexpr size_t Most = 1 << 22;
  if (Starts.size() * BlockOf.size() > Most) {
    IsRegular = false;
    return;
  }
  for (const unsigned S : Starts)
    Intervals.push_back(reach(S));
  // All threads come to one next barrier, if to any: who leaves the kernel
  // instead is at none from then on.
  auto Next = [&](const BasicBlock &From) {
    unsigned Number = 0;
    SmallVector<unsigned, 4> First;
    for (const BasicBlock *S : llvm::successors(&From))
      First.push_back(Cuts.find(S)->second.First);
    for (const unsigned S : reach(First).set_bits())
      Number += !endsBlock(S);
    return Number;
  };
  for (const BasicBlock &BB : Kernel) {
    const Instruction *End = BB.getTerminator();
    if (End->getNumSuccessors() > 1 &&
        !(isa<BranchInst, SwitchInst>(End) &&
          Uniformity.isUniform(End->getOperand(0))) &&
        Next(BB) > 1) {
      IsRegular = false;
      return;
    }
  }
}

unsigned BarrierIntervals::segmentOf(const Instruction &I) const {
  const Cut &C = Cuts.find(I.getParent())->second;
  unsigned Segment = C.First;
  for (const Instruction *At : C.At)
    Segment += At->comesBefore(&I);
  return Segment;
}

bool BarrierIntervals::endsBlock(unsigned Segment) const {
  return Segment + 1 == BlockOf.size() ||
         BlockOf[Segment + 1] != BlockOf[Segment];
}

SmallVector<unsigned, 2> BarrierIntervals::successors(unsigned Segment) const {
  SmallVector<unsigned, 2> All;
  if (endsBlock(Segment))
    for (const BasicBlock *S : llvm::successors(BlockOf[Segment]))
      All.push_back(Cuts.find(S)->second.First);
  return All;
}

/// The segments that are reached from `From` without a barrier.
BitVector BarrierIntervals::reach(ArrayRef<unsigned> From) const {
  BitVector Reached(BlockOf.size());
  SmallVector<unsigned> Stack(From.begin(), From.end());
  while (!Stack.empty()) {
    const unsigned S = Stack.pop_back_val();
    if (Reached.test(S))
      continue;
    Reached.set(S);
    append_range(Stack, successors(S));
  }
  return Reached;
}

bool BarrierIntervals::mayMeet(const Instruction &A,
                               const Instruction &B) const {
  const unsigned SA = segmentOf(A), SB = segmentOf(B);
  return any_of(Intervals, [&](const BitVector &In) {
    return In.test(SA) && In.test(SB);
  });
}

bool BarrierIntervals::repeats(const Instruction &I) const {
  const unsigned S = segmentOf(I);
  return reach(successors(S)).test(S);
}

} // namespace crsan
