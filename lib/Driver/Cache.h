// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tools keep so that they need not make it twice.
//
// Files of a folder, by content: a file's name is a hash of all that the
// contents depend on. Files appear whole, by their last names, so that several
// processes may use the folder; those that were not used for longest are
// removed when there are too many bytes.
#ifndef CRSAN_DRIVER_CACHE_H
#define CRSAN_DRIVER_CACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace crsan::driver {

/// The folder that CRSAN_CACHE_DIR names, or `crsan` in the user's cache
/// folder (`$XDG_CACHE_HOME`, `~/.cache`). It need not exist.
llvm::Expected<std::string> cacheFolder();

/// What tells a tool from its other versions: its path, size, and time of last
/// change.
std::string toolKey(const std::string &Path);

struct Cached {
  std::string Bytes;
  bool WasThere = false; ///< An earlier process made it.
  std::string WhyNot;    ///< The cache could not be used, for this reason.
};

/// What `Make` returns, from the folder `Kind` of the cache, or made and put
/// there. It depends on `DependsOn` and on this program's build only. An error
/// is that of `Make`, or that CRSAN_CACHE_MIB is no number.
llvm::Expected<Cached>
cached(llvm::StringRef Kind, llvm::ArrayRef<llvm::StringRef> DependsOn,
       llvm::function_ref<llvm::Expected<std::string>()> Make);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_CACHE_H
