// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One process that the tool starts and waits for.
#ifndef CRSAN_TOOLS_CHILDPROCESS_H
#define CRSAN_TOOLS_CHILDPROCESS_H

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace crsan {

/// How a process ended.
struct ProcessEnd {
  int ExitCode = 0; ///< Unless a signal ended it.
  int Signal = 0;   ///< 0: none did.
  int Id = 0;       ///< Of the process; 0: it could not be started.
  bool TimedOut = false;
  std::string Error; ///< Why it could not be started; empty: it was.

  /// "exit code 3", "signal 11 (SIGSEGV)", "timed out"; empty for exit code 0.
  std::string words() const;
};

/// A program, its words and what it finds around itself.
struct ProcessStart {
  std::string Path;
  std::vector<std::string> Words; ///< The first is the program's own name.
  /// "NAME=value", which replace the variables of these names.
  std::vector<std::string> Environment;
  /// The file that gets the standard output and the standard error; the process
  /// then has no input, and is in a process group of its own. Empty: it has
  /// the tool's input, outputs and group.
  std::string Output;
  /// The standard output goes to the standard error; only without `Output`.
  bool OutputToError = false;
  /// Then the process gets SIGTERM, upon which it reports what it has found,
  /// and some seconds later SIGKILL.
  std::optional<std::chrono::milliseconds> Timeout;
};

/// Starts the process and waits for its end. May be called by several threads.
ProcessEnd runProcess(const ProcessStart &Start);

/// From now on SIGINT, SIGTERM and SIGHUP do not end the tool, but are passed
/// on to the processes that run; see wasInterrupted().
void passSignalsOn();
/// The signal that asked the tool to end, or 0.
int wasInterrupted();

} // namespace crsan

#endif // CRSAN_TOOLS_CHILDPROCESS_H
