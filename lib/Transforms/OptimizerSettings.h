// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What LLVM's optimizer must not do, and its code generator need not.
#ifndef CRSAN_TRANSFORMS_OPTIMIZERSETTINGS_H
#define CRSAN_TRANSFORMS_OPTIMIZERSETTINGS_H

#include "llvm/IR/LLVMContext.h"

namespace crsan {

/// Sets those of LLVM's command line options, for the whole compilation, by
/// which each access keeps its mark and its line (of host code: as far as that
/// costs little). An option that this LLVM does
/// not have, or that takes no truth value, is an error: accesses would lose
/// their marks, and their races would be missed.
void adjustOptimizer(llvm::LLVMContext &C, bool IsHostCode);

/// Sets the option that spares the code generator work which grows with the
/// square of the number of checks. It makes the same code.
void hastenCodeGenerator();

/// While this lives, LLVM promotes memory to registers in loops, which
/// adjustOptimizer() has forbidden. The option is of the whole process: no
/// other thread may run LLVM's passes meanwhile.
class PromotionInLoops {
public:
  PromotionInLoops();
  ~PromotionInLoops();
  PromotionInLoops(const PromotionInLoops &) = delete;
  PromotionInLoops &operator=(const PromotionInLoops &) = delete;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_OPTIMIZERSETTINGS_H
