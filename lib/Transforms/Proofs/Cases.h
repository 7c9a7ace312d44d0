// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proofs by cases.
//
// Butterflies, such as a bitonic sort and a Fourier transform, access places
// that depend on a span, which a loop doubles or halves. All threads have the
// span in common, and it takes few values: in each case it is a constant.
#ifndef CRSAN_TRANSFORMS_PROOFS_CASES_H
#define CRSAN_TRANSFORMS_PROOFS_CASES_H

#include "Proofs/Spread.h"

namespace crsan {

/// A phi of a loop's header, and the values that it may have.
struct Cases {
  const llvm::PHINode *Of;
  llvm::SmallVector<llvm::APInt, 0> Values;
};

/// The integer phis of loops' headers that \p V is computed from, and that are
/// the same for all threads of the group.
llvm::SmallVector<const llvm::PHINode *, 2>
countedIn(const llvm::Value *V, const AddressFacts &Facts);

/// All values that \p P, of a loop's header, may have in the loop. None: they
/// are too many, or not known.
std::optional<llvm::SmallVector<llvm::APInt, 0>>
valuesOf(const llvm::PHINode &P, const AddressFacts &Facts);

/// Whether threads may come to \p I in this case, as far as the branches say.
bool isPossible(const llvm::Instruction &I, const AddressFacts &InCase);

/// Calls \p Each for every case, until it returns false. Returns whether it
/// never did; false if there are too many cases.
bool forEachCase(llvm::ArrayRef<Cases> All,
                 llvm::function_ref<bool(llvm::ArrayRef<Assumption>)> Each);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_CASES_H
