// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compare-and-swaps that take a lock.
#ifndef CRSAN_TRANSFORMS_METADATA_LOCKS_H
#define CRSAN_TRANSFORMS_METADATA_LOCKS_H

#include "Metadata/EventPlan.h"
#include "llvm/IR/Dominators.h"

namespace crsan {

/// Whether the compare-and-swap of `Swap` takes a lock: it compares with a
/// constant, and on every path after its success the thread reaches a strong
/// write that stores this constant to the same place again. The second
/// condition keeps lock-free lists, queues and tables from counting as locks.
/// If another function releases the lock, it is not recognised as one. `Steps`:
/// all steps of the function.
bool takesLock(const EventPlan::Step &Swap,
               llvm::ArrayRef<EventPlan::Step> Steps,
               const llvm::DominatorTree &DT);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_LOCKS_H
