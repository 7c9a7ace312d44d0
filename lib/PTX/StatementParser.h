// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX tokens -> statements.
//
// Parses variables and statements: all that may stand in the body of a
// function, or in inline assembly. As in TokenStream, false means failure.
#ifndef CRSAN_PTX_STATEMENTPARSER_H
#define CRSAN_PTX_STATEMENTPARSER_H

#include "PTX/TokenStream.h"

#include <functional>
#include <unordered_map>

namespace crsan::ptx {

class StatementParser : public TokenStream {
public:
  /// `M` takes lines and files; null: the text is inline assembly.
  StatementParser(std::string_view Text, Module *M)
      : TokenStream(Text, /*IsInline=*/!M), M(M) {}

  /// Up to the closing brace, or the end of the whole text.
  bool parseBlock(Block &B, bool IsWhole);

protected:
  /// The body of the next function, after its opening brace.
  bool parseBody(Block &B);

  /// The state space or linkage that the current token names.
  StateSpace spaceHere() const;
  std::optional<Variable::Linkage> linkageHere() const;

  /// State space, alignment, type and so on, in any order, up to the name.
  bool parseVariablePrefix(Variable &V);
  /// `name<10>`, `name[4][] = { ... }`.
  bool parseDeclarator(Variable &V);
  /// All variables of one declaration.
  bool parseVariables(Variable::Linkage Link,
                      const std::function<void(Variable)> &Each);

  /// The name and operands of a directive, up to what ends them.
  bool parseDirective(Directive &D);
  /// `.file 1 "name"[, timestamp, size]`
  bool parseFile();

private:
  bool parseAttributes(Variable &V);
  bool parseStatement(Block &B);
  bool parseInstruction(Block &B);
  bool parseLocation();
  bool isAtEnd() const; ///< Of a statement.
  bool endStatement(std::string_view After, std::string_view Quote = "'");

  Module *M;
  int32_t Where = -1;
  /// The latest `.loc` of this function by file, line and column.
  struct Key {
    uint32_t File, Line, Column;
    bool operator==(const Key &) const = default;
  };
  struct Hash {
    size_t operator()(const Key &K) const {
      return (size_t(K.File) * 1000003 + K.Line) * 1000003 + K.Column;
    }
  };
  std::unordered_map<Key, int32_t, Hash> Latest;
};

} // namespace crsan::ptx

#endif // CRSAN_PTX_STATEMENTPARSER_H
