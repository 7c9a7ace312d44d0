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
  std::string Options; ///< CRSAN_OPTIONS, without the seed and the log.
  int RacyExit = 66;   ///< What the program ends with if CRSan found something.
  std::optional<std::chrono::milliseconds> Timeout;
  /// CRSAN_OPTIONS have a log of the user's, which is left as it is: what the
  /// program found is known by its exit code alone.
  bool KeepsLog = false;
  /// The program's standard output goes to its standard error.
  bool OutputToError = false;
};

/// What a run has shown.
struct RunResult {
  /// Of all processes of the run, as one run.
  ReportFile File;
  ProcessEnd End;
  /// The processes that recorded something. 0: CRSan was in none of them.
  size_t Processes = 0;
  /// Recordings that cannot be read: a line for each.
  std::vector<std::string> Unreadable;
  /// CRSan or the simulated GPU found what is no data race: a fault or a failed
  /// assertion.
  bool HasFault = false;
  /// How the program failed, if it did: CRSan's exit codes are no failures.
  std::string Failure;
};

/// Runs the program with a seed. What its processes record is kept in files of
/// `Folder`, which begin with `Name`. If `Capture`, what the program prints is
/// written to outputOf().
RunResult runProgram(const Program &P, uint32_t Seed,
                     const std::filesystem::path &Folder,
                     const std::string &Name, bool Capture);

std::filesystem::path outputOf(const std::filesystem::path &Folder,
                               const std::string &Name);

} // namespace crsan

#endif // CRSAN_TOOLS_PROGRAMRUN_H
