// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of inlined functions.
#ifndef CRSAN_PTX_DEBUGSTRINGS_H
#define CRSAN_PTX_DEBUGSTRINGS_H

#include "PTX/AST.h"

#include <unordered_map>

namespace crsan::ptx {

/// What the labels of `.section .debug_str` stand for: the (mangled) names that
/// `function_name` of `.loc` refers to.
class DebugStrings {
public:
  explicit DebugStrings(const Module &M);

  /// The string at Location::Function ("$L__info_string0", ".debug_str+12");
  /// empty: there is none.
  std::string_view find(std::string_view Reference) const;

private:
  std::shared_ptr<const std::string> Text; ///< Owns the labels.
  std::string Bytes;
  std::unordered_map<std::string_view, size_t> Offsets;
};

} // namespace crsan::ptx

#endif // CRSAN_PTX_DEBUGSTRINGS_H
