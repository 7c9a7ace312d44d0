// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan report.
#ifndef CRSAN_TOOLS_CRSAN_REPORTCOMMAND_H
#define CRSAN_TOOLS_CRSAN_REPORTCOMMAND_H

namespace CLI {
class App;
}

namespace crsan {

/// Adds `crsan report FILE`, which prints the findings of a recorded run.
/// `ExitCode` is set when it ran: 0 if printed, whatever the findings; 1 if
/// not.
void addReportCommand(CLI::App &App, int &ExitCode);

} // namespace crsan

#endif // CRSAN_TOOLS_CRSAN_REPORTCOMMAND_H
