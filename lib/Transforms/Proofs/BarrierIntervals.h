// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What barriers keep apart.
//
// All threads of a block meet at its barriers, and what one does before a
// barrier is ordered before what another does behind it. If they all come to
// the same barriers of the source in the same order, then whatever two of them
// do unordered lies behind the same barrier, and before the next: in one
// *interval*.
#ifndef CRSAN_TRANSFORMS_PROOFS_BARRIERINTERVALS_H
#define CRSAN_TRANSFORMS_PROOFS_BARRIERINTERVALS_H

#include "Proofs/Uniformity.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace crsan {

/// A kernel, cut at the barriers of all threads of the block.
class BarrierIntervals {
public:
  /// \p Barriers: all places where threads of the block may meet at its barrier
  /// 0, in no particular order.
  BarrierIntervals(const llvm::Function &Kernel,
                   llvm::ArrayRef<const llvm::Instruction *> Barriers,
                   const Uniformity &InBlock,
                   const llvm::PostDominatorTree &PDT);

  /// False if threads may come to different barriers at a time, as far as one
  /// can tell; nothing is known then.
  bool areKnown() const { return IsRegular; }

  /// Whether two threads may execute the two instructions in one interval.
  bool mayMeet(const llvm::Instruction &A, const llvm::Instruction &B) const;

  /// Whether a thread may execute the instruction twice in one interval.
  bool repeats(const llvm::Instruction &I) const;

  /// Whether a thread may begin two iterations of the loop in one interval.
  bool repeats(const llvm::Loop &L) const;

  /// In which iterations of a loop two threads may be, one of which executes an
  /// instruction A, and the other an instruction B in the same interval.
  struct IterationPairs {
    bool Same = false;
    bool NextOfB = false; ///< B in the iteration that follows that of A.
    bool NextOfA = false;
  };
  /// None: perhaps in others, too.
  std::optional<IterationPairs> iterationsOf(const llvm::Instruction &A,
                                             const llvm::Instruction &B,
                                             const llvm::Loop &L) const;

  /// Whether threads that execute the two instructions in one interval are in
  /// one iteration of the loop then.
  bool areInOneIteration(const llvm::Instruction &A, const llvm::Instruction &B,
                         const llvm::Loop &L) const;

private:
  /// What lies between two cuts of a block of the function.
  unsigned segmentOf(const llvm::Instruction &I) const;
  bool endsBlock(unsigned Segment) const;
  llvm::BitVector reach(llvm::ArrayRef<unsigned> From,
                        std::optional<unsigned> Without = std::nullopt) const;
  llvm::SmallVector<unsigned, 2> successors(unsigned Segment) const;

  bool IsRegular = true;
  struct Cut {
    unsigned First; ///< Segment.
    llvm::SmallVector<const llvm::Instruction *, 1> At;
  };
  llvm::DenseMap<const llvm::BasicBlock *, Cut> Cuts;
  std::vector<const llvm::BasicBlock *> BlockOf; ///< Of each segment.
  std::vector<llvm::BitVector> Intervals;        ///< Which segments are in it.
  llvm::SmallVector<unsigned> Starts; ///< Of each, the first segment.
  /// The segments at whose ends threads of the block may part.
  llvm::SmallVector<unsigned> Parting;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_BARRIERINTERVALS_H
