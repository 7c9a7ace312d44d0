// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a function keeps what it declares.
#ifndef CRSAN_SIM_FRAMELAYOUT_H
#define CRSAN_SIM_FRAMELAYOUT_H

#include "Program.h"

namespace crsan::sim {

/// Gives places in a function's frame, and in its local memory.
class FrameLayout {
public:
  explicit FrameLayout(Function &Fn) : Fn(Fn) {}

  /// Of a register of Size bytes; 0: of a predicate.
  Ref newRow(unsigned Size);
  /// Of several, one after the other. Returns the first.
  Ref newFamily(unsigned Size, uint32_t Count);
  /// Returns the offset in local memory.
  uint32_t newLocal(uint64_t Size, uint32_t Align);

private:
  Function &Fn;
  /// How many predicates there is room for beside the last one, and where.
  uint32_t PredicateRoom = 0, NextPredicate = 0;
};

} // namespace crsan::sim

#endif // CRSAN_SIM_FRAMELAYOUT_H
