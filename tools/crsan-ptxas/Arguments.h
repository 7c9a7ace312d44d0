// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command lines of crsan-ptxas.
#ifndef CRSAN_PTXAS_ARGUMENTS_H
#define CRSAN_PTXAS_ARGUMENTS_H

#include "Assembly.h"
#include "CudaRaceSanitizer.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace crsan::ptxas {

/// What crsan-ptxas is asked to do.
struct Arguments {
  /// Of ptxas; no toolkit if crsan-ptxas is run in place of ptxas by a program
  /// that does not know CRSan.
  assembler::Request Request;
  /// The mode in which code without checks gets them; none: it stays as it is.
  std::optional<Mode> Checks;
  std::vector<std::string> Inputs;
  /// The arguments but for CRSan's own options.
  std::vector<std::string> Given;
  /// ptxas is asked for its version or its options.
  bool AsksForWords = false;
  /// The module is an argument (--input-as-string).
  bool HasText = false;
  /// PTX is to be written, and nothing assembled (RewriteRun.h).
  bool OnlyRewrites = false;
  /// The architectures of the machine code of a fat binary that is to be
  /// written in place of PTX.
  std::vector<std::string> FatbinFor;
  /// NVIDIA's compiler, if it is to run, with the other arguments
  /// (CompilerRun.h).
  std::string Compiler;

  static llvm::Expected<Arguments> read(llvm::ArrayRef<const char *> Words);

  bool isDropIn() const { return Request.Toolkit.empty(); }
};

/// What --help says in front of ptxas's lines.
std::string ownHelp();

/// The mode of that name; an error that names those that there are.
llvm::Expected<Mode> modeOf(llvm::StringRef Name, llvm::StringRef Where);

} // namespace crsan::ptxas

#endif // CRSAN_PTXAS_ARGUMENTS_H
