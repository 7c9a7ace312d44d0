// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From instrumented PTX to machine code.
//
// A program and its device runtime are assembled apart and linked
// (RuntimeSplit.h says why). Relocatable code is assembled whole, and carries
// its PTX (AddedData.h). In both, what ptxas does to the lanes of a warp
// because of checks is undone (Convergence.h), kernels keep to the registers
// with which they can be launched as without checks (Registers.h), and a mark
// in the image tells the library so (abi::Config::Assembled).
//
// An image is never made in another way than this: if a step fails, so does
// the compilation, because without that step checks could disturb the program.
#ifndef CRSAN_ASSEMBLER_ASSEMBLY_H
#define CRSAN_ASSEMBLER_ASSEMBLY_H

#include "Registers.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace crsan::assembler {

/// What ptxas would be asked to do.
struct Request {
  std::string Toolkit; ///< The folder of the CUDA toolkit.
  std::string Input, Output, Architecture;
  /// Options of ptxas, the architecture among them, but neither input, output
  /// nor a limit of registers.
  std::vector<std::string> Flags;
  unsigned MaxRegisters = MostRegisters; ///< What the user permits.
  bool IsRelocatable = false;
  bool IsDebug = false;
};

/// Writes the output file. Warnings, and what ptxas says of errors in the
/// input, go to stderr.
llvm::Error assemble(const Request &R);

} // namespace crsan::assembler

#endif // CRSAN_ASSEMBLER_ASSEMBLY_H
