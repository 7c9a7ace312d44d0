// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module's PTX, without the runtime.
//
// In whole-program mode ptxas compiles a copy of the device runtime for every
// kernel, and gives every kernel the registers that the copy needs. If program
// and runtime are assembled apart and linked by nvlink, ptxas compiles the
// runtime once, and within a limit of registers of its own. Native twins of
// kernels (lib/Transforms/NativeTwin.h) are the program's, but for those that
// are assembled only to learn how many registers they use.
#ifndef CRSAN_ASSEMBLER_RUNTIMESPLIT_H
#define CRSAN_ASSEMBLER_RUNTIMESPLIT_H

#include "ModuleItems.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace crsan::assembler {

struct RuntimeSplit {
  /// The user's code, which declares the runtime's names, with reductions
  /// (Reductions.h).
  std::string Program;
  std::string Runtime; ///< The runtime's definitions; empty: there are none.
  /// The native twins of `Asked` kernels, with what they refer to; empty: none.
  std::string Twins;
};

/// Splits an instrumented module at file scope. Objects and functions whose
/// names begin with `__crsan_` are the runtime's, except for the module's own
/// objects (abi::ProgramPrefixes), and for native twins. A module that defines
/// no function of the runtime is all program. `Asked`: the kernels whose twins
/// are asked for their registers.
RuntimeSplit splitRuntime(llvm::ArrayRef<ModuleItem> Module,
                          const llvm::StringSet<> &Asked);

/// The text of `Module`, which is `PTX`, without the twins that are only asked.
std::string dropSpareTwins(llvm::StringRef PTX,
                           llvm::ArrayRef<ModuleItem> Module);

} // namespace crsan::assembler

#endif // CRSAN_ASSEMBLER_RUNTIMESPLIT_H
