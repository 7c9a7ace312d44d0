// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Site tables, as they come out of a program's memory.
#include "Report/SiteTable.h"

#include <cstdlib>

using namespace crsan;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  SiteTable Table;
  auto Added = Table.add(std::span(Data, Size));
  if (auto *Error = std::get_if<TableError>(&Added)) {
    if (Error->Message.empty() || Table.size() != 0)
      std::abort();
    return 0;
  }
  size_t Sites = 0;
  Table.forEach([&](const SiteInfo &) { ++Sites; });
  if (Sites != Table.size())
    std::abort();
  for (const std::string &Kernel : std::get<ModuleInfo>(Added).Kernels)
    Table.strongReadsOf(Kernel);
  return 0;
}
