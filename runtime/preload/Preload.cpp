// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host part of a program that was built without CRSan.
//
// `crsan run` has the loader load this library into the program first, if code
// without checks is to get them on a GPU. It holds the host part
// (runtime/host), by which the program is one that CRSan reports on: CUDA then
// loads CRSan's library, which gives the driver code with checks
// (inject/rewrite).

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include <dlfcn.h>

namespace crsan {

static constexpr char Variable[] = "LD_PRELOAD";

/// Programs that this one starts do not get this library: they may be a shell's
/// tools, of which nobody wants a report.
__attribute__((constructor(102))) static void leaveEnvironment() {
  Dl_info Self{};
  const char *Before = std::getenv(Variable);
  if (!Before || !dladdr(Variable, &Self) || !Self.dli_fname)
    return;
  std::string After;
  std::string_view Rest = Before;
  while (!Rest.empty()) {
    const size_t End = std::min(Rest.find_first_of(": "), Rest.size());
    const std::string_view File = Rest.substr(0, End);
    if (!File.empty() && File != Self.dli_fname)
      After += (After.empty() ? "" : ":") + std::string(File);
    Rest.remove_prefix(std::min(End + 1, Rest.size()));
  }
  if (After.empty())
    unsetenv(Variable);
  else
    setenv(Variable, After.c_str(), 1);
}

} // namespace crsan
