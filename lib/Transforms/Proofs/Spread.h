// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where threads access an array.
//
// The address of most accesses is a sum of a base, which all threads of a group
// have in common, and of multiples of a thread's indices. The extents of a
// launch then decide whether two threads can access one location: they cannot
// if each larger step exceeds all that the smaller steps can add up to.
#ifndef CRSAN_TRANSFORMS_PROOFS_SPREAD_H
#define CRSAN_TRANSFORMS_PROOFS_SPREAD_H

#include "Events/Event.h"
#include "Proofs/LaunchIndices.h"
#include "Proofs/Uniformity.h"

namespace crsan {

/// Upper bounds of a block's extents, by dimension.
using BlockBounds = std::array<uint64_t, 3>;
inline constexpr BlockBounds AnyBlock = {~0ull, ~0ull, ~0ull};

/// Where each thread of a group accesses the object that a pointer leads to.
class Spread {
public:
  /// Of the access \p E that \p I makes. None: it is not known how the
  /// addresses of threads differ.
  static std::optional<Spread> of(const Access &E, const llvm::Instruction &I,
                                  const llvm::Value *Root,
                                  const Uniformity &Among,
                                  const llvm::DominatorTree &DT);

  /// Whether a thread accesses the same address in every iteration of the loops
  /// around the access.
  bool isConstant(const Uniformity &Among) const;
  /// Emits whether no two threads of the group access one location.
  llvm::Value *emitAreApart(llvm::IRBuilder<> &B) const;

  bool operator==(const Spread &) const = default;

  /// The smallest spread that contains both. None: it would not keep threads
  /// apart.
  std::optional<Spread> hull(const Spread &Other) const;

  /// In blocks of which extents no two threads access one location, one thread
  /// by this access and the other by \p Other. None: perhaps in no blocks.
  std::optional<BlockBounds> disjoint(const Spread &Other) const;

private:
  /// The product of a constant and of values that are available when the kernel
  /// begins.
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
  /// A step of an index, by position in LaunchIndices.
  struct Digit {
    int64_t Step;
    unsigned Index;
  };

  bool add(const llvm::Value *V, Term T, const Uniformity &Among,
           unsigned Depth);
  bool extend(const llvm::Value *V, bool IsSigned, const Uniformity &Among,
              unsigned Depth);
  void fix(const llvm::Instruction &I, const llvm::DominatorTree &DT);
  llvm::SmallVector<unsigned, NumIndices> order() const;
  std::optional<llvm::SmallVector<Digit, NumThreadIndices>>
  digits(const Spread &Other) const;

  ThreadGroup Among = ThreadGroup::Block;
  uint64_t Size = 0; ///< Bytes of an access.
  /// The indices that are the same in all threads that make the access.
  FixedIndices Fixed = {};
  /// By how many bytes a step of each other index moves the access: a sum.
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
