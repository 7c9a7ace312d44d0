// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A toolkit whose nvcc makes checked code.
//
// nvcc runs the tools that lie beside it. A view is a folder with links to the
// tools of a toolkit, but for two: its cicc runs the toolkit's and then puts
// checks into the PTX, so that both ptxas and fatbinary get PTX with checks;
// its ptxas is crsan-ptxas. Headers and libraries are the toolkit's own, by
// their own paths (nvcc.profile).
//
// Views lie in the user's cache, one for each toolkit, mode and CRSan, and stay
// there: build systems keep nvcc's paths. Each is of a few kilobytes.
#ifndef CRSAN_NVCC_TOOLKITVIEW_H
#define CRSAN_NVCC_TOOLKITVIEW_H

#include "Installation.h"
#include "RealNvcc.h"

namespace crsan::nvcc {

struct ToolkitView {
  std::string Folder;

  std::string nvcc() const { return Folder + "/bin/nvcc"; }
  /// Included into each CUDA source: the mark of checked objects, and where
  /// libcrsan.so is, for links without a run path.
  std::string objectHeader() const { return Folder + "/crsan/object.h"; }
  /// A linker script in the manner of an archive: by it the linker takes the
  /// host part, to which nothing refers. CMake finds it among the libraries
  /// that nvcc links, and gives it to each link of its own.
  std::string hostPart() const { return Folder + "/crsan/libcrsan_link.a"; }

  /// The view of this toolkit, made if it is not there. Processes may do so at
  /// the same time.
  static llvm::Expected<ToolkitView> make(const RealNvcc &Real,
                                          const driver::Installation &Where,
                                          const std::string &Mode);
};

} // namespace crsan::nvcc

#endif // CRSAN_NVCC_TOOLKITVIEW_H
