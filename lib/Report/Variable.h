// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What memory is called in the source.
#ifndef CRSAN_REPORT_VARIABLE_H
#define CRSAN_REPORT_VARIABLE_H

#include "crsan/abi/SiteTable.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace crsan {

/// A __device__ or __shared__ variable.
struct VariableInfo {
  std::string LinkageName;
  abi::Space Space = abi::Space::Global;
  uint64_t Size = 0;    ///< Bytes; 0: the launch says.
  uint32_t Element = 0; ///< As abi::Variable.
  std::array<uint32_t, 3> Extent{};

  bool operator==(const VariableInfo &) const = default;
};

/// As the source has it, without the function that it is local to: "part" of
/// "_ZZ1kPiE4part".
std::string sourceName(std::string_view LinkageName);

/// "__shared__" or "__device__", as the source declares what is in there.
const char *declaredAs(abi::Space Space);

/// The place in the variable: "part[3] (__shared__)"; inside of an element,
/// "points[3] + 8 bytes (__device__)".
std::string placeInVariable(const VariableInfo &V, uint64_t Offset);

/// The variable alone, where the place in it is not known:
/// "part (__shared__, 128 bytes)".
std::string variableWords(const VariableInfo &V);

} // namespace crsan

#endif // CRSAN_REPORT_VARIABLE_H
