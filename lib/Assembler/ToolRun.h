// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tool of the CUDA toolkit at work.
#ifndef CRSAN_ASSEMBLER_TOOLRUN_H
#define CRSAN_ASSEMBLER_TOOLRUN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Program.h"
#include <optional>
#include <string>

namespace crsan::assembler {

class ToolRun {
public:
  /// Starts `Program`. What it prints goes to the file `Log`, or to our stdout
  /// and stderr if there is none.
  ToolRun(const std::string &Program, llvm::ArrayRef<std::string> Arguments,
          std::optional<std::string> Log = std::nullopt);

  /// Waits for the end, and tells whether the exit code was 0.
  bool succeeds();

  /// After the end: what the tool printed to its log.
  std::string words() const;

private:
  llvm::sys::ProcessInfo Process;
  bool HasStarted = false;
  std::string Failure; ///< Why it did not start, or what ended it early.
  std::optional<std::string> Log;
};

} // namespace crsan::assembler

#endif // CRSAN_ASSEMBLER_TOOLRUN_H
