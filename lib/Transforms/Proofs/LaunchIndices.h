// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices and extents of a launch.
//
// What integer expressions of a launch's indices (threadIdx, blockIdx) and
// extents (blockDim, gridDim) can be.
#ifndef CRSAN_TRANSFORMS_PROOFS_LAUNCHINDICES_H
#define CRSAN_TRANSFORMS_PROOFS_LAUNCHINDICES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

#include <array>
#include <optional>

namespace crsan {

/// A thread's index in each dimension of its block, then its block's in each
/// dimension of the grid.
inline constexpr unsigned NumThreadIndices = 3, NumIndices = 6;

/// An index, and the extent that it is less than.
struct LaunchIndex {
  llvm::Intrinsic::ID Index, Extent;
  uint64_t Most; ///< The largest extent that CUDA supports.
};
extern const std::array<LaunchIndex, NumIndices> LaunchIndices;

/// Larger than the step of any array that a program makes, in bytes.
inline constexpr int64_t MostBytes = int64_t(1) << 31;
/// How deeply expressions are looked into.
inline constexpr unsigned MostDepth = 10;

/// The number of the index that `V` is, or of the extent.
std::optional<unsigned> indexOf(const llvm::Value *V);
std::optional<unsigned> extentOf(const llvm::Value *V);

/// Whether `I` is a sum of its two operands.
bool isSum(const llvm::Instruction &I);
/// Whether it is the first one less the second.
bool isDifference(const llvm::Instruction &I);
/// The positive constant by which `I` multiplies its first operand; 0 if `I`
/// does anything else.
int64_t factorOf(const llvm::Instruction &I);

/// Emits an extent, as 64 bits.
llvm::Value *emitExtent(llvm::IRBuilder<> &B, unsigned Index);

/// Whether `V` can be computed when the kernel begins: from arguments, extents
/// and constants.
bool isAvailable(const llvm::Value *V, unsigned Depth = 0);
/// Emits a copy of such a `V`.
llvm::Value *emitAvailable(llvm::IRBuilder<> &B, const llvm::Value *V);
/// The same of an expression that ScalarEvolution has found.
bool isAvailable(const llvm::SCEV &S);
llvm::Value *emitAvailable(llvm::IRBuilder<> &B, const llvm::SCEV &S);

/// Calls `Each` with conditions of branches, and whether they hold, that all
/// threads that come to `I` have found so.
void forEachCondition(
    const llvm::Instruction &I, const llvm::DominatorTree &DT,
    llvm::function_ref<void(const llvm::Value *Condition, bool Holds)> Each);

/// The indices that have one value in all threads that come to `I`, because of
/// the conditions under which they come there.
using FixedIndices = std::array<std::optional<int64_t>, NumIndices>;
FixedIndices fixedIndices(const llvm::Instruction &I,
                          const llvm::DominatorTree &DT);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_LAUNCHINDICES_H
