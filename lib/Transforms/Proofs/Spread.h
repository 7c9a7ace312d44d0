// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where threads access an array.
//
// The address of most accesses is a sum of a base, which all threads of a group
// have in common, of multiples of a thread's indices, and of multiples of what
// the thread itself counts, such as the iterations of a loop. The extents of a
// launch then decide whether two threads can access one location: they cannot
// if each larger step exceeds all that the smaller steps can add up to.
#ifndef CRSAN_TRANSFORMS_PROOFS_SPREAD_H
#define CRSAN_TRANSFORMS_PROOFS_SPREAD_H

#include "Events/Event.h"
#include "Proofs/LaunchIndices.h"
#include "Proofs/Uniformity.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include <functional>
#include <vector>

namespace crsan {

/// Upper bounds of a block's extents, by dimension.
using BlockBounds = std::array<uint64_t, 3>;
inline constexpr BlockBounds AnyBlock = {~0ull, ~0ull, ~0ull};

/// An integer or a pointer that is taken for a constant, in one case of a proof
/// by cases.
struct Assumption {
  const llvm::Value *Of;
  llvm::Constant *Is;
  bool operator==(const Assumption &) const = default;
};

/// What proofs about the addresses of a kernel's threads are based on.
struct AddressFacts {
  const Uniformity &Among;
  const llvm::DominatorTree &DT;
  const llvm::LoopInfo &Loops;
  llvm::ScalarEvolution &SE;
  /// Whether threads of the group may be in different iterations of the loop
  /// where their accesses are unordered.
  std::function<bool(const llvm::Loop &)> MayDiffer;
  llvm::ArrayRef<Assumption> Assumed = {};

  /// What `V` is assumed to be; null: nothing is.
  llvm::Constant *assumed(const llvm::Value *V) const;
  /// The constant that the integer `V` is, if it is one.
  std::optional<llvm::APInt> constant(const llvm::Value *V,
                                      unsigned Depth = 0) const;
};

struct Ending;

/// Where each thread of a group accesses the object that a pointer leads to.
class Spread {
public:
  /// Of the access \p E that \p I makes. None: it is not known how the
  /// addresses of threads differ.
  static std::optional<Spread> of(const Access &E, const llvm::Instruction &I,
                                  const llvm::Value *Root,
                                  const AddressFacts &Facts);

  /// What the loop adds to \p P in each iteration: the sum of these. Empty: it
  /// is not known, or \p P is none of the loop's.
  static llvm::SmallVector<const llvm::Value *, 1>
  stepsOf(const llvm::PHINode &P, const llvm::Loop &L);

  /// Calls \p Each for every value that decides where threads access the
  /// object, other than their indices and what they count themselves, until it
  /// returns false. Returns whether it never did.
  bool allOfCommon(llvm::function_ref<bool(const llvm::Value *)> Each) const;
  /// Emits whether no two threads of the group access one location.
  llvm::Value *emitAreApart(llvm::IRBuilder<> &B) const;

  bool operator==(const Spread &) const = default;

  /// A spread that contains both. None: it would not keep threads apart.
  std::optional<Spread> hull(const Spread &Other) const;

  /// Bounds of the block's extents within which no two threads access one
  /// location. None: that is not known for any.
  std::optional<BlockBounds> apart() const;

  /// In blocks of which extents no two threads access one location, one thread
  /// by this access and the other by \p Other. None: perhaps in no blocks.
  std::optional<BlockBounds> disjoint(const Spread &Other) const;
  /// The same, because one of the two ends before the other begins.
  std::optional<BlockBounds> endBefore(const Spread &Other) const;
  /// The same, as what has to hold of the launch.
  std::optional<Ending> endBeforeIf(const Spread &Other) const;

private:
  /// The product of a constant and of values that are available when the kernel
  /// begins.
  struct Term {
    int64_t Scale;
    llvm::SmallVector<const llvm::Value *, 2> Factors;
    bool IsSigned;
    bool operator==(const Term &) const = default;
    bool isLike(const Term &Other) const {
      return Factors == Other.Factors && IsSigned == Other.IsSigned;
    }
  };
  using Sum = llvm::SmallVector<Term, 1>;
  struct Common : Term {
    const llvm::Value *Of; ///< Null: the term is all.
    bool operator==(const Common &) const = default;
  };
  /// What each thread counts by itself: the iterations of a loop, or the
  /// accesses and ways of which it may take any.
  struct Counter {
    Term Step;
    /// The first of the loop's, whichever counts; or what a loop has counted
    /// when it ends; or null.
    const llvm::PHINode *Of;
    std::optional<uint64_t> Number;
    const llvm::SCEV *Last; ///< What it counts to, if not known yet; or null.
    uint64_t Beyond = 0;    ///< By how much more than `Last`.
    bool operator==(const Counter &) const = default;
    bool isLike(const Counter &Other) const {
      return Of == Other.Of && Step == Other.Step;
    }
    /// Whether one of the two is of a loop, and the other counts as far.
    bool isAsLong(const Counter &Other) const {
      return !(Of && Other.Of) && Step == Other.Step && Last &&
             Last == Other.Last;
    }
  };
  /// An index that is less than a value that all threads have in common.
  struct Limit {
    unsigned Index;
    const llvm::Value *Below;
    bool IsSigned;
    bool operator==(const Limit &) const = default;
  };
  /// What some of the movers add up to at most, because of a condition under
  /// which threads make the access.
  struct Cap {
    Term Most;
    std::array<bool, NumIndices> Indices;
    llvm::SmallVector<const llvm::PHINode *, 2> Counters; ///< And all without.
    bool operator==(const Cap &) const = default;
  };
  /// A sum of indices, the whole, as a quotient and a remainder: of the two,
  /// what moves the access instead of the indices.
  struct Piece {
    std::vector<Spread> Whole; ///< One, which has indices only.
    int64_t By;
    Sum Quotient, Remainder;
    std::optional<int64_t> FixedRemainder = std::nullopt;
    /// The remainder is fixed only if `By` divides these.
    Sum Multiples = {};
    bool operator==(const Piece &) const = default;
  };
  /// A step of an index, by position in LaunchIndices.
  struct Digit {
    int64_t Step;
    unsigned Index;
  };
  struct Mover;

  static constexpr unsigned MostFactors = 3;

  friend struct Ending;
  explicit Spread(ThreadGroup Among) : Among(Among) {}
  /// The index that `V` is, if threads of one group may differ in it.
  static std::optional<unsigned> indexAmong(const llvm::Value *V,
                                            ThreadGroup Among);
  static const llvm::Value *startOf(const llvm::PHINode &P,
                                    const llvm::Loop &L);
  bool add(const llvm::Value *V, Term T, const AddressFacts &Facts,
           unsigned Depth);
  bool addParts(const llvm::Value *V, Term T, const AddressFacts &Facts,
                unsigned Depth);
  bool addIterations(const llvm::PHINode &P, Term T, const AddressFacts &Facts,
                     unsigned Depth);
  bool addCounted(const llvm::PHINode &X, const Term &T,
                  const AddressFacts &Facts, unsigned Depth);
  const llvm::Value *addSteps(const llvm::PHINode &P,
                              const AddressFacts &Facts);
  bool multiplyByStep(Term &T, const llvm::Value *Step,
                      const AddressFacts &Facts, unsigned Depth);
  bool multiplyBySteps(Term &T, llvm::ArrayRef<const llvm::Value *> Steps,
                       const AddressFacts &Facts, unsigned Depth);
  bool countIterations(const llvm::Loop &L, const llvm::PHINode *Of, Term Step,
                       unsigned More, const AddressFacts &Facts);
  bool addOneOf(llvm::ArrayRef<const llvm::Value *> Values, const Term &T,
                const AddressFacts &Facts, unsigned Depth);
  bool addMultiple(const Spread &X, const Term &T);
  bool addMasked(const llvm::Instruction &I, Term T, const AddressFacts &Facts,
                 unsigned Depth);
  bool addPiece(const llvm::Value *Whole, int64_t By, Sum Piece::*Part,
                bool IsSigned, Term T, const AddressFacts &Facts,
                unsigned Depth);
  bool isMoreByMultiples(const Spread &Less, int64_t By) const;
  bool multiply(Term &T, const llvm::Value *V) const;
  void addConstant(int64_t Number, const Term &T);
  void addCommon(Common C);
  void addWhole(const llvm::Value *V, Term T);
  static void addTo(Sum &To, Term T);
  bool count(Counter C);
  bool countBeside(Counter C);
  bool countDistance(Term D, const Spread &Lower, const Spread &Upper);
  bool extend(const llvm::Value *V, bool IsSigned, const AddressFacts &Facts,
              unsigned Depth);
  bool fit(const llvm::Instruction &I, bool IsSigned, const AddressFacts &Facts,
           unsigned Depth);
  void require(llvm::ArrayRef<Spread> Sums);
  void requireSmall(Spread S);
  std::optional<uint64_t> most() const;
  llvm::Value *emitMost(llvm::IRBuilder<> &B) const;
  llvm::Value *emitAreBounded(llvm::IRBuilder<> &B) const;
  llvm::Value *emitLast(llvm::IRBuilder<> &B, unsigned Index) const;
  void fix(const llvm::Instruction &I, const llvm::DominatorTree &DT);
  bool cutStrides();
  void fixRemainder(const llvm::Instruction &I, const AddressFacts &Facts);
  void bound(const llvm::Instruction &I, const AddressFacts &Facts);
  /// What `P` is less than whenever an iteration of its loop begins.
  struct Bound {
    llvm::Value *Below;
    bool IsSigned;
  };
  static std::optional<Bound> boundOf(const llvm::PHINode &P,
                                      const AddressFacts &Facts);
  bool fitIterations(const llvm::PHINode &P, const llvm::Loop &L, bool IsSigned,
                     const AddressFacts &Facts, unsigned Depth);
  llvm::Value *endOf(const llvm::PHINode &P, const llvm::Loop &L, bool IsSigned,
                     const AddressFacts &Facts, unsigned Depth);
  bool addAmount(const llvm::PHINode &P, const Term &T,
                 const AddressFacts &Facts, unsigned Depth);
  bool isOfPositive() const;
  void boundBy(const llvm::Value *Condition, bool Holds,
               const AddressFacts &Facts);
  void boundBelow(const llvm::Value *A, const llvm::Value *B, bool IsSigned,
                  bool IsStrict, const AddressFacts &Facts);
  void joinCounters();
  void cap(const Spread &D, int64_t Left);
  void keepCaps(const Spread &Lower, const Spread &Upper, const Term &D);
  llvm::SmallVector<Mover, NumIndices> movers() const;
  llvm::Value *emitAreApart(llvm::IRBuilder<> &B, bool AreAllThreads) const;
  bool areApart(BlockBounds &In, bool AreAllThreads) const;
  bool isLimitedBelow(const Spread &Other) const;
  std::optional<int64_t> end(const BlockBounds &In) const;
  std::optional<llvm::SmallVector<Digit, NumThreadIndices>>
  digits(const Spread &Other) const;

  ThreadGroup Among = ThreadGroup::Block;
  uint64_t Size = 0; ///< Bytes of an access.
  /// Only how large the sum may be matters.
  bool IsAmount = false;
  /// The indices that are the same in all threads that make the access.
  FixedIndices Fixed = {};
  /// What other indices are less than, because of the conditions under which
  /// threads make the access.
  std::array<std::optional<int64_t>, NumIndices> Ends = {};
  std::array<int64_t, NumIndices> Begins = {}; ///< The least that they are.
  llvm::SmallVector<Limit, 1> Limits = {};
  llvm::SmallVector<Cap, 1> Caps = {};
  /// By how many bytes a step of each other index moves the access.
  std::array<Sum, NumIndices> Strides = {};
  llvm::SmallVector<Counter, 2> Counters = {};
  /// What all threads have in common: a sum.
  llvm::SmallVector<Common, 2> Base = {};
  int64_t Constant = 0;
  std::vector<Piece> Pieces = {}; ///< One at most.
  /// Sums that have to be less than 2^31.
  std::vector<Spread> Bounded = {};
};

/// All places of an access are within a number of bytes.
struct Ending {
  Spread Of;
  int64_t Within;

  bool operator==(const Ending &) const = default;
  llvm::Value *emit(llvm::IRBuilder<> &B) const;
};

/// What has to hold of a launch for an access not to race.
struct Requirement {
  llvm::SmallVector<Spread, 1> Apart; ///< Of the threads, by each.
  std::vector<Ending> Endings;
  BlockBounds Most = AnyBlock;

  bool isAlways() const {
    return Apart.empty() && Endings.empty() && Most == AnyBlock;
  }
  /// Allows only blocks of at most these extents.
  void restrictTo(const BlockBounds &In) {
    for (unsigned D = 0; D < Most.size(); ++D)
      Most[D] = std::min(Most[D], In[D]);
  }
  bool operator==(const Requirement &) const = default;
  llvm::Value *emit(llvm::IRBuilder<> &B) const;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_SPREAD_H
