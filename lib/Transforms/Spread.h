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
#ifndef CRSAN_TRANSFORMS_SPREAD_H
#define CRSAN_TRANSFORMS_SPREAD_H

#include "Event.h"
#include "Uniformity.h"
#include "llvm/IR/IRBuilder.h"

#include <array>
#include <optional>

namespace crsan {

/// Where the threads of a group access what a pointer leads to.
class Spread {
public:
  /// None: it is not known how the places of threads differ.
  static std::optional<Spread> of(const Event &E, const llvm::Value *Root,
                                  const Uniformity &Among,
                                  const llvm::DataLayout &DL);

  /// Whether it is so in every iteration of whatever loop they are in.
  bool isConstant(const Uniformity &Among) const;
  /// Whether the places of all threads of the group are apart.
  llvm::Value *emitAreApart(llvm::IRBuilder<> &B) const;

  /// Whether each thread accesses one place by both, and that is known alike.
  bool operator==(const Spread &) const = default;

private:
  /// `Scale` times `Factor`, which is 1 if null.
  struct Term {
    int64_t Scale;
    const llvm::Value *Factor;
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
  llvm::SmallVector<unsigned, NumIndices> order() const;
  static llvm::Value *emitExtent(llvm::IRBuilder<> &B, unsigned Index);
  static llvm::Value *emitMost(llvm::IRBuilder<> &B, const llvm::Value *V);

  ThreadGroup Among = ThreadGroup::Block;
  uint64_t Size = 0; ///< Of an access.
  /// By how many bytes a step of each index moves it: a sum.
  std::array<llvm::SmallVector<Term, 1>, NumIndices> Strides = {};
  /// What all threads have in common: a sum.
  llvm::SmallVector<Common, 2> Base = {};
  int64_t Constant = 0;
  /// Sums of indices that have to be less than 2^31.
  llvm::SmallVector<const llvm::Value *, 1> Bounded = {};
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_SPREAD_H
