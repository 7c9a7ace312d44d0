// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the CUDA toolkit is.
#ifndef CRSAN_DRIVER_CUDATOOLKIT_H
#define CRSAN_DRIVER_CUDATOOLKIT_H

#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace crsan::driver {

struct CudaToolkit {
  std::string Root;

  std::string includeDir() const;
  /// Cooperative groups, Thrust, CUB and libcu++ live here since CUDA 13;
  /// empty where the toolkit has no such folder.
  std::string ccclDir() const;
  std::vector<std::string> libraryDirs() const;

  /// Searches --cuda-path (\p Option), CUDA_PATH, CUDA_HOME, /usr/local/cuda,
  /// /usr/local/cuda-* (newest first), /opt/cuda and /usr/lib/cuda, in this
  /// order. A place that was named but holds no toolkit is an error, not passed
  /// over: a typing mistake must not select another toolkit.
  static llvm::Expected<CudaToolkit>
  find(const std::optional<std::string> &Option);
};

} // namespace crsan::driver

#endif // CRSAN_DRIVER_CUDATOOLKIT_H
