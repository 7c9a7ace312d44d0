// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Through which calls a line was inlined.
//
// LLVM says only in comments of PTX where code was inlined, and fatbinary drops
// comments: of an instruction of a program, only the innermost line is known.
// The site tables of an instrumented program say the rest.
#ifndef CRSAN_SIM_INLINEDCALLS_H
#define CRSAN_SIM_INLINEDCALLS_H

#include "Report/SiteTable.h"

#include <map>
#include <tuple>

namespace crsan::api {

class InlinedCalls {
public:
  explicit InlinedCalls(const SiteTable &Sites);

  /// Adds to the only frame of an instruction those of the calls through which
  /// all sites of its line in its function were inlined. Where sites differ,
  /// their outer frames are left out.
  void complete(std::vector<SourceFrame> &Frames) const;

private:
  /// The file's name without folders, which compilers spell differently; the
  /// line and column; the function that the code was inlined into, without
  /// namespaces and arguments.
  using Key = std::tuple<std::string, uint32_t, uint32_t, std::string>;
  static Key keyOf(const SourceFrame &Innermost, const SourceFrame &Outermost);
  void add(const std::vector<SourceFrame> &Frames);

  /// Frames that all sites of a line share, innermost first.
  std::map<Key, std::vector<SourceFrame>> Shared;
};

} // namespace crsan::api

#endif // CRSAN_SIM_INLINEDCALLS_H
