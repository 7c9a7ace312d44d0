// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many registers a kernel needs without checks.
#ifndef CRSAN_TRANSFORMS_REGISTERNEED_H
#define CRSAN_TRANSFORMS_REGISTERNEED_H

#include "llvm/IR/Module.h"

namespace crsan {

/// The registers, of 32 bits, that hold the values of `F` that are live where
/// most are. What ptxas takes without a limit is about as many or a few more;
/// UnknownRegisters for functions that are too large to look at.
unsigned liveRegisters(const llvm::Function &F);
inline constexpr unsigned UnknownRegisters = ~0u;

/// Limits kernels that need few registers without checks to ptx::FullResidency.
/// Their checks would take more, and halve the number of warps that hide each
/// other's latencies. To be called before anything is instrumented, and not
/// where functions of other units may be called.
void limitRegisters(llvm::Module &M);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_REGISTERNEED_H
