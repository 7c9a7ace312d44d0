// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One instruction of PTX -> LLVM IR.
//
// Each of these functions returns true if the instruction was its kind and is
// lifted, false if another function has to do it, or an error if the
// instruction cannot be lifted at all.
#ifndef CRSAN_LIFT_INSTRUCTIONS_H
#define CRSAN_LIFT_INSTRUCTIONS_H

#include "Values.h"

namespace crsan::lift {

/// Integer arithmetic, logic, moves, conversions of integers and of addresses.
llvm::Expected<bool> liftArithmetic(Values &V, const ptx::Instruction &I);
llvm::Expected<bool> liftComparison(Values &V, const ptx::Instruction &I);
llvm::Expected<bool> liftMove(Values &V, const ptx::Instruction &I);

/// Weak loads and stores without hints for caches, memory of the frame whose
/// size is known at run time, and barriers of a block.
llvm::Expected<bool> liftMemory(Values &V, const ptx::Instruction &I);

/// Relaxed atomic updates of device scope, of 32 or 64 bits.
llvm::Expected<bool> liftAtomic(Values &V, const ptx::Instruction &I);

/// Calls by name, and through a pointer with a `.callprototype`.
llvm::Expected<bool> liftCall(Values &V, const ptx::Instruction &I);

/// Any other instruction whose effects are known, as inline assembly.
llvm::Expected<bool> liftVerbatim(Values &V, const ptx::Instruction &I);

/// Instructions that hand on the carry of one to the next, as one statement.
llvm::Error liftCarryChain(Values &V,
                           llvm::ArrayRef<const ptx::Instruction *> Chain);
/// Whether the instruction reads or writes the carry.
bool usesCarry(const ptx::Instruction &I);

} // namespace crsan::lift

#endif // CRSAN_LIFT_INSTRUCTIONS_H
