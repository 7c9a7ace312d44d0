// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads whose value is needed.
//
// A compiler may execute a load although the source would not, if it does
// nothing with the value then. In code that another compiler has optimised, a
// load may be one of these. But a value that was loaded for nothing is
// discarded: a branch goes where nothing uses it, or a selection takes the
// other side. A load whose value has an effect on every path from it is one
// that the source executes, too. Paths that no thread takes do not count:
// behind a load for threads below 32, a branch for the other threads is not
// taken.
#ifndef CRSAN_TRANSFORMS_PROOFS_NEEDEDLOADS_H
#define CRSAN_TRANSFORMS_PROOFS_NEEDEDLOADS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

#include <map>
#include <tuple>
#include <vector>

namespace crsan {

class NeededLoads {
public:
  explicit NeededLoads(const llvm::DominatorTree &Dominators)
      : Dominators(Dominators) {}

  /// Whether all of the loaded value has an effect (is stored, decides a
  /// branch, is given to a call or a statement that has effects, or is
  /// returned) wherever the function goes from the load.
  bool isNeeded(const llvm::LoadInst &Load);

  /// Whether each element of a vector is taken out of it. A longer load than
  /// the source's has elements that nothing uses.
  static bool usesAllElements(const llvm::LoadInst &Load);

private:
  /// A comparison whose result is the same wherever the function computes it.
  using Condition =
      std::tuple<unsigned, const llvm::Value *, const llvm::Value *>;
  using Facts = std::map<Condition, bool>;

  static std::optional<std::pair<Condition, bool>>
  conditionOf(const llvm::Value &V);
  Facts factsAt(const llvm::Instruction &I) const;
  const llvm::BasicBlock *onlySuccessor(const llvm::BasicBlock &Block) const;
  bool holdsForAllElements(const llvm::LoadInst &Load);

  /// A value at the beginning of a block; at its definition, if there is none.
  using Point = std::pair<const llvm::Value *, const llvm::BasicBlock *>;

  bool holds(const llvm::Value &V);
  unsigned pointOf(Point P);
  bool evaluate(unsigned Number);
  bool isUsedIn(const llvm::Value &V, const llvm::BasicBlock &Block,
                unsigned For);
  bool isUsedBehind(const llvm::Value &V, const llvm::BasicBlock &Block,
                    unsigned For);
  bool ask(Point P, unsigned For);
  void settle();

  /// What is not known to be false is taken to be true, until nothing changes.
  struct State {
    Point Of;
    bool Holds = true, IsQueued = false;
    std::vector<unsigned> AskedBy;
  };
  const llvm::DominatorTree &Dominators;
  Facts Known; ///< Where the load is that is asked about.
  llvm::DenseMap<Point, unsigned> Numbers;
  std::vector<State> States;
  std::vector<unsigned> Queue;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_NEEDEDLOADS_H
