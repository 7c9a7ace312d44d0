// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Man pages and completion.
#ifndef CRSAN_TOOLS_CRSAN_MANUALCOMMAND_H
#define CRSAN_TOOLS_CRSAN_MANUALCOMMAND_H

namespace CLI {
class App;
}

namespace crsan {

/// Adds `crsan manual FILE`, which no help lists: the build makes man pages and
/// completion scripts by it, from the same tables as --help. To be called when
/// all other commands were added.
void addManualCommand(CLI::App &App);

} // namespace crsan

#endif // CRSAN_TOOLS_CRSAN_MANUALCOMMAND_H
