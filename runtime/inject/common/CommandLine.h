// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program's command line.
#ifndef CRSAN_INJECT_COMMON_COMMANDLINE_H
#define CRSAN_INJECT_COMMON_COMMANDLINE_H

#include <string>

namespace crsan {

/// The command line of this process, quoted as a shell needs it.
std::string commandLine();

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_COMMANDLINE_H
