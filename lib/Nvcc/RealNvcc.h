// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The toolkit whose nvcc the user means.
#ifndef CRSAN_NVCC_REALNVCC_H
#define CRSAN_NVCC_REALNVCC_H

#include "llvm/Support/Error.h"

#include <string>

namespace crsan::nvcc {

struct RealNvcc {
  std::string Root; ///< The folder of bin/nvcc, bin/ptxas and nvvm.

  std::string nvcc() const { return Root + "/bin/nvcc"; }
  std::string profile() const { return Root + "/bin/nvcc.profile"; }
  std::string cicc() const { return Root + "/nvvm/bin/cicc"; }
  std::string libraryDir() const; ///< Where libcudart.so is.

  /// Searches CRSAN_CUDA_PATH, CUDA_PATH, CUDA_HOME, the nvcc on PATH which is
  /// not \p Self (a link of this name may precede it), and the places where
  /// CudaToolkit::find looks.
  static llvm::Expected<RealNvcc> find(const std::string &Self);

  /// An error if it is of a version that CRSan does not know.
  llvm::Error checkVersion() const;
};

} // namespace crsan::nvcc

#endif // CRSAN_NVCC_REALNVCC_H
