// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operands an instruction writes.
#ifndef CRSAN_PTX_RESULTS_H
#define CRSAN_PTX_RESULTS_H

#include "PTX/AST.h"

namespace crsan::ptx {

/// How many of the first operands are results: registers that the instruction
/// writes, alone, in a vector or in a pair. Nothing: the opcode is not known.
std::optional<unsigned> resultsOf(const Instruction &I);

/// Whether registers of the instruction's are read or written while the threads
/// go on, until they wait: nothing may move or copy these registers until then.
bool keepsRegisters(const Instruction &I);

/// Whether the instruction sets or uses the carry.
bool writesCarry(const Instruction &I);
bool readsCarry(const Instruction &I);

} // namespace crsan::ptx

#endif // CRSAN_PTX_RESULTS_H
