// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images with checks, which the driver loads in the place of a program's.
#ifndef CRSAN_INJECT_REWRITE_CHECKEDIMAGES_H
#define CRSAN_INJECT_REWRITE_CHECKEDIMAGES_H

#include "common/Flags.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace crsan {

class CheckedImages {
public:
  explicit CheckedImages(const Flags &Options) : Options(Options) {}

  /// A fat binary with checks in the place of an image that the driver is about
  /// to load: a (wrapped) fat binary, machine code, or PTX. It lives as long as
  /// the process. The image itself if it has checks, or can get none.
  ///
  /// GPUs: the architectures (90 for sm_90) of those that the program may use.
  /// Name: what the lines call the image. Lines: what a reader is to be told of
  /// what is not checked.
  const void *replace(const void *Image, const std::vector<unsigned> &GPUs,
                      const std::string &Name, std::vector<std::string> &Lines);

private:
  struct Source;
  const void *make(const Source &From, const std::string &Name,
                   std::vector<std::string> &Lines);

  const Flags &Options;
  std::mutex Making;
  /// By PTX and command line; null: it cannot get checks.
  std::map<std::pair<std::string, std::string>, const void *> Made;
};

} // namespace crsan

#endif // CRSAN_INJECT_REWRITE_CHECKEDIMAGES_H
