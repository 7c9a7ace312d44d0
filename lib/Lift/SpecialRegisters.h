// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Special registers.
#ifndef CRSAN_LIFT_SPECIALREGISTERS_H
#define CRSAN_LIFT_SPECIALREGISTERS_H

#include "PTX/AST.h"
#include "llvm/IR/IRBuilder.h"

namespace crsan::lift {

/// The value of %tid.x, %clock64, WARP_SZ, ...; null: `Op` is no special
/// register.
llvm::Value *readSpecialRegister(llvm::IRBuilder<> &B, const ptx::Operand &Op);

} // namespace crsan::lift

#endif // CRSAN_LIFT_SPECIALREGISTERS_H
