// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the driver that make tensor maps.
#ifndef CRSAN_SIM_TENSORMAPS_H
#define CRSAN_SIM_TENSORMAPS_H

#include <string_view>

namespace crsan::api {

/// The function of this name; null: none such.
void *tensorFunction(std::string_view Name);

} // namespace crsan::api

#endif // CRSAN_SIM_TENSORMAPS_H
