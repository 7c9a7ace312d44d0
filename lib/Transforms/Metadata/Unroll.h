// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose checks go together.
#ifndef CRSAN_TRANSFORMS_METADATA_UNROLL_H
#define CRSAN_TRANSFORMS_METADATA_UNROLL_H

#include "llvm/IR/PassManager.h"

namespace crsan {

/// As many words are checked together, at most.
inline constexpr unsigned WordsInGroup = 8;

/// Unrolls innermost loops of a few accesses as far as a group of checks goes,
/// so that the cells of several iterations are loaded at the same time. Loops
/// that the source says how to unroll stay as they are, and loops whose
/// accesses may need no check, since each thread has places of its own.
void unrollForChecks(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_UNROLL_H
