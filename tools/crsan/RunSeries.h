// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program run several times, with several seeds.
#ifndef CRSAN_TOOLS_RUNSERIES_H
#define CRSAN_TOOLS_RUNSERIES_H

#include "ProgramRun.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace crsan {

struct SeriesOptions {
  std::vector<uint32_t> Seeds; ///< One for each run, at least one.
  unsigned Jobs = 1;           ///< Runs at the same time.
  unsigned UntilDry = 0; ///< End after so many runs with no new finding; 0: no.
  bool ShowOutput = false; ///< Print what each run printed.
};

/// What the runs have shown together.
struct SeriesResult {
  ReportFile File;
  size_t Runs = 0, Failures = 0;
  size_t Reports = 0; ///< As RunResult's, of all runs.
  bool EndedDry = false, Interrupted = false;
  bool IsIncomplete = false, IsHeard = true, SaysMore = false; ///< Likewise.
};

/// Runs the program once for each seed. A single run has the tool's own input
/// and outputs, and prints its own report; of several runs the outputs are
/// captured, and progress and failures are printed on the standard error.
SeriesResult runSeries(const Program &P, const SeriesOptions &Options,
                       const std::filesystem::path &Folder);

} // namespace crsan

#endif // CRSAN_TOOLS_RUNSERIES_H
