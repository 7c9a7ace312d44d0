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

/// Gives the variables of \p M in constant and shared memory an alignment of 16
/// bytes if their sizes are multiples of 16. In a program that is not linked
/// ptxas knows where variables lie, and accesses neighbouring elements
/// together. Code with checks is linked, and of the variables of such code
/// ptxas knows the alignment only. nvlink places the variables of the greatest
/// alignment first, so no gaps arise between them. Unless \p IsWholeProgram,
/// weak variables stay as they are: of definitions in several modules the
/// linker takes one.
void alignVariables(llvm::Module &M, bool IsWholeProgram);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_WHOLEPROGRAM_H
