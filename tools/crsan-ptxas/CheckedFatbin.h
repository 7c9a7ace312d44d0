// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fat binary of PTX with checks.
#ifndef CRSAN_PTXAS_CHECKEDFATBIN_H
#define CRSAN_PTXAS_CHECKEDFATBIN_H

#include "Arguments.h"

namespace crsan::ptxas {

/// The PTX, and its machine code for each architecture of A.FatbinFor, as
/// NVIDIA's fatbinary puts them together. Relocatable modules are linked, and
/// their PTX is left out: the driver would not link it.
llvm::Expected<std::string> fatbinOf(llvm::ArrayRef<std::string> Modules,
                                     const Arguments &A);

/// What the fat binary depends on beside the PTX; empty: none is asked for.
std::string fatbinKey(const Arguments &A);

} // namespace crsan::ptxas

#endif // CRSAN_PTXAS_CHECKEDFATBIN_H
