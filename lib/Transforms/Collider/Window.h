// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stretches without synchronisation.
//
// A window is a stretch of one basic block without synchronisation; all of its
// accesses run if its first instruction does. Its accesses are checked together
// at the earliest points where their addresses can be computed (Group), all
// under one decision whether this execution of the window is sampled.
#ifndef CRSAN_TRANSFORMS_COLLIDER_WINDOW_H
#define CRSAN_TRANSFORMS_COLLIDER_WINDOW_H

#include "Events/Event.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"

namespace crsan {

/// A weak access, or a piece of one that a single aligned load can read.
struct WindowAccess : Access {
  llvm::Instruction *Inst;
  /// Of an access that an asynchronous copy makes later.
  std::optional<Completion> Async = std::nullopt;
  Location Barrier = {}; ///< Of Completion::Barrier.
  /// A watchpoint may be left on it until the copy ends.
  bool IsWatched = true;
  /// It is behind the branch in front of which it is checked (BranchWindow.h).
  bool IsBehindBranch = false;

  /// Where it is, but for a constant offset: that is added to `Offset`.
  Location base(llvm::APInt &Offset) const;
};

/// Whether the bytes of two accesses, by different lanes of a warp, may have
/// some in common.
bool mayOverlap(const Access &A, const Access &B);

/// Code that a check needs and that the program executes later, operands first.
using CodeAhead = llvm::SmallSetVector<llvm::Instruction *, 8>;
inline constexpr unsigned MostAhead = 32;

/// Accesses that one slow path checks, just before `Head`.
struct Group {
  llvm::Instruction *Head;
  llvm::SmallVector<WindowAccess, 8> Accesses;
  /// What computes the operands of the accesses and is behind Head. It is pure,
  /// and the slow path executes a copy: if the program's own code were moved,
  /// its results would take registers up to the accesses.
  CodeAhead Ahead = {};
  /// Loads of what a store among Accesses writes, on the store's line. What
  /// conflicts with such a load conflicts with the store, and nothing in the
  /// window orders the two apart, so that the store's check is enough.
  llvm::SmallVector<WindowAccess, 2> Covered = {};

  /// Whether a check may write to where the store `A` of this group writes:
  /// abi::TakesGarbage.
  bool takesGarbage(const WindowAccess &A) const;

  /// An access of the only instruction among them whose copy completes at an
  /// mbarrier; null: there is none.
  const WindowAccess *copyAtBarrier() const {
    const auto *It = llvm::find_if(Accesses, [](const WindowAccess &A) {
      return A.Async == Completion::Barrier;
    });
    return It == Accesses.end() ? nullptr : It;
  }
  /// Whether one of them is of a copy that its thread waits for.
  bool hasOwnCopy() const {
    return llvm::any_of(Accesses, [](const WindowAccess &A) {
      return A.Async && *A.Async != Completion::Barrier;
    });
  }
};

struct Window {
  llvm::SmallVector<Group, 2> Groups;
  /// Stores whose values lanes of a warp are compared by, in order.
  llvm::SmallVector<WindowAccess, 4> Stores;
};

/// Cuts `BB` into windows.
llvm::SmallVector<Window, 4> collectWindows(llvm::BasicBlock &BB);

/// Copies `Ahead` to where `B` is, and replaces its results by those of the
/// copies in `Accesses`.
void emitAhead(llvm::IRBuilder<> &B, const CodeAhead &Ahead,
               llvm::MutableArrayRef<WindowAccess> Accesses);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_COLLIDER_WINDOW_H
