// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose a source file is.
#ifndef CRSAN_TOOLKITFILE_H
#define CRSAN_TOOLKITFILE_H

#include <string_view>

namespace crsan {

/// Whether a file is part of clang, of CUDA or of CRSan. What happens in it is
/// told by the line of the user's code that it was inlined into.
inline bool isToolkitFile(std::string_view Path) {
  for (std::string_view Part :
       {"/lib/clang/", "/usr/local/cuda", "/usr/lib/cuda", "/opt/cuda",
        "/include/cccl/", "/crsan/cuda_compat.h"})
    if (Path.find(Part) != Path.npos)
      return true;
  return false;
}

} // namespace crsan

#endif // CRSAN_TOOLKITFILE_H
