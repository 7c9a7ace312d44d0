// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names as the user wrote them.
#include "Report/Demangle.h"

#include <cstdlib>
#include <cxxabi.h>

std::string crsan::demangle(const std::string &Name) {
  // The demangler also reads bare types: "i" would become "int".
  if (!Name.starts_with("_Z"))
    return Name;
  int Status = 0;
  char *Text = ::abi::__cxa_demangle(Name.c_str(), nullptr, nullptr, &Status);
  std::string Result = Status == 0 ? Text : Name;
  std::free(Text);
  return Result;
}
