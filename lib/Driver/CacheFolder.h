// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the tools keep what they need not make twice.
#ifndef CRSAN_DRIVER_CACHEFOLDER_H
#define CRSAN_DRIVER_CACHEFOLDER_H

#include "llvm/Support/Error.h"

#include <string>

namespace crsan::driver {

/// The folder that CRSAN_CACHE_DIR names, or `crsan` in the user's cache
/// folder (`$XDG_CACHE_HOME`, `~/.cache`). It need not exist.
llvm::Expected<std::string> cacheFolder();

} // namespace crsan::driver

#endif // CRSAN_DRIVER_CACHEFOLDER_H
