// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tools that the library runs, of which the program notices nothing.
#ifndef CRSAN_INJECT_COMMON_COMMAND_H
#define CRSAN_INJECT_COMMON_COMMAND_H

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crsan {

struct CommandResult {
  static constexpr int CannotRun = 127;
  int ExitCode = CannotRun; ///< 128 + N: ended by the signal N.
  std::string Output;       ///< Standard output.
  std::string Errors;       ///< Standard error.
};

/// Runs a tool to its end. The first word is its path; `Input` is its standard
/// input. Nothing if it takes longer than `Patience` (none: however long it
/// takes), or if no process can be made.
std::optional<CommandResult>
runCommand(const std::vector<std::string> &Words, std::string_view Input = {},
           std::optional<std::chrono::milliseconds> Patience = std::nullopt);

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_COMMAND_H
