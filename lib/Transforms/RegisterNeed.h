// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many registers a kernel needs without checks.
#ifndef CRSAN_TRANSFORMS_REGISTERNEED_H
#define CRSAN_TRANSFORMS_REGISTERNEED_H

#include "llvm/IR/Module.h"
#include <optional>

namespace crsan {

/// How many registers of 32 bits the live values of `F` need, at the place
/// where they need most. ptxas takes about as many, or a few more. None for
/// functions that are too large to look at.
std::optional<unsigned> liveRegisters(const llvm::Function &F);

/// Tells crsan-ptxas (abi::FewRegistersComment, abi::ManyRegistersComment) of
/// kernels that seem to need fewer registers without checks than others are
/// limited to, or more (lib/Assembler/Registers.h). Returns those that seem to
/// need more. `OfFew`: whether it is told of those that need fewer. To be
/// called before anything is instrumented.
llvm::SmallPtrSet<const llvm::Function *, 4> tellRegisterNeeds(llvm::Module &M,
                                                               bool OfFew);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_REGISTERNEED_H
