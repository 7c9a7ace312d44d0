// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far a series of runs has come, on the standard error.
#ifndef CRSAN_TOOLS_PROGRESS_H
#define CRSAN_TOOLS_PROGRESS_H

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>

namespace crsan {

/// A line at the bottom of a terminal; elsewhere, nothing but what is said.
class Progress {
public:
  /// \p IsSilent: a single run, which has the terminal for itself.
  Progress(size_t Runs, bool IsSilent);

  void update(size_t Done, size_t Findings);
  /// Prints "CRSan: LINE", and more as it is.
  void say(const std::string &Line, const std::string &More = {});
  /// The same with the contents of a file.
  void say(const std::string &Line, const std::filesystem::path &File);
  void finish();

private:
  void draw();
  void erase();

  const size_t Runs;
  const bool IsShown;
  const std::chrono::steady_clock::time_point Begin;
  size_t Done = 0, Findings = 0;
};

/// "40 s", "3 min", "2 h".
std::string durationWords(std::chrono::seconds Time);

} // namespace crsan

#endif // CRSAN_TOOLS_PROGRESS_H
