// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA and other sources in one command.
#ifndef CRSAN_DRIVER_MIXEDCOMMAND_H
#define CRSAN_DRIVER_MIXEDCOMMAND_H

#include "Command.h"
#include "Job.h"

namespace crsan::driver {

/// One compilation for each source of a command that has CUDA and other
/// sources, then, if the command links, the link of their objects.
llvm::Expected<Plan> splitMixedCommand(const Command &C);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_MIXEDCOMMAND_H
