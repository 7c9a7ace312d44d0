// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM IR -> PTX.
#ifndef CRSAN_LIFT_EMIT_H
#define CRSAN_LIFT_EMIT_H

#include "Lift.h"
#include "llvm/Target/TargetMachine.h"

namespace crsan::lift {

/// The machine that `From` is for: its first target, and its version of PTX. An
/// error if LLVM does not know the target.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
targetOf(const ptx::Module &From);

/// Gives all functions of `M` the attributes that say what they are compiled
/// for: the pass reads them, too.
void setTarget(llvm::Module &M, const llvm::TargetMachine &Target);

/// The text of `Lifted`, which `From` has become, with the functions that are
/// kept as they were.
llvm::Expected<std::string> emit(LiftedModule &Lifted, const ptx::Module &From,
                                 llvm::TargetMachine &Target);

} // namespace crsan::lift

#endif // CRSAN_LIFT_EMIT_H
