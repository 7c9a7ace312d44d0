// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is added to a module's PTX.
#ifndef CRSAN_ASSEMBLER_ADDEDDATA_H
#define CRSAN_ASSEMBLER_ADDEDDATA_H

#include "ModuleItems.h"
#include <optional>
#include <string>

namespace crsan::assembler {

/// `PTX` with abi::AssembledMark in the configuration that the module defines;
/// nothing if it defines none of this version's size. The library checks no
/// image without the mark.
std::optional<std::string> withMark(llvm::StringRef PTX);

/// `PTX` with itself appended, compressed, as a variable (abi::PTXPrefix). Of
/// relocatable code, a variable is what survives objects, archives and the
/// device linker, and the simulated GPU runs the program from it.
std::string withItself(llvm::StringRef PTX);

} // namespace crsan::assembler

#endif // CRSAN_ASSEMBLER_ADDEDDATA_H
