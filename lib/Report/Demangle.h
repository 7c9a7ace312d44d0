// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names as the user wrote them.
#ifndef CRSAN_REPORT_DEMANGLE_H
#define CRSAN_REPORT_DEMANGLE_H

#include <string>

namespace crsan {

/// The C++ name, or the text itself if it is not a mangled name.
std::string demangle(const std::string &Name);

} // namespace crsan

#endif // CRSAN_REPORT_DEMANGLE_H
