// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan diff.
#ifndef CRSAN_TOOLS_DIFFCOMMAND_H
#define CRSAN_TOOLS_DIFFCOMMAND_H

namespace CLI {
class App;
}

namespace crsan {

/// Adds `crsan diff OLD NEW`, which says which findings are new, fixed and
/// persistent. The exit code is 66 if there are new ones.
void addDiffCommand(CLI::App &App, int &ExitCode);

} // namespace crsan

#endif // CRSAN_TOOLS_DIFFCOMMAND_H
