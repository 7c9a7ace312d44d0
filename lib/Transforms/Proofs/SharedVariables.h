// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memory that cannot race.
//
// Of most shared variables, the source tells that some accesses cannot race:
// a tile is filled, a place by each thread, and read behind a barrier. What no
// write can come beside needs no check, and neither does what only its own
// thread accesses. (GPUVerify and its kin prove kernels free of races like
// this; here, what is not proven is checked.)
#ifndef CRSAN_TRANSFORMS_PROOFS_SHAREDVARIABLES_H
#define CRSAN_TRANSFORMS_PROOFS_SHAREDVARIABLES_H

#include "Proofs/BarrierIntervals.h"
#include "Proofs/Spread.h"

namespace crsan {

/// The accesses of a kernel to its shared variables.
class SharedVariables {
public:
  SharedVariables(const llvm::Function &Kernel, const Uniformity &InBlock,
                  const BarrierIntervals &Intervals,
                  const llvm::DominatorTree &DT, const llvm::LoopInfo &Loops,
                  llvm::ScalarEvolution &SE);

  /// Notes a weak or a strong access. All of the kernel's have to be noted but
  /// those that are never checked.
  void add(const llvm::Instruction &I, const Access &E);

  /// If the access cannot race with any: for which launches, as a rule for all.
  /// Call once all have been noted.
  std::optional<Requirement> proofOf(const llvm::Instruction &I,
                                     const Access &E);

  /// Whether threads that make the access in one interval surely find the same
  /// there: none may write to the variable meanwhile.
  bool staysSame(const llvm::Instruction &I, const Access &E);

private:
  struct Member {
    const llvm::Instruction *At;
    Access What;
    std::optional<Spread> Where; ///< None: it is not known.
  };
  using Accesses = std::vector<Member>;

  bool isReached(const llvm::Instruction &I);
  static const llvm::GlobalVariable *keyOf(const llvm::Value *Object);
  std::optional<Accesses> *accessesOf(const Access &E);
  static Member describe(const llvm::Instruction &I, const Access &E,
                         const AddressFacts &Facts);
  bool haveCommon(const Member &A, const Member &B) const;
  bool prove(const Member &Mine, const Member &Other, Requirement &R,
             bool IsCase) const;
  bool proveByCases(const Member &Mine, const Member &Other, Requirement &R);

  AddressFacts Facts;
  const BarrierIntervals &Intervals;
  unsigned CasesLeft = 1 << 12; ///< More would take too long.
  /// Whether a thread may come to a block, once asked.
  llvm::DenseMap<const llvm::BasicBlock *, bool> AreReached;
  /// By variable; those of unknown length are all null's. None: there may be
  /// others than are known.
  llvm::DenseMap<const llvm::GlobalVariable *, std::optional<Accesses>> All;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_SHAREDVARIABLES_H
