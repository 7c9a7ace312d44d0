// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan run.
#ifndef CRSAN_TOOLS_CRSAN_RUNCOMMAND_H
#define CRSAN_TOOLS_CRSAN_RUNCOMMAND_H

namespace CLI {
class App;
}

namespace crsan {

/// Adds `crsan run PROGRAM...`, which becomes the program, on the simulated GPU
/// or the real one. `ExitCode` is set only if that failed.
void addRunCommand(CLI::App &App, int &ExitCode);

} // namespace crsan

#endif // CRSAN_TOOLS_CRSAN_RUNCOMMAND_H
