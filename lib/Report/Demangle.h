// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names as the user wrote them.
#ifndef CRSAN_REPORT_DEMANGLE_H
#define CRSAN_REPORT_DEMANGLE_H

#include <string>
#include <string_view>

namespace crsan {

/// The C++ name, or the text itself if it is not a mangled name.
std::string demangle(const std::string &Name);

/// Of a demangled name, `ns::f` of `int ns::f<int>(float *)`: without
/// parameters, template arguments and the type that templates return.
std::string_view functionName(std::string_view Demangled);
/// `f` of `ns::f`.
std::string_view unqualified(std::string_view FunctionName);

} // namespace crsan

#endif // CRSAN_REPORT_DEMANGLE_H
