// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text -> AST.
#ifndef CRSAN_PTX_PARSER_H
#define CRSAN_PTX_PARSER_H

#include "PTX/AST.h"

namespace crsan::ptx {

/// A whole module. The result keeps its own copy of the text.
std::variant<Module, ParseError> parseModule(std::string Text);

/// The body of an inline assembly statement, as LLVM has it: operands are `$0`,
/// `${1:x}`, or `$$` for a dollar sign. An operand becomes a Name whose Text is
/// as written. Statements need no final ';'.
struct InlineBody {
  std::shared_ptr<const std::string> Text;
  Block Body;
};
std::variant<InlineBody, ParseError> parseInline(std::string Text);

} // namespace crsan::ptx

#endif // CRSAN_PTX_PARSER_H
