//===- Spread.h - Where threads access an array -----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The address of most accesses is a sum: of something that all threads have in
// common, and of multiples of a thread's indices. Whether no two threads of a
// launch have the same follows from its extents, each larger step being over
// all that the smaller ones reach.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_PROOFS_SPREAD_H
#define CRSAN_TRANSFORMS_PROOFS_SPREAD_H

#include "Events/Event.h"
#include "Proofs/Uniformity.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"

#include <array>
#include <optional>

namespace crsan {

/// What blocks must not be larger than, by dimension.
using BlockBounds = std::array<uint64_t, 3>;
inline constexpr BlockBounds AnyBlock = {~0ull, ~0ull, ~0ull};

/// Where the threads of a group access what a pointer leads to.
class Spread {
public:
  /// Of the event \p E at \p I. None: it is not known how the places of threads
  /// differ.
  static std::optional<Spread> of(const Access &E, const llvm::Instruction &I,
                                  const llvm::Value *Root,
                                  const Uniformity &Among,
                                  const llvm::DominatorTree &DT);

  /// Whether it is so in every iteration of whatever loop they are in.
  bool isConstant(const Uniformity &Among) const;
  /// Whether the places of all threads of the group are apart.
  llvm::Value *emitAreApart(llvm::IRBuilder<> &B) const;

  bool operator==(const Spread &) const = default;

  /// What of both is a thread's, if that is one place; or none.
  std::optional<Spread> hull(const Spread &Other) const;

  /// For which blocks no two threads have a place in common, the one of these
  /// and the other of \p Other; none: for no blocks, as far as one can tell.
  std::optional<BlockBounds> disjoint(const Spread &Other) const;

private:
  /// The product of all of these.
  struct Term {
    int64_t Scale;
    llvm::SmallVector<const llvm::Value *, 2> Factors;
    bool IsSigned;
    bool operator==(const Term &) const = default;
  };
  struct Common : Term {
    const llvm::Value *Of;
    bool operator==(const Common &) const = default;
  };
  /// A thread's and a block's index in each dimension.
  static constexpr unsigned NumIndices = 6;
  static std::optional<unsigned> indexOf(const llvm::Value *V,
                                         ThreadGroup Among);

  bool add(const llvm::Value *V, Term T, const Uniformity &Among,
           unsigned Depth);
  bool extend(const llvm::Value *V, bool IsSigned, const Uniformity &Among,
              unsigned Depth);
  void fix(const llvm::Instruction &I, const llvm::DominatorTree &DT);
  llvm::SmallVector<unsigned, NumIndices> order() const;
  static llvm::Value *emitExtent(llvm::IRBuilder<> &B, unsigned Index);
  static llvm::Value *emitMost(llvm::IRBuilder<> &B, const llvm::Value *V);

  ThreadGroup Among = ThreadGroup::Block;
  uint64_t Size = 0; ///< Of an access.
  /// Those of which only threads of one value come there.
  std::array<bool, NumIndices> IsFixed = {};
  /// By how many bytes a step of each other index moves it: a sum.
  std::array<llvm::SmallVector<Term, 1>, NumIndices> Strides = {};
  /// What all threads have in common: a sum.
  llvm::SmallVector<Common, 2> Base = {};
  int64_t Constant = 0;
  /// Sums of indices that have to be less than 2^31.
  llvm::SmallVector<const llvm::Value *, 1> Bounded = {};
};

/// What has to hold of a launch for an access not to race.
struct Requirement {
  llvm::SmallVector<Spread, 1> Apart; ///< Of the threads, by each.
  BlockBounds Most = AnyBlock;

  bool isAlways() const { return Apart.empty() && Most == AnyBlock; }
  bool operator==(const Requirement &) const = default;
  llvm::Value *emit(llvm::IRBuilder<> &B) const;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_SPREAD_H
