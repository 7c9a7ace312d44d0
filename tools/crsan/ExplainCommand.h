// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan explain.
#ifndef CRSAN_TOOLS_CRSAN_EXPLAINCOMMAND_H
#define CRSAN_TOOLS_CRSAN_EXPLAINCOMMAND_H

namespace CLI {
class App;
}

namespace crsan {

/// Adds `crsan explain [KIND]`, which says what a kind of race means, or lists
/// the kinds.
void addExplainCommand(CLI::App &App, int &ExitCode);

} // namespace crsan

#endif // CRSAN_TOOLS_CRSAN_EXPLAINCOMMAND_H
