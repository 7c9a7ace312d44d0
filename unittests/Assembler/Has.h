// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a text has a part.
#ifndef CRSAN_UNITTESTS_ASSEMBLER_HAS_H
#define CRSAN_UNITTESTS_ASSEMBLER_HAS_H

#include <string_view>

inline bool has(std::string_view Text, std::string_view Part) {
  return Text.find(Part) != Text.npos;
}

#endif // CRSAN_UNITTESTS_ASSEMBLER_HAS_H
