// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of a source file, without what only people read.
#include "Report/SourceCode.h"

#include <algorithm>

using namespace crsan;

std::string_view crsan::trimmed(std::string_view Text) {
  while (!Text.empty() && isSpace(Text.front()))
    Text.remove_prefix(1);
  while (!Text.empty() && isSpace(Text.back()))
    Text.remove_suffix(1);
  return Text;
}

/// Returns whether the next line begins in a comment.
static bool blank(std::string &Line, bool InComment) {
  char Quote = 0;
  for (size_t I = 0; I < Line.size(); ++I) {
    const bool IsPair = I + 1 < Line.size();
    if (InComment) {
      const bool Ends = IsPair && Line[I] == '*' && Line[I + 1] == '/';
      Line[I] = ' ';
      if (Ends)
        Line[++I] = ' ', InComment = false;
    } else if (Quote) {
      if (Line[I] == '\\' && IsPair)
        Line[I++] = ' ';
      else if (Line[I] == Quote)
        Quote = 0;
      Line[I] = ' ';
    } else if (IsPair && Line[I] == '/' && Line[I + 1] == '/') {
      std::fill(Line.begin() + ptrdiff_t(I), Line.end(), ' ');
    } else if (IsPair && Line[I] == '/' && Line[I + 1] == '*') {
      InComment = true;
      Line[I] = Line[I + 1] = ' ';
      ++I;
    } else if (Line[I] == '"' || Line[I] == '\'') {
      Quote = Line[I];
      Line[I] = ' ';
    }
  }
  return InComment;
}

SourceCode::SourceCode(const std::vector<std::string> &Text) {
  bool InComment = false, Continues = false;
  size_t Open = 0;
  for (std::string Line : Text) {
    const bool Directive =
        Continues || (!InComment && trimmed(Line).starts_with('#'));
    Continues = Directive && Line.ends_with('\\');
    IsDirective.push_back(Directive);
    InComment = blank(Line, InComment);
    if (Directive)
      Line.assign(Line.size(), ' ');
    Depth.push_back(Open);
    for (char C : Line) {
      Open += C == '{';
      Open -= C == '}' && Open > 0;
    }
    Lines.push_back(std::move(Line));
  }
}
