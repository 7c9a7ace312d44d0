// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads whose value is needed.
//
// A compiler may execute a load although the source would not, if it does
// nothing with the value then. In code that another compiler has optimised, a
// load may be one of these. But a value that was loaded for nothing is
// discarded: a branch goes where nothing uses it, or a selection takes the
// other side. A load whose value has an effect on every path from it is one
// that the source executes, too.
#ifndef CRSAN_TRANSFORMS_PROOFS_NEEDEDLOADS_H
#define CRSAN_TRANSFORMS_PROOFS_NEEDEDLOADS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"

#include <vector>

namespace crsan {

class NeededLoads {
public:
  /// Whether all of the loaded value has an effect (is stored, decides a
  /// branch, is given to a call or a statement that has effects, or is
  /// returned) wherever the function goes from the load.
  bool isNeeded(const llvm::LoadInst &Load);

  /// Whether each element of a vector is taken out of it. A longer load than
  /// the source's has elements that nothing uses.
  static bool usesAllElements(const llvm::LoadInst &Load);

private:
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
  llvm::DenseMap<Point, unsigned> Numbers;
  std::vector<State> States;
  std::vector<unsigned> Queue;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PROOFS_NEEDEDLOADS_H
