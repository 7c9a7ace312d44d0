// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings that a user does not want.
//
// Files in the form of the other sanitizers': lines of `TYPE:PATTERN`, blank
// lines, and comments that start with '#'. TYPE is
//   race       any frame or the kernel of either side,
//   race_top   the access itself, of either side.
// PATTERN is found anywhere in the name of a function, in the path of a file or
// in "path:line"; '*' stands for any text, '^' and '$' for the two ends.
#ifndef CRSAN_REPORT_SUPPRESSIONS_H
#define CRSAN_REPORT_SUPPRESSIONS_H

#include "Report/Finding.h"

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
  bool matches(const Finding &F) const;

  /// Takes matching findings out of the report and counts them.
  void apply(Report &R) const;

private:
  struct Entry {
    bool TopOnly;
    std::string Pattern;
  };
  std::vector<Entry> Entries;
};

} // namespace crsan

#endif // CRSAN_REPORT_SUPPRESSIONS_H
