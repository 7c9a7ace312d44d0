// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What barriers keep apart.

#include "Proofs/BarrierIntervals.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
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
  const auto First = [&](const BasicBlock *BB) {
    return Cuts.find(BB)->second.First;
  };
  const auto HasBarrier = [&](const BitVector &Reached) {
    return any_of(Reached.set_bits(),
                  [&](unsigned S) { return !endsBlock(S); });
  };
  // Whether threads that part at the end of `BB` come together again before any
  // of them comes to a barrier.
  const auto Joins = [&](const BasicBlock &BB) {
    const auto *Node = PDT.getNode(&BB);
    const BasicBlock *Join =
        Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
    SmallVector<unsigned, 4> Ways;
    for (const BasicBlock *S : llvm::successors(&BB))
      Ways.push_back(First(S));
    return Join && !HasBarrier(reach(Ways, First(Join)));
  };
  // The number of ways from there that lead to a barrier at all. A thread that
  // leaves the kernel comes to none.
  const auto NumberOfWays = [&](const BasicBlock &BB) {
    const SmallPtrSet<const BasicBlock *, 4> Ways(succ_begin(&BB),
                                                  succ_end(&BB));
    return count_if(Ways, [&](const BasicBlock *Way) {
      SmallSetVector<const BasicBlock *, 16> Seen;
      Seen.insert(Way);
      for (unsigned N = 0; N < Seen.size(); ++N)
        Seen.insert_range(llvm::successors(Seen[N]));
      return any_of(Seen, [&](const BasicBlock *In) {
        return !Cuts.find(In)->second.At.empty();
      });
    });
  };
  for (const BasicBlock &BB : Kernel) {
    const Instruction *End = BB.getTerminator();
    if (End->getNumSuccessors() < 2 || (isa<BranchInst, SwitchInst>(End) &&
                                        InBlock.isUniform(End->getOperand(0))))
      continue;
    Parting.push_back(segmentOf(*End));
    if (!Joins(BB) && NumberOfWays(BB) > 1) {
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

std::optional<BarrierIntervals::IterationPairs>
BarrierIntervals::iterationsOf(const Instruction &A, const Instruction &B,
                               const Loop &L) const {
  if (!L.contains(&A) || !L.contains(&B) || repeats(L))
    return std::nullopt;
  const unsigned SA = segmentOf(A), SB = segmentOf(B);
  const unsigned Header = Cuts.find(L.getHeader())->second.First;
  const auto IsEntered = [&](const BitVector &In) {
    return any_of(predecessors(L.getHeader()), [&](const BasicBlock *From) {
      return !L.contains(From) && In.test(segmentOf(*From->getTerminator()));
    });
  };
  // In an interval, the next iteration begins once or not at all.
  const BitVector After = reach(Header);
  IterationPairs Pairs;
  for (unsigned N = 0; N < Starts.size(); ++N) {
    if (!Intervals[N].test(SA) || !Intervals[N].test(SB))
      continue;
    const BitVector Before = reach(Starts[N], Header);
    const bool Begins = Intervals[N].test(Header);
    const bool NextOfB = Begins && Before.test(SA) && After.test(SB);
    const bool NextOfA = Begins && Before.test(SB) && After.test(SA);
    // Perhaps the loop has ended, and the iteration that begins is the first
    // one of another time.
    if ((NextOfA || NextOfB) && IsEntered(Intervals[N]))
      return std::nullopt;
    Pairs.NextOfA |= NextOfA;
    Pairs.NextOfB |= NextOfB;
    Pairs.Same |= (Before.test(SA) && Before.test(SB)) ||
                  (Begins && After.test(SA) && After.test(SB));
  }
  return Pairs;
}

bool BarrierIntervals::areInOneIteration(const Instruction &A,
                                         const Instruction &B,
                                         const Loop &L) const {
  const auto Pairs = iterationsOf(A, B, L);
  return Pairs && !Pairs->NextOfA && !Pairs->NextOfB;
}

} // namespace crsan
