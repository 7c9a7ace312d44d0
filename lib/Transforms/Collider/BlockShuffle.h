// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Permuting the order of blocks.
#ifndef CRSAN_TRANSFORMS_COLLIDER_BLOCKSHUFFLE_H
#define CRSAN_TRANSFORMS_COLLIDER_BLOCKSHUFFLE_H

#include "llvm/IR/Module.h"

namespace crsan {

/// True if code of `M` may depend on the order in which blocks start: it may
/// wait for another block, or reads the block index where it cannot be replaced
/// (assembly). The whole image then runs unshuffled (abi::NoShuffle).
bool dependsOnBlockOrder(llvm::Module &M);

/// Replaces every read of a block index by one that the run time permutes
/// (SuperCollider 3.5.2, equation 1, in each dimension; whole clusters move).
void shuffleBlocks(llvm::Module &M);

/// Defines the functions through which the runtime, which is compiled for
/// targets without clusters, asks about them. Call once it is linked.
void defineClusterReads(llvm::Module &M);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_COLLIDER_BLOCKSHUFFLE_H
