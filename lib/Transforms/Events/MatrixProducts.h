// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the runtime is called around matrix products of warp groups.
#ifndef CRSAN_TRANSFORMS_EVENTS_MATRIXPRODUCTS_H
#define CRSAN_TRANSFORMS_EVENTS_MATRIXPRODUCTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Instructions.h"

namespace crsan {

/// Where to tell of a product, or of its commit, at `I`: in front of the fence
/// of its registers, if nothing but products comes between, which have been
/// told there as well (a call that stands elsewhere is found on the way). A
/// call behind the fence would find registers that a product is to change, and
/// ptxas would let no product go on in the background. What `Descriptors` are
/// computed from is moved there.
llvm::Instruction *
beforeProducts(llvm::Instruction *I,
               llvm::ArrayRef<llvm::Value *> Descriptors = {});

/// Whether the statement waits for matrix products, and is told of behind it,
/// where no register is to be changed by those that it waits for: the statement
/// hands nothing on.
bool isProductWait(const llvm::Instruction &I);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_EVENTS_MATRIXPRODUCTS_H
