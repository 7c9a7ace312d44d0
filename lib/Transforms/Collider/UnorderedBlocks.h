// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose blocks nothing orders.
#ifndef CRSAN_TRANSFORMS_COLLIDER_UNORDEREDBLOCKS_H
#define CRSAN_TRANSFORMS_COLLIDER_UNORDEREDBLOCKS_H

#include "llvm/IR/Function.h"

namespace crsan {

/// Whether nothing that the kernel executes can order two warps of a grid while
/// the grid runs, but for barriers of all threads of a block. Then any two
/// conflicting weak accesses of two blocks race, whenever they come
/// (docs/soundness.md, "Lasting watchpoints"). Memory that the kernel takes
/// from the heap or gives back counts as ordering, since two threads may get
/// the same bytes one after the other.
bool hasUnorderedBlocks(llvm::Function &Kernel);

/// Of such a kernel: whether the functions that it calls have no barriers, so
/// that the kernel itself can count those that its threads come through. Then
/// accesses of two warps of a block race if the counts are equal.
bool hasOwnBarriers(llvm::Function &Kernel);

/// Whether the instruction is a barrier of all threads of the block.
bool isBlockBarrier(const llvm::Instruction &I);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_COLLIDER_UNORDEREDBLOCKS_H
