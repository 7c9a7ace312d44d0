// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that are a whole device program.
#ifndef CRSAN_TRANSFORMS_WHOLEPROGRAM_H
#define CRSAN_TRANSFORMS_WHOLEPROGRAM_H

#include "llvm/IR/PassManager.h"

namespace crsan {

/// Drops the functions that nothing in \p M calls, and makes the others local:
/// without relocatable device code nothing else is linked with the
/// module, but clang keeps its functions visible. What other modules might call
/// they might call where threads are not known to be together, so a barrier in
/// such a function makes all barriers of the module costly.
void dropUncalled(llvm::Module &M, llvm::FunctionAnalysisManager &FAM);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_WHOLEPROGRAM_H
