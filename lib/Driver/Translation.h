// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CRSan's command line to clang's.
#ifndef CRSAN_DRIVER_TRANSLATION_H
#define CRSAN_DRIVER_TRANSLATION_H

#include "CommandLine.h"
#include "Installation.h"
#include "Job.h"
#include "NvccCommand.h"
#include "RaceOptions.h"

#include "llvm/Support/Error.h"

namespace crsan::driver {

/// The commands that do what \p Line asks with the sanitizer on, or, if the
/// line was written for nvcc (\p Nvcc), with the sanitizer as it asks. If one
/// command has CUDA and other sources, each source is compiled by a command of
/// its own, because clang 22 would force-include its CUDA wrappers into all of
/// them; then the objects are linked.
llvm::Expected<Plan> translate(const CommandLine &Line,
                               const RaceOptions &Options,
                               const Installation &Where,
                               const NvccCommand *Nvcc = nullptr);

/// An error if \p Line asks for link-time optimisation of device code.
llvm::Error checkOffloadLto(const CommandLine &Line);

/// An error if an architecture older than sm_70 is asked for; otherwise whether
/// the line names any.
llvm::Expected<bool> checkArchitectures(const CommandLine &Line);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_TRANSLATION_H
