// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hash of a kernel's arguments.
//
// It tells launches of one kernel apart that have one shape, as those of two
// streams that each work on a part of an array (include/crsan/abi/Launch.h).
#ifndef CRSAN_TRANSFORMS_METADATA_ARGUMENTHASH_H
#define CRSAN_TRANSFORMS_METADATA_ARGUMENTHASH_H

#include "llvm/IR/IRBuilder.h"

namespace crsan {

/// At a kernel's head: computes abi::finishArguments of its arguments, or 0 if
/// an argument is of a kind whose bytes are not known.
llvm::Value *emitArgumentHash(llvm::IRBuilder<> &B, llvm::Function &Kernel);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_ARGUMENTHASH_H
