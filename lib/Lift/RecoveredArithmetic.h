// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic as proofs know it.
#ifndef CRSAN_LIFT_RECOVEREDARITHMETIC_H
#define CRSAN_LIFT_RECOVEREDARITHMETIC_H

#include "llvm/IR/PassManager.h"

namespace crsan::lift {

/// Writes arithmetic of PTX in the way that the proofs of the pass know.
///
/// A bitwise or of values that have no bit in common is marked as their sum:
/// the compiler that wrote the PTX has made it of a sum. `X - (X & M)`, with
/// which it spells out remainders by powers of two, becomes a mask. `X - A - B`
/// becomes the difference of X and the sum, if there is that sum.
///
/// LLVM has no remainder of a division by a number that may be zero, so `rem`
/// stays assembly. Where the divisor is a power of two, as the span of a
/// butterfly is, and the dividend is not negative, the remainder is what a mask
/// leaves of the dividend. (By zero, PTX lets the remainder be anything.)
class RecoverArithmeticPass
    : public llvm::PassInfoMixin<RecoverArithmeticPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace crsan::lift

#endif // CRSAN_LIFT_RECOVEREDARITHMETIC_H
