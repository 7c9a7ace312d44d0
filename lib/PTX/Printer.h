//===- Printer.h - AST -> PTX text ------------------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is printed parses to an equal tree, and that prints as the same text.
// Comments (but those of Location), empty statements, the spelling of numbers,
// lines (`.loc`) that no instruction has, and times in `.file` are not in the
// tree.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_PTX_PRINTER_H
#define CRSAN_PTX_PRINTER_H

#include "PTX/AST.h"

namespace crsan::ptx {

/// The whole module.
std::string print(const Module &M);
/// Statements without the enclosing braces, a line each; no `.loc`.
std::string print(const Block &B);
/// One line, with ';' and without a newline: for messages.
std::string print(const Instruction &I);
std::string print(const Operand &Op);

} // namespace crsan::ptx

#endif // CRSAN_PTX_PRINTER_H
