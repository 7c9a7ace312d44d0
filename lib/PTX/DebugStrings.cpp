// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of inlined functions.

#include "PTX/DebugStrings.h"
#include "PTX/Lexer.h"

namespace crsan::ptx {

DebugStrings::DebugStrings(const Module &M) : Text(M.Text) {
  for (std::string_view Section : M.Sections) {
    Lexer Lex(Section, /*IsInline=*/false);
    Lex.next();
    const Token Name = Lex.next();
    if (!Name.isDotted(".debug_str"))
      continue;
    Offsets[Name.Text] = Bytes.size();
    for (Token T = Lex.next(); !T.is(Token::Kind::End); T = Lex.next()) {
      // A label, or the bytes after `.b8`.
      if (T.is(Token::Kind::Name))
        Offsets[T.Text] = Bytes.size();
      else if (T.is(Token::Kind::Integer))
        Bytes += static_cast<char>(integerValue(T.Text).value_or(0));
    }
  }
}

std::string_view DebugStrings::find(std::string_view Reference) const {
  const size_t Plus = Reference.find('+');
  std::string_view Label = Reference.substr(0, Plus);
  while (Label.ends_with(' ') || Label.ends_with('\t'))
    Label.remove_suffix(1);
  const auto It = Offsets.find(Label);
  if (It == Offsets.end())
    return {};
  size_t At = It->second;
  if (Plus != Reference.npos) {
    const Token Offset = Lexer(Reference.substr(Plus + 1), false).next();
    At += integerValue(Offset.Text).value_or(Bytes.size());
  }
  if (At >= Bytes.size())
    return {};
  return std::string_view(Bytes).substr(At, Bytes.find('\0', At) - At);
}

} // namespace crsan::ptx
