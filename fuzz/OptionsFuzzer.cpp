// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CRSAN_OPTIONS.
#include "common/Flags.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  crsan::Flags F;
  const auto Error =
      F.parse(std::string_view(reinterpret_cast<const char *>(Data), Size));
  if (Error && Error->empty())
    std::abort();
  return 0;
}
