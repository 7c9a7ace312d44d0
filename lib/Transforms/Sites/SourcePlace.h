// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A place of the source.
#ifndef CRSAN_TRANSFORMS_SITES_SOURCEPLACE_H
#define CRSAN_TRANSFORMS_SITES_SOURCEPLACE_H

#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/Instruction.h"

#include <optional>

namespace crsan {

/// What an instruction has in common with all copies that LLVM makes of it, and
/// with nothing else in its function: file, line and column, and those of the
/// calls that were inlined.
struct SourcePlace {
  uint64_t Whole; ///< A hash of all that.
  uint32_t Line;  ///< A hash of the innermost file, line and column alone.
};

/// Whether a report of the one instruction would say the same as one of the
/// other: the lines, and the calls that were inlined, are known and equal.
bool areOfOneLine(const llvm::Instruction &A, const llvm::Instruction &B);

/// Empty if any of that is not known. LLVM sets a line or a column to 0 where
/// it makes one instruction of two.
std::optional<SourcePlace> sourcePlace(const llvm::DebugLoc &Location);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_SITES_SOURCEPLACE_H
