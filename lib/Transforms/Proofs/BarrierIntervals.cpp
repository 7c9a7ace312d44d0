// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What barriers keep apart.

#include "Proofs/BarrierIntervals.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace crsan {

BarrierIntervals::BarrierIntervals(const Function &Kernel,
                                   ArrayRef<const Instruction *> Barriers,
                                   const Uniformity &InBlock) {
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
  // All threads come to one next barrier, if to any: a thread that leaves
  // the kernel instead comes to none from then on.
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
          InBlock.isUniform(End->getOperand(0))) &&
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
