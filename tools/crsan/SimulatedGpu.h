// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running programs on the simulated GPU.
//
// The simulated GPU is a CUDA runtime library of the real one's name. The
// loader is told to find it first; the program is not touched.
#ifndef CRSAN_TOOLS_SIMULATEDGPU_H
#define CRSAN_TOOLS_SIMULATEDGPU_H

#include <optional>
#include <string>

namespace crsan {

/// Sets this process's environment such that programs which it starts run on
/// the simulated GPU. `Program` is the path of the first of them. On an error:
/// why it cannot run there, in one line with the remedy.
std::optional<std::string> useSimulatedGpu(const std::string &Program);

/// The same for programs that were built without CRSan and shall get checks on
/// a GPU (runtime/preload).
std::optional<std::string> usePreloadedPart();

} // namespace crsan

#endif // CRSAN_TOOLS_SIMULATEDGPU_H
