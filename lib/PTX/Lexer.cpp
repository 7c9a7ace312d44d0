// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text -> tokens.

#include "PTX/Lexer.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace crsan::ptx {

namespace {

enum CharClass : uint8_t { Blank = 1, Digit = 2, Hex = 4, Word = 8, Mark = 16 };

constexpr std::array<uint8_t, 256> Classes = [] {
  std::array<uint8_t, 256> Table{};
  for (char C : {' ', '\t', '\r', '\f', '\v'})
    Table[static_cast<uint8_t>(C)] = Blank;
  for (int C = '0'; C <= '9'; ++C)
    Table[C] = Digit | Hex | Word;
  for (int C = 'a'; C <= 'z'; ++C)
    Table[C] = Table[C - 'a' + 'A'] = Word | (C <= 'f' ? Hex : 0);
  Table['_'] = Table['$'] = Word;
  for (char C : std::string_view(",;:()[]{}@!|+-*/%<>=&^~?"))
    Table[static_cast<uint8_t>(C)] = Mark;
  return Table;
}();

bool is(char C, unsigned Class) {
  return Classes[static_cast<uint8_t>(C)] & Class;
}

} // namespace

Lexer::Lexer(std::string_view Text, bool IsInline)
    : Cur(Text.data()), End(Cur + Text.size()), LineBegin(Cur),
      IsInline(IsInline) {}

void Lexer::skipBlank() {
  for (;;) {
    while (Cur != End && is(*Cur, Blank))
      ++Cur;
    if (Cur == End)
      return;
    if (*Cur == '\n') {
      LineBegin = ++Cur;
      ++Line;
    } else if (*Cur == '/' && Cur + 1 != End && Cur[1] == '/') {
      const void *Newline = std::memchr(Cur, '\n', End - Cur);
      Cur = Newline ? static_cast<const char *>(Newline) : End;
    } else if (*Cur == '/' && Cur + 1 != End && Cur[1] == '*') {
      for (Cur += 2; Cur != End; ++Cur) {
        if (*Cur == '\n') {
          LineBegin = Cur + 1;
          ++Line;
        } else if (*Cur == '*' && Cur + 1 != End && Cur[1] == '/') {
          Cur += 2;
          break;
        }
      }
    } else
      return;
  }
}

Token Lexer::take(Token::Kind What, const char *To) {
  Token T{What,
          std::string_view(Cur, To - Cur),
          {Line, static_cast<uint32_t>(Cur - LineBegin) + 1}};
  Cur = To;
  return T;
}

/// The end of the letters, digits and operands (`${1:x}`) of a name.
const char *Lexer::endOfName(const char *At) const {
  while (At != End && is(*At, Word)) {
    if (*At++ != '$' || !IsInline || At == End || *At != '{')
      continue;
    while (At != End && *At != '}' && *At != '\n')
      ++At;
    if (At != End && *At == '}')
      ++At;
  }
  return At;
}

Token Lexer::number() {
  auto Skip = [&](const char *At, unsigned Class) {
    while (At != End && is(*At, Class))
      ++At;
    return At;
  };
  const char Second = Cur + 1 != End ? Cur[1] : 0;
  if (*Cur == '0' && (Second | 32) == 'x')
    return take(Token::Kind::Integer, Skip(Cur + 2, Word));
  if (*Cur == '0' && ((Second | 32) == 'f' || (Second | 32) == 'd'))
    return take(Token::Kind::Float, Skip(Cur + 2, Word));
  if (*Cur == '0' && (Second | 32) == 'b')
    return take(Token::Kind::Integer, Skip(Cur + 2, Word));
  const char *At = Skip(Cur, Digit);
  bool IsFloat = false;
  if (At != End && *At == '.' &&
      (At + 1 == End || !is(At[1], Word) || is(At[1], Digit))) {
    IsFloat = true;
    At = Skip(At + 1, Digit);
  }
  if (At != End && (*At | 32) == 'e') {
    const char *Exponent = At + 1;
    if (Exponent != End && (*Exponent == '+' || *Exponent == '-'))
      ++Exponent;
    if (Exponent != End && is(*Exponent, Digit)) {
      IsFloat = true;
      At = Skip(Exponent, Digit);
    }
  }
  // What is left of the word is not a number: the parser says so.
  return take(IsFloat ? Token::Kind::Float : Token::Kind::Integer,
              Skip(At, Word));
}

Token Lexer::string() {
  for (const char *At = Cur + 1; At != End && *At != '\n'; ++At) {
    if (*At == '\\' && At + 1 != End)
      ++At;
    else if (*At == '"')
      return take(Token::Kind::String, At + 1);
  }
  return take(Token::Kind::Invalid, Cur + 1);
}

Token Lexer::next() {
  skipBlank();
  if (Cur == End)
    return take(Token::Kind::End, Cur);
  const char C = *Cur;
  const char Second = Cur + 1 != End ? Cur[1] : 0;
  if (is(C, Digit))
    return number();
  if (is(C, Word))
    return take(Token::Kind::Name, endOfName(Cur));
  if (C == '%' && is(Second, Word) && !is(Second, Digit))
    return take(Token::Kind::Name, endOfName(Cur + 1));
  if (C == '.' && is(Second, Word)) {
    const char *At = endOfName(Cur + 1);
    while (End - At > 2 && At[0] == ':' && At[1] == ':' && is(At[2], Word))
      At = endOfName(At + 2);
    return take(Token::Kind::Dotted, At);
  }
  if (C == '"')
    return string();
  return take(is(C, Mark) ? Token::Kind::Punct : Token::Kind::Invalid, Cur + 1);
}

std::optional<uint64_t> integerValue(std::string_view Text) {
  if (Text.ends_with('U'))
    Text.remove_suffix(1);
  int Base = 10;
  if (Text.size() > 1 && Text[0] == '0') {
    const char Second = Text[1] | 32;
    Base = Second == 'x' ? 16 : Second == 'b' ? 2 : 8;
    Text.remove_prefix(Base == 8 ? 1 : 2);
  }
  uint64_t Value = 0;
  const auto [At, Error] =
      std::from_chars(Text.data(), Text.data() + Text.size(), Value, Base);
  if (Error != std::errc() || At != Text.data() + Text.size())
    return std::nullopt;
  return Value;
}

std::optional<FloatBits> floatValue(std::string_view Text) {
  const char *End = Text.data() + Text.size();
  const char Second = Text.size() > 1 ? Text[1] | 32 : 0;
  if (Text[0] == '0' && (Second == 'f' || Second == 'd')) {
    const bool IsDouble = Second == 'd';
    uint64_t Bits = 0;
    const auto [At, Error] = std::from_chars(Text.data() + 2, End, Bits, 16);
    if (Error != std::errc() || At != End ||
        Text.size() != (IsDouble ? 18u : 10u))
      return std::nullopt;
    return FloatBits{Bits, IsDouble};
  }
  double Value = 0;
  const auto [At, Error] = std::from_chars(Text.data(), End, Value);
  if (Error != std::errc() || At != End)
    return std::nullopt;
  return FloatBits{std::bit_cast<uint64_t>(Value), true};
}

} // namespace crsan::ptx
