// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What memory is called in the source.
#include "Report/Variable.h"
#include "Report/Demangle.h"
#include "Report/Words.h"

#include <fmt/format.h>

#include <iterator>

using namespace crsan;

std::string crsan::sourceName(std::string_view LinkageName) {
  // What clang adds to the name of a static variable that the host can see.
  for (std::string_view Added :
       {"__static__", "__intern__", ".static.", ".intern.", "_$_static_$_"})
    LinkageName = LinkageName.substr(0, LinkageName.find(Added));
  const std::string Name = demangle(std::string(LinkageName));
  const size_t Local = Name.rfind(")::");
  return Local == std::string::npos ? Name : Name.substr(Local + 3);
}

const char *crsan::declaredAs(abi::Space Space) {
  return Space == abi::Space::Shared ? "__shared__" : "__device__";
}

std::string crsan::placeInVariable(const VariableInfo &V, uint64_t Offset) {
  std::string Text = sourceName(V.LinkageName);
  uint64_t Stride = V.Element;
  for (size_t D = 1; D < V.Extent.size() && V.Extent[D]; ++D)
    Stride *= V.Extent[D];
  for (size_t D = 0; D < V.Extent.size() && V.Extent[D] && Stride; ++D) {
    fmt::format_to(std::back_inserter(Text), "[{}]", Offset / Stride);
    Offset %= Stride;
    if (D + 1 < V.Extent.size() && V.Extent[D + 1])
      Stride /= V.Extent[D + 1];
  }
  if (Offset)
    Text += " + " + counted(Offset, "byte");
  return fmt::format("{} ({})", Text, declaredAs(V.Space));
}

std::string crsan::variableWords(const VariableInfo &V) {
  return fmt::format("{} ({}{})", sourceName(V.LinkageName),
                     declaredAs(V.Space),
                     V.Size ? ", " + counted(V.Size, "byte") : "");
}
