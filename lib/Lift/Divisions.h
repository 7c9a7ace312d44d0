// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Remainders that a mask leaves.
#ifndef CRSAN_LIFT_DIVISIONS_H
#define CRSAN_LIFT_DIVISIONS_H

#include "llvm/IR/PassManager.h"

namespace crsan::lift {

/// LLVM has no remainder of a division by a number that may be zero, so `rem`
/// stays assembly. Where the divisor is a power of two, as the span of a
/// butterfly is, and the dividend is not negative, the remainder is what a mask
/// leaves of the dividend, and the proofs of the pass know masks. (By zero, PTX
/// lets the remainder be anything.)
class MaskRemaindersPass : public llvm::PassInfoMixin<MaskRemaindersPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace crsan::lift

#endif // CRSAN_LIFT_DIVISIONS_H
