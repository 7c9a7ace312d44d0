// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokens, operands and errors.

#include "PTX/TokenStream.h"

namespace crsan::ptx {

TokenStream::TokenStream(std::string_view Text, bool IsInline)
    : Text(Text), Lex(Text, IsInline), PreviousEnd(Text.data()) {
  Tok = Lex.next();
  Next = Lex.next();
}

void TokenStream::advance() {
  PreviousEnd = Tok.end();
  Tok = Next;
  Next = Lex.next();
}

bool TokenStream::accept(char C) {
  if (!Tok.is(C))
    return false;
  advance();
  return true;
}

bool TokenStream::expect(char C, std::string_view After) {
  if (accept(C))
    return true;
  return expected("'" + std::string(1, C) + "' after " + std::string(After));
}

bool TokenStream::expected(std::string_view What) {
  constexpr size_t Longest = 40;
  std::string Found = "the end";
  if (!Tok.is(Token::Kind::End)) {
    Found = "'" + std::string(Tok.Text.substr(0, Longest));
    Found += Tok.Text.size() > Longest ? "...'" : "'";
  }
  return fail(Tok.Pos, "expected " + std::string(What) + ", found " + Found);
}

bool TokenStream::fail(Position Pos, std::string Message) {
  if (!Failure)
    Failure = {Pos, std::move(Message)};
  return false;
}

ParseError TokenStream::takeError() const {
  const auto &[Pos, Message] = *Failure;
  size_t Begin = 0;
  for (uint32_t Line = 1; Line < Pos.Line; ++Line)
    Begin = Text.find('\n', Begin) + 1;
  std::string_view Line = Text.substr(Begin);
  return {Pos, Message, std::string(Line.substr(0, Line.find('\n')))};
}

std::string_view TokenStream::restOfLine() const {
  const std::string_view Rest = Text.substr(PreviousEnd - Text.data());
  return Rest.substr(0, Rest.find('\n'));
}

bool TokenStream::parseName(std::string_view &Name, std::string_view What) {
  if (!Tok.is(Token::Kind::Name))
    return expected(What);
  Name = Tok.Text;
  advance();
  return true;
}

bool TokenStream::parseNumber(uint32_t &Number, std::string_view What) {
  std::optional<uint64_t> Value;
  if (Tok.is(Token::Kind::Integer))
    Value = integerValue(Tok.Text);
  if (!Value || *Value > UINT32_MAX)
    return expected(What);
  Number = static_cast<uint32_t>(*Value);
  advance();
  return true;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

int TokenStream::binaryLevel() const {
  if (!Tok.is(Token::Kind::Punct))
    return -1;
  switch (Tok.Text.front()) {
  case '*':
  case '/':
  case '%':
    return 5;
  case '+':
  case '-':
    return 4;
  case '<':
  case '>': // Only << and >>: compilers fold comparisons.
    return Next.is(Tok.Text.front()) ? 3 : -1;
  case '&':
    return 2;
  case '^':
    return 1;
  case '|':
    return 0;
  }
  return -1;
}

bool TokenStream::parseUnary(uint64_t &Value) {
  if (accept('+'))
    return parseUnary(Value);
  if (accept('-') || Tok.is('~')) {
    const bool IsNot = accept('~');
    if (!parseUnary(Value))
      return false;
    Value = IsNot ? ~Value : 0 - Value;
    return true;
  }
  if (accept('('))
    return parseConstant(Value) && expect(')', "a constant");
  if (!Tok.is(Token::Kind::Integer))
    return expected("an integer");
  const std::optional<uint64_t> Known = integerValue(Tok.Text);
  if (!Known)
    return expected("an integer of at most 64 bits");
  Value = *Known;
  advance();
  return true;
}

bool TokenStream::parseBinary(uint64_t &Value, int LowestLevel) {
  for (int Level; (Level = binaryLevel()) >= LowestLevel;) {
    const char Operator = Tok.Text.front();
    const Position Pos = Tok.Pos;
    advance();
    if (Level == 3)
      advance();
    uint64_t Right = 0;
    if (!parseUnary(Right) || !parseBinary(Right, Level + 1))
      return false;
    if ((Operator == '/' || Operator == '%') && Right == 0)
      return fail(Pos, "division by zero in a constant");
    switch (Operator) {
    case '*':
      Value *= Right;
      break;
    case '/':
      Value /= Right;
      break;
    case '%':
      Value %= Right;
      break;
    case '+':
      Value += Right;
      break;
    case '-':
      Value -= Right;
      break;
    case '<':
      Value = Right < 64 ? Value << Right : 0;
      break;
    case '>':
      Value = Right < 64 ? Value >> Right : 0;
      break;
    case '&':
      Value &= Right;
      break;
    case '^':
      Value ^= Right;
      break;
    case '|':
      Value |= Right;
      break;
    }
  }
  return true;
}

bool TokenStream::parseConstant(uint64_t &Value) {
  return parseUnary(Value) && parseBinary(Value, 0);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool TokenStream::parseFloat(Operand &Op) {
  const std::optional<FloatBits> Value = floatValue(Tok.Text);
  if (!Value)
    return expected("a floating-point number");
  Op.What = Operand::Kind::Float;
  Op.Bits = Value->Bits;
  Op.IsDouble = Value->IsDouble;
  advance();
  return true;
}

/// What follows '-': a number, or a name in inline assembly.
bool TokenStream::parseNegated(Operand &Op) {
  if (Next.is(Token::Kind::Float)) {
    advance();
    if (!parseFloat(Op))
      return false;
    Op.Bits ^= uint64_t(1) << (Op.IsDouble ? 63 : 31);
    return true;
  }
  if (Next.is(Token::Kind::Name)) {
    advance();
    Op.What = Operand::Kind::Name;
    Op.IsNegated = true;
    Op.Member = '-';
    return parseName(Op.Text, "a name");
  }
  Op.What = Operand::Kind::Integer;
  return parseConstant(Op.Bits);
}

/// `+4-2`, after a name.
bool TokenStream::parseOffset(uint64_t &Offset) {
  while (Tok.is('+') || Tok.is('-')) {
    const bool IsMinus = Tok.is('-');
    if (Next.is(Token::Kind::Name))
      return true;
    advance();
    uint64_t Value = 0;
    if (!parseUnary(Value) || !parseBinary(Value, /*Products=*/5))
      return false;
    Offset += IsMinus ? 0 - Value : Value;
  }
  return true;
}

/// A name with all that may follow it.
bool TokenStream::parseNamed(Operand &Op) {
  Op.What = Tok.Text == "_" ? Operand::Kind::Discard : Operand::Kind::Name;
  if (Op.What == Operand::Kind::Name)
    Op.Text = Tok.Text;
  advance();
  if (Tok.is(Token::Kind::Dotted) && Tok.begin() == PreviousEnd) {
    if (Tok.Text.size() == 2)
      Op.Member = Tok.Text[1];
    else // The bytes that a video instruction selects: %r1.b0.
      Op.Text = {Op.Text.data(), Op.Text.size() + Tok.Text.size()};
    advance();
  }
  if (accept('|')) {
    Operand First = std::move(Op);
    Op = {};
    Op.What = Operand::Kind::Pair;
    Op.Elements.push_back(std::move(First));
    return parseOperand(Op.Elements.emplace_back());
  }
  if (!Tok.is('+') && !Tok.is('-'))
    return true;
  if (!parseOffset(Op.Bits))
    return false;
  Op.What = Operand::Kind::Sum;
  if (!Tok.is('+'))
    return true;
  advance();
  Operand First = std::move(Op);
  if (First.Bits == 0)
    First.What = Operand::Kind::Name;
  Op = {};
  Op.What = Operand::Kind::Sum;
  Op.Elements.push_back(std::move(First));
  return parseNamed(Op.Elements.emplace_back());
}

bool TokenStream::parseList(Operand &Op, char Close, Operand::Kind What,
                            bool (TokenStream::*Parse)(Operand &)) {
  Op.What = What;
  advance();
  if (accept(Close))
    return true;
  do {
    if (!(this->*Parse)(Op.Elements.emplace_back()))
      return false;
  } while (accept(','));
  if (accept(Close))
    return true;
  return expected(std::string("',' or '") + Close + "'");
}

bool TokenStream::parseAddress(Operand &Op) {
  if (!parseList(Op, ']', Operand::Kind::Address, &TokenStream::parseOperand))
    return false;
  if (Op.Elements.empty())
    return fail(Tok.Pos, "expected an address between '[' and ']'");
  Operand &First = Op.Elements.front();
  if (First.What == Operand::Kind::Sum && First.Elements.empty()) {
    Op.Bits = First.Bits;
    First.Bits = 0;
    First.What = Operand::Kind::Name;
  }
  return true;
}

bool TokenStream::parseOperand(Operand &Op) {
  switch (Tok.What) {
  case Token::Kind::Name:
    return parseNamed(Op);
  case Token::Kind::Integer:
    Op.What = Operand::Kind::Integer;
    return parseConstant(Op.Bits);
  case Token::Kind::Float:
    return parseFloat(Op);
  case Token::Kind::Punct:
    switch (Tok.Text.front()) {
    case '[':
      return parseAddress(Op);
    case '{':
      return parseList(Op, '}', Operand::Kind::Vector,
                       &TokenStream::parseOperand);
    case '(':
      return parseList(Op, ')', Operand::Kind::List,
                       &TokenStream::parseOperand);
    case '!':
      advance();
      Op.IsNegated = true;
      return Tok.is(Token::Kind::Name) ? parseNamed(Op)
                                       : expected("a predicate after '!'");
    case '-':
      return parseNegated(Op);
    case '~':
    case '+':
      Op.What = Operand::Kind::Integer;
      return parseConstant(Op.Bits);
    }
    break;
  default:
    break;
  }
  return expected("an operand");
}

/// `0xFF00(generic(x)+4)`: one byte of an address.
bool TokenStream::parseMasked(Operand &Op) {
  const char *Begin = Tok.begin();
  Operand Mask;
  Mask.What = Operand::Kind::Integer;
  if (!parseUnary(Mask.Bits) || !expect('(', "a mask"))
    return false;
  Operand Symbol;
  if (!parseInitialiser(Symbol) || !expect(')', "what is masked"))
    return false;
  Op.What = Operand::Kind::Name;
  Op.Text = textFrom(Begin);
  Op.Elements.push_back(std::move(Mask));
  Op.Elements.push_back(std::move(Symbol));
  return true;
}

bool TokenStream::parseInitialiser(Operand &Op) {
  if (Tok.is('{'))
    return parseList(Op, '}', Operand::Kind::Vector,
                     &TokenStream::parseInitialiser);
  if (Tok.is(Token::Kind::Integer) && Next.is('('))
    return parseMasked(Op);
  if (Tok.is('(')) {
    Op.What = Operand::Kind::Integer;
    return parseConstant(Op.Bits);
  }
  if (Tok.is(Token::Kind::Name) && Tok.Text == "generic" && Next.is('(')) {
    advance();
    advance();
    Op.What = Operand::Kind::Symbols;
    return parseOperand(Op.Elements.emplace_back()) &&
           expect(')', "the name in generic()") && parseOffset(Op.Bits);
  }
  return parseOperand(Op);
}

} // namespace crsan::ptx
