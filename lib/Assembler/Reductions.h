// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomics whose results are not used.
//
// ptxas makes a reduction of such an atomic, which the GPU executes faster,
// but not in code that is linked afterwards, as the program's part is
// (RuntimeSplit.h).
#ifndef CRSAN_ASSEMBLER_REDUCTIONS_H
#define CRSAN_ASSEMBLER_REDUCTIONS_H

#include "ModuleItems.h"
#include <string>

namespace crsan::assembler {

/// The text of `Module`, which is `PTX`, in which each `atom` on global memory,
/// or on memory of an unknown space, is a `red` if nothing uses its result.
std::string useReductions(llvm::StringRef PTX,
                          llvm::ArrayRef<ModuleItem> Module);

} // namespace crsan::assembler

#endif // CRSAN_ASSEMBLER_REDUCTIONS_H
