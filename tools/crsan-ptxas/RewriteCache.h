// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX that got checks in an earlier run.
//
// Files of a folder, by content: a file's name is a hash of all that the text
// depends on. Files appear whole, by their last names, so that several
// processes may use the folder; those that were not used for longest are
// removed when there are too many bytes.
#ifndef CRSAN_PTXAS_REWRITECACHE_H
#define CRSAN_PTXAS_REWRITECACHE_H

#include "CudaRaceSanitizer.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>

namespace crsan::ptxas {

struct CachedText {
  std::string Text;
  bool WasThere = false; ///< It was made by an earlier run.
  std::string WhyNot;    ///< The cache could not be used, for this reason.
};

/// What `Make` returns, for this module, this mode, and `Rest`, which is all
/// else that it depends on: of the cache, or made and put there. An error is
/// that of `Make`.
llvm::Expected<CachedText>
cached(llvm::StringRef PTX, Mode Checks, llvm::StringRef Rest,
       const std::function<llvm::Expected<std::string>()> &Make);

} // namespace crsan::ptxas

#endif // CRSAN_PTXAS_REWRITECACHE_H
