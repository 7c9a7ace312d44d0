// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a module's functions do.
#ifndef CRSAN_TRANSFORMS_METADATA_MODULEEVENTS_H
#define CRSAN_TRANSFORMS_METADATA_MODULEEVENTS_H

#include "Metadata/EventPlan.h"

namespace crsan {

/// What the functions of a module do, all together. A kernel may meet with any
/// of it, in the functions that it calls.
struct ModuleEvents {
  /// Threads may synchronise in ways that the runtime cannot follow.
  bool HasUnknown = false;
  /// Threads may release or acquire by strong accesses.
  bool HasFences = false;
  /// A thread may access the shared memory of another block of its cluster.
  bool HasClusters = false;
  /// Threads of a block may meet at barriers.
  bool HasBarriers = false;
  /// By strong accesses beyond its block, a thread may wait for actors that are
  /// not followed, or release to them (abi::EnterSignals).
  bool HasSignals = false;
  /// A thread may synchronise with the host (abi::EnterTellsHost).
  bool TellsHost = false;
  /// There may be volatile accesses.
  bool HasVolatile = false;
  /// Threads may meet at barriers that are in other modules, or that the pass
  /// cannot change.
  bool HasForeignBarriers = false;
  /// A bit for each of a block's 16 barriers that threads may come to by a
  /// count.
  uint16_t CountedBarriers = 0;

  /// Adds what `F` does.
  void add(const llvm::Function &F, const EventPlan &Plan);
};

/// Whether functions of other modules may call `F`, or this module by a
/// pointer.
bool hasCallersElsewhere(const llvm::Function &F);

/// A bit for each of a block's 16 barriers that threads may come to by a count
/// in the function of the plan.
uint16_t countedBarriers(const EventPlan &Plan, const llvm::DataLayout &DL);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_MODULEEVENTS_H
