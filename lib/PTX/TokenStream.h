// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokens, operands and errors.
//
// The tokens of a text, and the parsing of operands, for the parser of
// statements. A function that returns bool returns false when it has failed;
// the first failure is kept and ends the parse.
#ifndef CRSAN_PTX_TOKENSTREAM_H
#define CRSAN_PTX_TOKENSTREAM_H

#include "PTX/Lexer.h"

namespace crsan::ptx {

class TokenStream {
public:
  TokenStream(std::string_view Text, bool IsInline);

  Token Tok;  ///< The current token.
  Token Next; ///< The one after it.

  void advance();
  bool accept(char C);
  bool expect(char C, std::string_view After);
  /// "expected WHAT, found 'TOKEN'".
  bool expected(std::string_view What);
  bool fail(Position Pos, std::string Message);
  ParseError takeError() const;

  /// The text from `From` to the end of the last token that was passed.
  std::string_view textFrom(const char *From) const {
    return {From, static_cast<size_t>(PreviousEnd - From)};
  }

  /// The text between the last token that was passed and the end of its line.
  std::string_view restOfLine() const;

  bool parseName(std::string_view &Name, std::string_view What);
  bool parseNumber(uint32_t &Number, std::string_view What);
  /// An expression of integers, folded.
  bool parseConstant(uint64_t &Value);
  bool parseOperand(Operand &Op);
  /// One element of an initialiser: with generic() and masks.
  bool parseInitialiser(Operand &Op);

private:
  bool parseList(Operand &Op, char Close, Operand::Kind What,
                 bool (TokenStream::*Parse)(Operand &));
  bool parseAddress(Operand &Op);
  bool parseNamed(Operand &Op);
  bool parseOffset(uint64_t &Offset);
  bool parseNegated(Operand &Op);
  bool parseFloat(Operand &Op);
  bool parseMasked(Operand &Op);
  bool parseUnary(uint64_t &Value);
  bool parseBinary(uint64_t &Value, int LowestLevel);
  /// The precedence of the operator at Tok; -1: none.
  int binaryLevel() const;

  std::string_view Text;
  Lexer Lex;
  const char *PreviousEnd;
  std::optional<std::pair<Position, std::string>> Failure;
};

} // namespace crsan::ptx

#endif // CRSAN_PTX_TOKENSTREAM_H
