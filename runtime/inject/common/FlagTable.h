// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of run-time options, for those who print it.
#ifndef CRSAN_INJECT_COMMON_FLAGTABLE_H
#define CRSAN_INJECT_COMMON_FLAGTABLE_H

#include <string>
#include <string_view>
#include <vector>

namespace crsan {

/// One entry of Flags.inc.
struct FlagInfo {
  std::string_view Name;
  std::string Default; ///< As it is written, with all choices behind it.
  std::string_view Description;
};

/// All of them, in the order of the table.
std::vector<FlagInfo> flagTable();

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_FLAGTABLE_H
