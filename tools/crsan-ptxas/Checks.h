// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks for PTX that has none.
#ifndef CRSAN_PTXAS_CHECKS_H
#define CRSAN_PTXAS_CHECKS_H

#include "CudaRaceSanitizer.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace crsan::ptxas {

/// Whether a module has checks, or shall have none because it was said already
/// that there can be none (asUnchecked).
bool isFinal(llvm::StringRef PTX);

/// The module with checks. Each function that is not checked gets a line on
/// stderr; nothing if the whole module is not checked, after one line with the
/// reason. `File` is what the lines call the module.
std::optional<std::string> withChecks(llvm::StringRef PTX, Mode Checks,
                                      llvm::StringRef File);

/// The same module, so that nobody tries again to check it.
std::string asUnchecked(llvm::StringRef PTX);

/// Says that a module is not checked, and why.
void sayUnchecked(llvm::StringRef File, llvm::StringRef Why);

} // namespace crsan::ptxas

#endif // CRSAN_PTXAS_CHECKS_H
