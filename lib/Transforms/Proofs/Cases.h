// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proofs by cases.
//
// Butterflies, such as a bitonic sort and a Fourier transform, access places
// that depend on a span, which a loop doubles or halves. All threads have the
// span in common, and it takes few values: in each case it is a constant.
//
// Where buffers take turns, the buffer is a remainder of what a loop counts, or
// has as few values. One barrier in each iteration is enough then, since two
// threads are in one iteration or in two successive ones. So a case is what the
// values are in the iteration of the one thread, and in that of the other.
//
// Where a compiler makes one iteration of several, the iterations that are left
// over may be more than a loop ever has: for each value that an index can have
// under one condition, another condition does not hold.
#ifndef CRSAN_TRANSFORMS_PROOFS_CASES_H
#define CRSAN_TRANSFORMS_PROOFS_CASES_H

#include "Proofs/BarrierIntervals.h"
#include "Proofs/Spread.h"

namespace crsan {

/// What values are where the one thread is, and where the other is.
struct Case {
  llvm::SmallVector<Assumption, 2> Mine, Other;
  bool operator==(const Case &) const = default;
};

/// The loops that count what one of \p Of is computed from.
llvm::SmallVector<const llvm::Loop *, 2>
countingLoops(llvm::ArrayRef<const llvm::Value *> Of,
              const AddressFacts &Facts);

/// All cases of what \p L counts, as far as it matters to \p Of. Empty: they
/// are too many, or not known.
std::vector<Case> casesOf(const llvm::Loop &L,
                          llvm::ArrayRef<const llvm::Value *> Of,
                          const BarrierIntervals::IterationPairs &Iterations,
                          const AddressFacts &Facts);

/// Whether threads may come to \p I in this case, as far as the branches say.
bool isPossible(const llvm::Instruction &I, const AddressFacts &InCase);

/// Whether no thread comes to \p I: not all branches in front of it can lead
/// there, whatever one value is that they compare with constants.
bool isNeverReached(const llvm::Instruction &I, const AddressFacts &Facts);

/// Calls \p Each for every combination of cases of several loops, until it
/// returns false. Returns whether it never did; false if there are too many.
bool forEachCase(llvm::ArrayRef<std::vector<Case>> Loops,
                 llvm::function_ref<bool(const Case &)> Each);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_CASES_H
