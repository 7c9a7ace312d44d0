// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the tools keep what they need not make twice.
#include "CacheFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace llvm;

Expected<std::string> crsan::driver::cacheFolder() {
  if (const char *Chosen = getenv("CRSAN_CACHE_DIR"); Chosen && *Chosen) {
    SmallString<128> Absolute(Chosen);
    sys::fs::make_absolute(Absolute);
    return Absolute.str().str();
  }
  SmallString<128> Usual;
  if (!sys::path::cache_directory(Usual))
    return createStringError(
        "there is no cache folder, since HOME is not set; set CRSAN_CACHE_DIR "
        "to a folder that can be written");
  sys::path::append(Usual, "crsan");
  return Usual.str().str();
}
