// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain read-modify-writes.
#ifndef CRSAN_TRANSFORMS_SITES_PLAINUPDATE_H
#define CRSAN_TRANSFORMS_SITES_PLAINUPDATE_H

#include "llvm/IR/Instruction.h"

namespace crsan {

/// Whether the instruction is a load of which something is made that is stored
/// at the same place, as in `*P += 1`, or that store. For reports alone: where
/// it cannot be seen, the answer is no.
bool isOfPlainUpdate(const llvm::Instruction &I);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_SITES_PLAINUPDATE_H
