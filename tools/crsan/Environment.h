// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this process's environment tells the programs that it starts.
#ifndef CRSAN_TOOLS_ENVIRONMENT_H
#define CRSAN_TOOLS_ENVIRONMENT_H

#include <optional>
#include <string>

namespace crsan {

/// Programs run on the simulated GPU, which is a CUDA runtime library of the
/// real one's name: the loader is told to find it first. `Program` is the path
/// of the first of them. On an error: why it cannot run there, in one line with
/// the remedy.
std::optional<std::string> useSimulatedGpu(const std::string &Program);

/// Programs that were built without CRSan get checks on a GPU
/// (runtime/preload).
std::optional<std::string> usePreloadedPart();

/// The driver loads libcrsan.so into programs whose host code was built without
/// CRSan, too, unless the user names another library: they may load checked
/// device code, as Python does with Triton's.
void useInjection();

} // namespace crsan

#endif // CRSAN_TOOLS_ENVIRONMENT_H
