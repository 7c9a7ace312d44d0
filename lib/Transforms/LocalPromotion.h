// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables of a thread are kept in registers throughout loops.
//
// LLVM's promotion of memory to registers in loops is switched off, since it
// takes the marks of accesses away (OptimizerSettings.h). Variables of a thread
// have no marks: other threads cannot access them. Without this pass, kernels
// that keep arrays in local memory take several times as long.
#ifndef CRSAN_TRANSFORMS_LOCALPROMOTION_H
#define CRSAN_TRANSFORMS_LOCALPROMOTION_H

#include "llvm/IR/PassManager.h"

namespace crsan {

/// Promotes the variables of a thread, and nothing else, in a device function.
class PromoteLocalsPass : public llvm::PassInfoMixin<PromoteLocalsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &Analyses);
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_LOCALPROMOTION_H
