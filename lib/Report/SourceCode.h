// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of a source file, without what only people read.
#ifndef CRSAN_REPORT_SOURCECODE_H
#define CRSAN_REPORT_SOURCECODE_H

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace crsan {

inline bool isSpace(char C) { return std::isspace((unsigned char)C); }
inline bool isWord(char C) {
  return std::isalnum((unsigned char)C) || C == '_';
}

/// The text without the space around it.
std::string_view trimmed(std::string_view Text);

/// Calls `Do` with each word of a text, as a part of it.
template <typename F> void forWords(std::string_view Text, F Do) {
  for (size_t I = 0; I < Text.size(); ++I) {
    if (!isWord(Text[I]))
      continue;
    const size_t Begin = I;
    while (I < Text.size() && isWord(Text[I]))
      ++I;
    Do(Text.substr(Begin, I - Begin));
  }
}

/// A file's lines with blanks in place of comments, of what is in quotes, and
/// of preprocessor directives, so that what is left is code at its column.
struct SourceCode {
  std::vector<std::string> Lines;
  std::vector<bool> IsDirective;
  std::vector<size_t> Depth; ///< Braces that are open where a line begins.

  SourceCode() = default;
  explicit SourceCode(const std::vector<std::string> &Text);
};

} // namespace crsan

#endif // CRSAN_REPORT_SOURCECODE_H
