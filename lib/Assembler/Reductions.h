// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomics whose results are not used.
//
// ptxas makes a reduction of such an atomic, which the GPU executes faster,
// but not in code that is linked afterwards, as the program's part is
// (RuntimeSplit.h).
#ifndef CRSAN_ASSEMBLER_REDUCTIONS_H
#define CRSAN_ASSEMBLER_REDUCTIONS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace crsan::assembler {

/// The text of a function of a module, in which each `atom` on global memory,
/// or on memory of an unknown space, is a `red` if nothing uses its result.
std::string useReductions(llvm::StringRef Function);

} // namespace crsan::assembler

#endif // CRSAN_ASSEMBLER_REDUCTIONS_H
