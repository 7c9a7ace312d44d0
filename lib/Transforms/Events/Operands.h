// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What calls of the runtime are given.
#ifndef CRSAN_TRANSFORMS_EVENTS_OPERANDS_H
#define CRSAN_TRANSFORMS_EVENTS_OPERANDS_H

#include "Events/Event.h"
#include "llvm/IR/IRBuilder.h"

namespace crsan {

inline bool isKernel(const llvm::Function &F) {
  return F.getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

/// The address space that a place is sure to be in, whatever the pointer's type
/// says: clang has generic pointers nearly everywhere. What a kernel is given
/// points to global memory, as NVPTX assumes, too.
unsigned knownSpace(const Location &Where);

/// The generic address of a place, as an integer.
llvm::Value *emitAddress(llvm::IRBuilder<> &B, const Location &Where);

/// The generic address of this lane's access, as an integer.
llvm::Value *emitAddress(llvm::IRBuilder<> &B, const Access &E);

/// The bytes of an access that is not whole: 0 where it is not made. Of what a
/// multicast copy writes, only the own block's counts.
llvm::Value *emitLength(llvm::IRBuilder<> &B, const Access &E);

/// `Value` if the condition of the access holds, else 0.
llvm::Value *emitIfMade(llvm::IRBuilder<> &B, const Access &E,
                        llvm::Value *Value);

/// What the runtime is told of the box of a tensor copy: its map, the number of
/// dimensions and as many coordinates as there can be.
llvm::SmallVector<llvm::Value *, 8> emitBox(llvm::IRBuilder<> &B,
                                            const TensorBox &Box);

/// How the strong access by `I` ended: 1: the compare-and-swap failed; 2: it
/// succeeded; 0: the access is none, or its result is not known.
llvm::Value *emitSwapResult(llvm::IRBuilder<> &B, llvm::Instruction &I,
                            const Access &E);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_EVENTS_OPERANDS_H
