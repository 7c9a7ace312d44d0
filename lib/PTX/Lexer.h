// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text -> tokens.
#ifndef CRSAN_PTX_LEXER_H
#define CRSAN_PTX_LEXER_H

#include "PTX/AST.h"

namespace crsan::ptx {

/// A token is a view of the text that is parsed.
struct Token {
  enum class Kind : uint8_t {
    End,
    Name,    ///< foo, %r1, $L__BB0_1, _; inline: $0, ${1:x}, L_${:uid}.
    Dotted,  ///< .global, .shared::cluster, .1d: with the dot.
    Integer, ///< 12, 0x1F, 017, 0b1, 12U.
    Float,   ///< 1.5, 0f3F800000, 0d3FF0000000000000.
    String,  ///< "...": with the quotes.
    Punct,   ///< One character.
    Invalid, ///< A character that PTX has no use for, an open string.
  };
  Kind What = Kind::End;
  std::string_view Text;
  Position Pos;

  bool is(char C) const { return What == Kind::Punct && Text.front() == C; }
  bool is(Kind K) const { return What == K; }
  bool isDotted(std::string_view Name) const {
    return What == Kind::Dotted && Text == Name;
  }
  const char *begin() const { return Text.data(); }
  const char *end() const { return Text.data() + Text.size(); }
};

class Lexer {
public:
  /// Inline assembly: `$` begins an operand of the statement, and `$$` is what
  /// LLVM has for a dollar sign.
  Lexer(std::string_view Text, bool IsInline);

  Token next();

private:
  void skipBlank();
  Token take(Token::Kind What, const char *To);
  const char *endOfName(const char *From) const;
  Token number();
  Token string();

  const char *Cur, *End;
  const char *LineBegin;
  uint32_t Line = 1;
  bool IsInline;
};

/// The value of an Integer token; nothing if it has more than 64 bits.
std::optional<uint64_t> integerValue(std::string_view Text);

/// The bits of a Float token.
struct FloatBits {
  uint64_t Bits;
  bool IsDouble;
};
std::optional<FloatBits> floatValue(std::string_view Text);

} // namespace crsan::ptx

#endif // CRSAN_PTX_LEXER_H
