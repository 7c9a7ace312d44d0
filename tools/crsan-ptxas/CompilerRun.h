// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVIDIA's compiler, and checks in what it makes.
#ifndef CRSAN_PTXAS_COMPILERRUN_H
#define CRSAN_PTXAS_COMPILERRUN_H

#include "Arguments.h"

namespace crsan::ptxas {

/// Runs cicc, and puts checks into the PTX that it writes. Returns the exit
/// code. A module that cannot be checked stays as it is.
int runCompiler(const Arguments &A);

} // namespace crsan::ptxas

#endif // CRSAN_PTXAS_COMPILERRUN_H
