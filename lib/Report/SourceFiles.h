// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The source around an access.
#ifndef CRSAN_REPORT_SOURCEFILES_H
#define CRSAN_REPORT_SOURCEFILES_H

#include "Report/SiteTable.h"
#include "Report/SourceCode.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace crsan {

/// Some lines of a file, without their ends.
struct SourceExcerpt {
  uint32_t FirstLine = 0;         ///< Number of the first of the lines, from 1.
  std::vector<std::string> Lines; ///< Empty: the source cannot be read.
  /// The accessing expression in the frame's line, as far as the text tells:
  /// the index of its first byte and its length. A length of 0: not known.
  size_t Begin = 0, Length = 0;
};

/// Where the expression begins that ends before `End` and can be assigned to: a
/// name with indices and members, perhaps behind stars. npos: none.
size_t beginOfTarget(std::string_view Line, size_t End);

/// Source files as they are on this machine, each read once.
class SourceFiles {
public:
  // A file is looked for from the current folder, and then from each folder
  // that this one is in.

  /// The line of the frame and up to `Around` lines before and behind it. Empty
  /// if the file is not there, is no regular file, is larger than
  /// `MostBytes`, or has no such line.
  SourceExcerpt around(const SourceFrame &Frame, unsigned Around);

  /// All lines of a file, without their ends; empty as above.
  const std::vector<std::string> &lines(const std::string &Name);

  /// The code of those lines.
  const SourceCode &code(const std::string &Name);

  /// A larger file is not source that a person reads.
  static constexpr size_t MostBytes = 16u << 20;

private:
  std::unordered_map<std::string, std::vector<std::string>> Files;
  std::unordered_map<std::string, SourceCode> Codes;
};

} // namespace crsan

#endif // CRSAN_REPORT_SOURCEFILES_H
