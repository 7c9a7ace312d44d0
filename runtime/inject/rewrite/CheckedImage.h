// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An image with checks, which the driver loads in the place of a program's.
#ifndef CRSAN_INJECT_REWRITE_CHECKEDIMAGE_H
#define CRSAN_INJECT_REWRITE_CHECKEDIMAGE_H

#include <string>
#include <string_view>
#include <vector>

namespace crsan {

/// What is known of an image that the driver is about to load.
struct ImageRequest {
  std::string_view Mode; ///< Of the checks (crsan/Modes.def).
  std::string Name;      ///< What lines for a reader call the image.
  /// The architectures (90 for sm_90) of the GPUs that the program may use.
  std::vector<unsigned> GPUs;
  /// Options of ptxas, with which the driver would compile PTX.
  std::vector<std::string> DriverOptions;
};

/// A fat binary with checks in the place of an image: a (wrapped) fat binary,
/// machine code, or PTX. Empty if the image has checks, or if it can get none.
/// Lines: what a reader is to be told of what is not checked.
std::string imageWithChecks(const void *Image, const ImageRequest &R,
                            std::vector<std::string> &Lines);

} // namespace crsan

#endif // CRSAN_INJECT_REWRITE_CHECKEDIMAGE_H
