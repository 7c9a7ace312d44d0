// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that a kernel allocates and frees.
#ifndef CRSAN_TRANSFORMS_COLLIDER_HEAPREUSE_H
#define CRSAN_TRANSFORMS_COLLIDER_HEAPREUSE_H

#include "llvm/IR/Function.h"

namespace crsan {

/// Makes the release of heap memory come before its next allocation in
/// causality order, as the collider's proof asks (docs/soundness.md, "What is
/// assumed"): a call of the runtime, which fences, stands before each call that
/// frees and behind each that allocates.
void orderHeapReuse(llvm::Function &F);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_COLLIDER_HEAPREUSE_H
