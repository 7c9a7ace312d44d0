// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module's PTX, without the runtime.
//
// In whole-program mode ptxas compiles a copy of the device runtime for every
// kernel, and gives every kernel the registers that the copy needs. If program
// and runtime are assembled apart and linked by nvlink, ptxas compiles the
// runtime once, and within a limit of registers of its own. The native twins of
// kernels (abi::TwinPrefix) are assembled only to learn how many registers they
// use.
#ifndef CRSAN_ASSEMBLER_RUNTIMESPLIT_H
#define CRSAN_ASSEMBLER_RUNTIMESPLIT_H

#include "ModuleItems.h"
#include <string>

namespace crsan::assembler {

struct RuntimeSplit {
  std::string Program; ///< The user's code, which declares the runtime's names.
  std::string Runtime; ///< The runtime's definitions; empty: there are none.
  std::string Twins;   ///< Native twins with what they refer to; empty: none.
};

/// Splits an instrumented module at file scope. Objects and functions whose
/// names begin with `__crsan_` are the runtime's, except for the module's own
/// objects (abi::ProgramPrefixes), and for native twins. A module that defines
/// no function of the runtime is all program.
RuntimeSplit splitRuntime(llvm::ArrayRef<ModuleItem> Module);

/// The text of `Module`, which is `PTX`, without native twins.
std::string dropTwins(llvm::StringRef PTX, llvm::ArrayRef<ModuleItem> Module);

} // namespace crsan::assembler

#endif // CRSAN_ASSEMBLER_RUNTIMESPLIT_H
