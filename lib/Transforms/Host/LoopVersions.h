// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops without checks, for as long as there is nothing to check.
#ifndef CRSAN_TRANSFORMS_HOST_LOOPVERSIONS_H
#define CRSAN_TRANSFORMS_HOST_LOOPVERSIONS_H

#include "Host/HostGate.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"

namespace crsan {

/// Whether the instruction may run code that gives a GPU work.
bool mayGiveWork(const llvm::Instruction &I);

/// Whether the innermost loop can have a copy without checks: while it runs,
/// its thread gives no GPU work, so that one look at the gate does for all of
/// it.
bool canHavePlainCopy(const llvm::Loop &L);

/// The pointers that the pointers of a loop's accesses are computed from, as
/// far as these are known when the loop begins. An access is in the object that
/// its base points into, or behind.
class LoopBases {
public:
  /// Of an access of the loop.
  void add(llvm::Value *Pointer, const llvm::Loop &L,
           llvm::ScalarEvolution &SE);
  /// Whether all of them lie outside of what the gate has open; where one is
  /// not known, or there are too many, whether the gate is closed.
  llvm::Value *emitIsOutside(llvm::IRBuilder<> &B, const GateValues &Gate,
                             const llvm::DominatorTree &DT) const;

private:
  llvm::SmallSetVector<llvm::Value *, 4> Bases;
  bool AreKnown = true;
};

/// Puts a copy of the loop beside it, which runs in its place if the gate lets
/// it when the loop begins. LLVM may vectorise the copy, while the loop itself
/// is for checks. Gives back the gate's values, which are known in the loop.
/// `L` is in simplified form.
GateValues addPlainCopy(llvm::Loop &L, const LoopBases &Bases, HostGate &Gate,
                        llvm::LoopInfo &LI, llvm::DominatorTree &DT);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_HOST_LOOPVERSIONS_H
