// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops in which a thread waits for other threads.
#ifndef CRSAN_TRANSFORMS_POLLS_H
#define CRSAN_TRANSFORMS_POLLS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"

namespace crsan {

using BlockSet = llvm::SmallPtrSet<llvm::BasicBlock *, 16>;

/// The blocks of those loops of `F` whose end depends on the result of an
/// instruction in the loop for which `Learns` holds. Irreducible cycles of the
/// control flow graph count as loops.
BlockSet
loopsEndedBy(llvm::Function &F,
             llvm::function_ref<bool(const llvm::Instruction &)> Learns);

/// `Kernel` and the functions of its module that it calls, or may call.
llvm::SetVector<llvm::Function *> reachableFrom(llvm::Function &Kernel);

/// Whether one of the functions has a loop that ends by what another block, or
/// something beside the kernel, does.
bool mayWait(const llvm::SetVector<llvm::Function *> &Functions);

/// Whether no lane waits, in `F` or in a loop around a call of it, for another
/// lane of its warp. No lane of `F` needs to let another go first then.
bool isWaitless(llvm::Function &F);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_POLLS_H
