// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of inlined functions that only DWARF has.
#ifndef CRSAN_PTX_INLINEDNAMES_H
#define CRSAN_PTX_INLINEDNAMES_H

#include "PTX/AST.h"

#include <map>
#include <tuple>

namespace crsan::ptx {

/// The functions that were inlined, by the places of their calls, as the
/// module's `.section .debug_info` has them. LLVM writes that section where it
/// writes comments, not directives, about what is inlined.
class InlinedNames {
public:
  explicit InlinedNames(const Module &M);

  /// The (mangled) function whose call stands there. Empty: there is none, or
  /// several functions are called there.
  std::string_view find(uint32_t File, uint32_t Line, uint32_t Column) const;

private:
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, std::string> ByCall;
};

} // namespace crsan::ptx

#endif // CRSAN_PTX_INLINEDNAMES_H
