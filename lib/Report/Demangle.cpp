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

std::string_view crsan::functionName(std::string_view Name) {
  const size_t Anonymous = Name.rfind("(anonymous namespace)::");
  const size_t From =
      Anonymous == Name.npos ? 0 : Anonymous + sizeof("(anonymous namespace)");
  Name = Name.substr(0, Name.find_first_of("(<", From));
  const size_t Space = Name.rfind(' ');
  return Space == Name.npos || Anonymous != Name.npos ? Name
                                                      : Name.substr(Space + 1);
}

std::string_view crsan::unqualified(std::string_view FunctionName) {
  const size_t Colon = FunctionName.rfind(':');
  return Colon == FunctionName.npos ? FunctionName
                                    : FunctionName.substr(Colon + 1);
}
