// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses of different lines stay different accesses.
//
// LLVM makes one instruction of two that the sides of a branch have in common,
// and a finding would name the line of one side for both. Memory model
// relaxation annotations (!mmra) prevent that: LLVM merges no accesses across a
// branch if theirs differ.
#ifndef CRSAN_TRANSFORMS_SITES_LINEMARKS_H
#define CRSAN_TRANSFORMS_SITES_LINEMARKS_H

#include "llvm/IR/PassManager.h"

namespace crsan {

/// Annotates each access of a function with its place in the source, call sites
/// of inlined functions included. Runs after inlining and before accesses are
/// merged; what runs in between and afterwards copies the annotations.
class MarkLinesPass : public llvm::PassInfoMixin<MarkLinesPass> {
public:
  explicit MarkLinesPass(bool Host) : Host(Host) {}
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &);
  static bool isRequired() { return true; }

private:
  bool Host; ///< In host code, too.
};

/// Takes the annotations of MarkLinesPass away.
void removeLineMarks(llvm::Function &F);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_SITES_LINEMARKS_H
