// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What calls do and do not say.
//
// LLVM deletes, merges and moves a call as far as the call's attributes allow.
// Headers of clang 22 and CUDA 13 have inline PTX that accesses memory without
// `volatile` or "memory": an atomicAdd on a float4 whose result is unused is
// deleted, and two __ldcg of a __half with a barrier in between become one.
// LLVM 22 lets the matrix instructions of a warp be moved to where not all of
// its lanes are. Both get the attributes that PTX gives them, before anything
// optimises.
#ifndef CRSAN_TRANSFORMS_EVENTS_DECLAREDEFFECTS_H
#define CRSAN_TRANSFORMS_EVENTS_DECLAREDEFFECTS_H

#include "llvm/IR/Function.h"

namespace crsan {

/// Gives the calls of \p F the effects that their instructions have.
void declareEffects(llvm::Function &F);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_EVENTS_DECLAREDEFFECTS_H
