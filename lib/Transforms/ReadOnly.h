//===- ReadOnly.h - What a kernel only reads --------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most of what kernels read, none of their threads writes, and then no check of
// such a read can find anything. The source rarely says so: two arguments may
// point to one array. But which allocation an argument points into is known
// when the kernel begins, and so is the answer.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_READONLY_H
#define CRSAN_TRANSFORMS_READONLY_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>

namespace crsan {

/// The pointers that a kernel is given, as arguments or in structures that are,
/// and through which it reads, if all that it writes is known to be elsewhere
/// or to be reached through such pointers.
class ReadOnlyInputs {
public:
  ReadOnlyInputs(llvm::Function &Kernel, const llvm::LoopInfo &Loops);

  /// The number of the input that \p Pointer leads into; none if it may lead
  /// elsewhere, or into what is surely written.
  std::optional<unsigned> inputOf(const llvm::Value *Pointer);

  /// At the kernel's head: whether the allocation that an input leads into is
  /// none of those that are written. \p Owner gives the number of the
  /// allocation that an address is in, an integer, or 0.
  llvm::Value *
  emitIsReadOnly(llvm::IRBuilder<> &B, unsigned Input,
                 llvm::function_ref<llvm::Value *(llvm::Value *Address)> Owner);

private:
  /// A pointer that the kernel is given.
  struct Given {
    llvm::Argument *Of;
    std::optional<int64_t> At; ///< Bytes into the structure that `Of` is.
    llvm::Type *T;
    llvm::Value *Number = nullptr; ///< Of its allocation, once emitted.

    bool operator==(const Given &G) const { return Of == G.Of && At == G.At; }
  };
  static std::optional<Given> asGiven(const llvm::Value *Object);
  bool noteWrite(llvm::Instruction &I);
  bool noteWritten(const llvm::Value *Pointer);

  const llvm::LoopInfo &Loops;
  bool IsKnown = true; ///< What is written.
  llvm::SmallVector<Given, 4> Written, Inputs;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_READONLY_H
