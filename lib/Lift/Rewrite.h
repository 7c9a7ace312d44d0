// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX -> PTX with checks.
#ifndef CRSAN_LIFT_REWRITE_H
#define CRSAN_LIFT_REWRITE_H

#include "CudaRaceSanitizer.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace crsan::lift {

struct Rewritten {
  std::string PTX;
  /// A line for each function that is not checked, with the reason.
  std::vector<std::string> Unchecked;
};

/// Lifts a module, instruments it as `Checks` say (nothing: lifts it only), and
/// prints it. An error, one line, if it cannot be done: then the module is to
/// be used as it is.
llvm::Expected<Rewritten> rewrite(std::string PTX,
                                  const std::optional<Options> &Checks);

} // namespace crsan::lift

#endif // CRSAN_LIFT_REWRITE_H
