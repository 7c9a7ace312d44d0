// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line as the program's own reports name it.
//
// LLVM says only in comments of PTX where code was inlined, and fatbinary drops
// comments: of an instruction of a program, only the innermost line is known.
// PTX has the full path of its file, whatever the compiler was given. The site
// tables of an instrumented program say the rest.
#ifndef CRSAN_SIM_INLINEDCALLS_H
#define CRSAN_SIM_INLINEDCALLS_H

#include "Report/SiteTable.h"

#include <map>
#include <set>
#include <string>
#include <tuple>

namespace crsan::api {

class InlinedCalls {
public:
  explicit InlinedCalls(const SiteTable &Sites);

  /// Names the file of the only frame of an instruction as sites do, and adds
  /// the frames of the calls through which all sites of its line in its
  /// function were inlined. Where sites differ, their outer frames are left
  /// out.
  void complete(std::vector<SourceFrame> &Frames) const;

  /// Whether there is a __syncthreads() at the frames of an instruction. The
  /// sites of a unit name them all.
  bool isBarrier(const std::vector<SourceFrame> &Frames) const;

private:
  /// The file's name without folders, which compilers spell differently; the
  /// line and column; the function that the code was inlined into, without
  /// namespaces and arguments.
  using Key = std::tuple<std::string, uint32_t, uint32_t, std::string>;
  static Key keyOf(const SourceFrame &Innermost, const SourceFrame &Outermost);
  void add(const std::vector<SourceFrame> &Frames);
  /// The longest of the sites' names of files that `Path` ends with, or `Path`.
  std::string nameOf(const std::string &Path) const;

  /// Frames that all sites of a line share, innermost first.
  std::map<Key, std::vector<SourceFrame>> Shared;
  std::set<Key> Barriers;
  /// The sites' names of files, by the name without folders.
  std::map<std::string, std::set<std::string>> Files;
};

} // namespace crsan::api

#endif // CRSAN_SIM_INLINEDCALLS_H
