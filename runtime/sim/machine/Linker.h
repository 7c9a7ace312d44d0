// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules: linking and initial values.
#ifndef CRSAN_SIM_LINKER_H
#define CRSAN_SIM_LINKER_H

#include <span>
#include <string>

namespace crsan::sim {

class Device;
class Image;

/// Parses the units of a module, resolves their names, gives variables storage
/// of the device, and decodes the functions. Returns why not, or nothing.
std::string link(Device &D, Image &To, std::span<const std::string> PTX);

} // namespace crsan::sim

#endif // CRSAN_SIM_LINKER_H
