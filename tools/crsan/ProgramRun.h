// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run of a program under CRSan.
#ifndef CRSAN_TOOLS_PROGRAMRUN_H
#define CRSAN_TOOLS_PROGRAMRUN_H

#include "ChildProcess.h"
#include "Report/ReportFile.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace crsan {

/// What is run, and how.
struct Program {
  std::string Path;
  std::vector<std::string> Words;
  std::string Options; ///< CRSAN_OPTIONS, without the seed.
  int RacyExit = 66;   ///< What the program ends with if CRSan found races.
  std::optional<std::chrono::milliseconds> Timeout;
  bool IsSimulated = false;
  bool IsAlone = true; ///< One run at a time.
  /// The program's standard output goes to its standard error.
  bool OutputToError = false;
};

/// What a run has shown.
struct RunResult {
  /// Of all processes of the run, as one run.
  ReportFile File;
  ProcessEnd End;
  /// The files that processes have written. 0: CRSan was in none of them.
  size_t Reports = 0;
  /// A report is missing or cannot be read; a note in `File` names the process.
  bool IsIncomplete = false;
  /// The text of all reports went to the tool's standard error.
  bool IsHeard = true;
  /// There is something to say that the process which the tool has started has
  /// not said: other processes have reported, or the tool has notes.
  bool SaysMore = false;
  /// How the program failed, if it did. That CRSan found races is no failure;
  /// that a kernel failed, is.
  std::string Failure;
};

/// Runs the program with a seed, and waits for what it leaves behind. What its
/// processes record is kept in files of `Folder`, which begin with `Name`. If
/// `Capture`, what the program prints is written to outputOf().
RunResult runProgram(const Program &P, uint32_t Seed,
                     const std::filesystem::path &Folder,
                     const std::string &Name, bool Capture);

std::filesystem::path outputOf(const std::filesystem::path &Folder,
                               const std::string &Name);

} // namespace crsan

#endif // CRSAN_TOOLS_PROGRAMRUN_H
