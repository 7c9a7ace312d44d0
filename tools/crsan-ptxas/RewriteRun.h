// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX in, PTX with checks out.
#ifndef CRSAN_PTXAS_REWRITERUN_H
#define CRSAN_PTXAS_REWRITERUN_H

#include "Arguments.h"

namespace crsan::ptxas {

/// Puts checks into the module of a file or of the standard input, or finds it
/// with checks in the cache (lib/Driver/Cache.h), and writes it to the output
/// or to the standard output, below the lines of abi/Rewritten.h. A module that
/// cannot be checked is written as it is. Returns the exit code.
int runRewrite(const Arguments &A);

} // namespace crsan::ptxas

#endif // CRSAN_PTXAS_REWRITERUN_H
