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
                                   const Uniformity &InBlock,
                                   const PostDominatorTree &PDT) {
  const DenseSet<const Instruction *> Set(Barriers.begin(), Barriers.end());
  Starts = {0};
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
  // The number of barriers that threads may come to next behind the end of
  // `From`, or before they come to the block `Join`.
  auto Next = [&](const BasicBlock &From, const BasicBlock *Join) {
    unsigned Number = 0;
    SmallVector<unsigned, 4> First;
    for (const BasicBlock *S : llvm::successors(&From))
      First.push_back(Cuts.find(S)->second.First);
    for (const unsigned S :
         reach(First, Join ? std::optional(Cuts.find(Join)->second.First)
                           : std::nullopt)
             .set_bits())
      Number += !endsBlock(S);
    return Number;
  };
  for (const BasicBlock &BB : Kernel) {
    const Instruction *End = BB.getTerminator();
    if (End->getNumSuccessors() < 2 || (isa<BranchInst, SwitchInst>(End) &&
                                        InBlock.isUniform(End->getOperand(0))))
      continue;
    Parting.push_back(segmentOf(*End));
    // Threads that part may come together again before any of them comes to a
    // barrier. Else all come to one next barrier, if to any: a thread that
    // leaves the kernel instead comes to none from then on.
    const auto *Node = PDT.getNode(&BB);
    const BasicBlock *Join =
        Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
    if ((!Join || Next(BB, Join) > 0) && Next(BB, nullptr) > 1) {
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

/// The segments that are reached from `From` without a barrier, and without
/// the segment `Without`.
BitVector BarrierIntervals::reach(ArrayRef<unsigned> From,
                                  std::optional<unsigned> Without) const {
  BitVector Reached(BlockOf.size());
  SmallVector<unsigned> Stack(From.begin(), From.end());
  while (!Stack.empty()) {
    const unsigned S = Stack.pop_back_val();
    if (S == Without || Reached.test(S))
      continue;
    Reached.set(S);
    append_range(Stack, successors(S));
  }
  return Reached;
}

bool BarrierIntervals::mayMeet(const Instruction &A,
                               const Instruction &B) const {
  const unsigned SA = segmentOf(A), SB = segmentOf(B);
  // Two threads take one way up to where threads may part. So both come to
  // either place, one perhaps later than the other, or part before.
  auto MayReachBoth = [&](unsigned From) {
    const BitVector Reached = reach(From);
    return Reached.test(SA) && Reached.test(SB);
  };
  return any_of(Intervals, [&](const BitVector &In) {
    return In.test(SA) && In.test(SB) &&
           (MayReachBoth(SA) || MayReachBoth(SB) ||
            any_of(Parting, [&](unsigned At) {
              return In.test(At) && MayReachBoth(At);
            }));
  });
}

bool BarrierIntervals::repeats(const Instruction &I) const {
  const unsigned S = segmentOf(I);
  return reach(successors(S)).test(S);
}

bool BarrierIntervals::repeats(const Loop &L) const {
  const unsigned S = Cuts.find(L.getHeader())->second.First;
  return reach(successors(S)).test(S);
}

bool BarrierIntervals::areInOneIteration(const Instruction &A,
                                         const Instruction &B,
                                         const Loop &L) const {
  if (!L.contains(&A) || !L.contains(&B) || repeats(L))
    return false;
  const unsigned SA = segmentOf(A), SB = segmentOf(B);
  const unsigned Header = Cuts.find(L.getHeader())->second.First;
  // In an interval, the next iteration begins once or not at all.
  const BitVector After = reach(Header);
  for (unsigned N = 0; N < Starts.size(); ++N) {
    if (!Intervals[N].test(SA) || !Intervals[N].test(SB))
      continue;
    const BitVector Before = reach(Starts[N], Header);
    if ((Before.test(SA) && After.test(SB) && Intervals[N].test(Header)) ||
        (Before.test(SB) && After.test(SA) && Intervals[N].test(Header)))
      return false;
  }
  return true;
}

} // namespace crsan
