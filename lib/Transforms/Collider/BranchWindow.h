// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses on the sides of a branch.
#ifndef CRSAN_TRANSFORMS_COLLIDER_BRANCHWINDOW_H
#define CRSAN_TRANSFORMS_COLLIDER_BRANCHWINDOW_H

#include "Collider/Window.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/Dominators.h"

namespace crsan {

/// Where lanes of a warp part at the end of `BB`, hardware executes the sides
/// of the branch one after the other, so that lanes of different sides never
/// meet at a check. Here are the accesses that lanes make behind the branch
/// before they synchronise, each under the condition that the lane goes its
/// way, for a check in front of the branch, where the lanes are still together.
/// Nothing if no access of one side may conflict with one of another, or with
/// one behind the place where the sides meet.
std::optional<Window> branchWindow(llvm::BasicBlock &BB,
                                   llvm::UniformityInfo &InWarp,
                                   const llvm::DominatorTree &DT);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_COLLIDER_BRANCHWINDOW_H
