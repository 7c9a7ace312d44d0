// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan run.
#ifndef CRSAN_TOOLS_CRSAN_RUNCOMMAND_H
#define CRSAN_TOOLS_CRSAN_RUNCOMMAND_H

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace crsan {

/// Adds `crsan run PROGRAM...`, which becomes the program, on the simulated GPU
/// or the real one. `ExitCode` is set only if that failed.
void addRunCommand(CLI::App &App, int &ExitCode);

/// Removes the `--` in front of the program from the words of a command line,
/// if it has one. The CLI library would take it for the end of the subcommand.
void removeProgramMark(const CLI::App &App, std::vector<std::string> &Words);

} // namespace crsan

#endif // CRSAN_TOOLS_CRSAN_RUNCOMMAND_H
