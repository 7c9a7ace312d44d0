// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Processes that outlive the program that started them.
#ifndef CRSAN_TOOLS_LEFTBEHIND_H
#define CRSAN_TOOLS_LEFTBEHIND_H

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace crsan {

/// From now on a process whose parent has ended becomes a child of the tool.
void adoptOrphans();

/// Whose processes are meant.
struct RunMark {
  std::string Variable; ///< "CRSAN_RUN=...", which they have inherited.
  /// No other run takes place: those without the variable are meant as well.
  bool IsAlone = false;
};

/// Waits for the processes that the program of a run has left behind: for those
/// that run under CRSan until they have ended, and for others some seconds,
/// since they may start one. If they take longer than `Time`, they get SIGTERM
/// and at last SIGKILL. Returns those that still run: "12 (sleep)".
std::vector<std::string>
awaitLeftBehind(const RunMark &Mark,
                std::optional<std::chrono::milliseconds> Time);

} // namespace crsan

#endif // CRSAN_TOOLS_LEFTBEHIND_H
