// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings that a user does not want.
//
// Files in the form of the other sanitizers': lines of `TYPE:PATTERN`, blank
// lines, and comments that start with '#'. TYPE is
//   race       any frame or the kernel of either side,
//   race_top   the access itself, of either side,
//   race_pair  both sides, each by any frame or its kernel: one pattern that
//              each matches, or "ONE & OTHER", in either order.
// PATTERN is found anywhere in the name of a function, in the path of a file or
// in "path:line"; '*' stands for any text, '^' and '$' for the two ends.
#ifndef CRSAN_REPORT_SUPPRESSIONS_H
#define CRSAN_REPORT_SUPPRESSIONS_H

#include "Report/ReportFile.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crsan {

/// Why a text was refused, and where: one line without a prefix.
struct SuppressionsError {
  std::string Message;
};

class Suppressions {
public:
  static std::variant<Suppressions, SuppressionsError>
  parse(std::string_view Text);

  /// As `parse`; a message names the file.
  static std::variant<Suppressions, SuppressionsError>
  read(const std::string &Path);

  bool isEmpty() const { return Entries.empty(); }
  /// Remembers for unmatched() which of the lines match.
  bool matches(const Finding &F) const;

  /// Takes matching findings out of the report and counts them.
  void apply(Report &R) const;
  /// Takes the records out that make matching findings.
  void apply(ReportFile &File) const;

  /// The lines that have matched nothing so far, in words: "line 3 (race:put)
  /// of known.txt"; empty: there are none.
  std::string unmatched() const;
  /// Whether any line has matched.
  bool hasMatched() const;

private:
  struct Entry {
    enum class Type { Any, Top, Pair } What;
    std::string Pattern, Second; ///< Second: of a pair, perhaps the same.
    size_t Line;                 ///< In the file.
    std::string Text;            ///< As it was written.
    bool matches(const SiteInfo *Site, const SiteInfo *Other) const;
  };
  static std::variant<Entry, SuppressionsError> parseLine(std::string_view Line,
                                                          size_t Number);
  bool matches(const SiteInfo *Site, const SiteInfo *Other) const;

  std::string Path; ///< Empty: no file was read.
  std::vector<Entry> Entries;
  /// Of each entry. Findings are matched by several threads.
  mutable std::vector<uint8_t> HasMatched;
};

/// The line that suppresses this finding, and no finding of another pair of
/// lines; empty if nothing is known of where it is, or if it is a fault, which
/// cannot be suppressed. `Strip` is taken off the start of the paths.
std::string suppressionFor(const Finding &F, std::string_view Strip = {});

} // namespace crsan

#endif // CRSAN_REPORT_SUPPRESSIONS_H
