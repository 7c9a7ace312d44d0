// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A large module, compiled by several processes.
#ifndef CRSAN_LIFT_SHARES_H
#define CRSAN_LIFT_SHARES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Module.h"
#include <optional>
#include <string>

namespace crsan::lift {

/// Has processes of their own compile `M`, each a share of the kernels, and
/// returns the PTX of all. `Compile` returns the PTX of what is left of the
/// module. `MayLeaveOut`: functions that need no body in a process whose
/// kernels only call them.
///
/// Which kernels are a share, and so the text, depends on the module alone. The
/// module stays as it is. Nothing: the module is small, its kernels cannot be
/// told apart, or a process failed; then the caller has to compile it, and will
/// see why.
std::optional<std::string>
compileInShares(llvm::Module &M,
                llvm::function_ref<bool(const llvm::Function &)> MayLeaveOut,
                llvm::function_ref<std::string()> Compile);

} // namespace crsan::lift

#endif // CRSAN_LIFT_SHARES_H
