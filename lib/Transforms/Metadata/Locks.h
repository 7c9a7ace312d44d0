// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compare-and-swaps that take a lock.
#ifndef CRSAN_TRANSFORMS_METADATA_LOCKS_H
#define CRSAN_TRANSFORMS_METADATA_LOCKS_H

#include "Metadata/EventPlan.h"
#include "llvm/IR/Dominators.h"

namespace crsan {

/// Whether the compare-and-swap of `Swap` takes a lock: it compares with a
/// constant, and from where it has succeeded its thread comes, on all ways, to
/// a strong write that puts that constant back into the same place. So lists,
/// deques and tables without locks, in which a value is exchanged for another
/// for good, are not taken for what they are not. Where it cannot be seen that
/// a lock is given back, because another function does that, it is none.
/// `Steps`: all of the function.
bool takesLock(const EventPlan::Step &Swap,
               llvm::ArrayRef<EventPlan::Step> Steps,
               const llvm::DominatorTree &DT);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_LOCKS_H
