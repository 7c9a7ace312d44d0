// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the linker is told of CRSan's host part.
#ifndef CRSAN_DRIVER_HOSTPART_H
#define CRSAN_DRIVER_HOSTPART_H

#include <string>
#include <vector>

namespace crsan::driver {

/// Functions of CUDA are wrapped: launches, so that the program can tell of
/// those that fail, and of all under a debugger; and what loads kernels early
/// (runtime/host). The linker takes the wrappers from
/// Installation::wrappers().
std::vector<std::string> wrapperOptions();

/// The symbols that the injection library looks up in programs.
std::vector<std::string> exportOptions(bool HaltOnError);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_HOSTPART_H
