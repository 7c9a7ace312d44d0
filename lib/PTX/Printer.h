// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AST -> PTX text.
//
// The printed text parses to an equal tree, which prints as the same text. The
// tree does not have comments (except the comments of Location), empty
// statements, the spelling of numbers, lines (`.loc`) without an instruction,
// and times in `.file`.
#ifndef CRSAN_PTX_PRINTER_H
#define CRSAN_PTX_PRINTER_H

#include "PTX/AST.h"

namespace crsan::ptx {

/// The whole module.
std::string print(const Module &M);
/// A declaration or a definition, without `.loc`.
std::string print(const Function &F);
/// Statements without the enclosing braces, a line each; no `.loc`.
std::string print(const Block &B);
/// One line, with ';' and without a newline: for messages.
std::string print(const Instruction &I);
std::string print(const Operand &Op);

} // namespace crsan::ptx

#endif // CRSAN_PTX_PRINTER_H
