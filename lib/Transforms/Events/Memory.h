// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which memory an access is of, and whose it is.
#ifndef CRSAN_TRANSFORMS_EVENTS_MEMORY_H
#define CRSAN_TRANSFORMS_EVENTS_MEMORY_H

#include "crsan/abi/MemoryModel.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/NVPTXAddrSpace.h"

namespace crsan {

/// Rule 4: local, constant and parameter memory. What a generic pointer of
/// unknown origin points to is found out at run time.
bool isPrivate(const llvm::Value *Pointer);
bool isPrivateSpace(unsigned AddressSpace);
/// Shared memory, of the block or of any block of its cluster.
inline bool isSharedSpace(unsigned AddressSpace) {
  return AddressSpace == llvm::NVPTXAS::ADDRESS_SPACE_SHARED ||
         AddressSpace == llvm::NVPTXAS::ADDRESS_SPACE_SHARED_CLUSTER;
}

abi::Space spaceOf(unsigned AddressSpace);

/// The bytes of a value of type `T` at `Offset`, without its padding (another
/// thread may own what lies there), as runs of (offset, size). False: they
/// cannot be told.
bool collectRuns(const llvm::DataLayout &DL, llvm::Type *T, uint64_t Offset,
                 llvm::SmallVectorImpl<std::pair<uint64_t, uint64_t>> &Runs);

/// Marks every memory access of the user's as it stands in the source. The mark
/// survives the merging of two marked accesses, and LLVM drops it from a load
/// that it moves above the branch that guards it; a load without is not
/// checked (docs/soundness.md, rule 2).
void markAccesses(llvm::Function &F);
bool isMarked(const llvm::Instruction &I);

/// Marks every memory access of `F` as not to be checked, wherever it is
/// inlined.
void ignoreAccesses(llvm::Function &F);
bool isIgnored(const llvm::Instruction &I);

/// Gives CUDA's own atomic functions (atomicAdd, ...) in `F` the order and the
/// scope that the programming guide gives them, which clang does not: relaxed,
/// of the device. Call before anything is inlined.
void relaxLegacyAtomics(llvm::Function &F);

/// Marks CUDA's own atomic functions in `F` that clang compiles to relaxed
/// updates, although LLVM's instruction has another order (all but those that
/// compare). The mark survives inlining. Call before anything is inlined.
void markLegacyUpdates(llvm::Function &F);
bool isLegacyUpdate(const llvm::Instruction &I);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_EVENTS_MEMORY_H
