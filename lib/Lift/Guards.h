// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads go back behind their conditions.
#ifndef CRSAN_LIFT_GUARDS_H
#define CRSAN_LIFT_GUARDS_H

#include "llvm/IR/PassManager.h"

namespace crsan::lift {

/// A compiler that speculates a load makes a selection of the branch that
/// guarded it: `C ? *P : X` loads first, and selects then. Such a load cannot
/// be checked, since the source may not execute it (Proofs/NeededLoads.h). This
/// pass makes a branch of the selection again, with the load behind it, so that
/// the load is executed where the source executes it. A condition that is
/// combined with a comparison of the loaded value (`C && *P > 3`) guards it in
/// the same way. Nothing that writes memory or orders it may stand between the
/// load and the selection.
class GuardLoadsPass : public llvm::PassInfoMixin<GuardLoadsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace crsan::lift

#endif // CRSAN_LIFT_GUARDS_H
