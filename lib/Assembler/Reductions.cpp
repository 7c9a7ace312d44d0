// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomics whose results are not used.

#include "Reductions.h"
#include "PTX/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace crsan::assembler {

/// Whether `red` takes these suffixes of `atom`.
static bool canReduce(StringRef Suffixes) {
  constexpr StringLiteral Operations[] = {"add", "min", "max", "and",
                                          "or",  "xor", "inc", "dec"};
  SmallVector<StringRef, 8> Words;
  Suffixes.split(Words, '.', -1, /*KeepEmpty=*/false);
  return any_of(Words,
                [&](StringRef W) { return is_contained(Operations, W); }) &&
         none_of(Words, [](StringRef W) {
           return W.starts_with("acq") || W.starts_with("shared") ||
                  W.starts_with("v");
         });
}

/// How often each register occurs in a function.
static StringMap<unsigned> occurrences(StringRef Function) {
  StringMap<unsigned> Count;
  ptx::Lexer Lex(Function, /*IsInline=*/false);
  for (ptx::Token Tok = Lex.next(); !Tok.is(ptx::Token::Kind::End);
       Tok = Lex.next())
    if (Tok.is(ptx::Token::Kind::Name) && Tok.Text.starts_with("%"))
      ++Count[Tok.Text];
  return Count;
}

std::string useReductions(StringRef Function) {
  if (!Function.contains("\tatom."))
    return Function.str();
  const StringMap<unsigned> Count = occurrences(Function);
  std::string Text;
  const char *Done = Function.begin();
  for (StringRef Line : split(Function, '\n')) {
    StringRef Rest = Line;
    if (!Rest.consume_front("\tatom"))
      continue;
    const auto [Suffixes, Operands] = Rest.split('\t');
    const auto [Result, Others] = Operands.split(',');
    if (!Result.starts_with("%") || Count.lookup(Result) != 1 ||
        !canReduce(Suffixes.trim()))
      continue;
    Text.append(Done, Line.begin());
    Text += ("\tred" + Suffixes + "\t" + Others.ltrim()).str();
    Done = Line.end();
  }
  return Text.append(Done, Function.end());
}

} // namespace crsan::assembler
