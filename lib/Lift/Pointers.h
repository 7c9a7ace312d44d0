// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which variable or argument an address belongs to.
#ifndef CRSAN_LIFT_POINTERS_H
#define CRSAN_LIFT_POINTERS_H

#include "llvm/IR/PassManager.h"

namespace crsan::lift {

/// In PTX, addresses are numbers. This pass makes pointers of the numbers that
/// addresses are computed from, so that LLVM's analyses, and the proofs of the
/// pass, see to which variable or argument an access belongs: an integer sum
/// that becomes a pointer is instead the pointer of its base, and an offset.
/// The base is what has been a pointer before, or comes from memory or a call,
/// where the other operand is an index: it has been multiplied, shifted,
/// extended or masked, or is a constant. A sum with two bases stays as it is.
class RecoverPointersPass : public llvm::PassInfoMixin<RecoverPointersPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace crsan::lift

#endif // CRSAN_LIFT_POINTERS_H
