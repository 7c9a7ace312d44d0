// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel without checks.
#ifndef CRSAN_TRANSFORMS_PLAINBODY_H
#define CRSAN_TRANSFORMS_PLAINBODY_H

#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace crsan {

/// A copy of a kernel's body: in metadata mode for launches that cannot race,
/// in the collider for warps in which nothing is checked.
class PlainBody {
public:
  /// Whether `F` can be executed as a copy of itself as well as it can.
  static bool canCopy(const llvm::Function &F);

  /// Copies all that `F` does by now but its variables, which both bodies use.
  explicit PlainBody(llvm::Function &F);

  /// Before this, the kernel decides by which one it goes on.
  llvm::Instruction *headEnd() const { return Head->getTerminator(); }
  /// By the copy if `Condition` holds.
  void emitChoice(llvm::Value *Condition);
  /// The beginning of the body that there was, and all its blocks.
  llvm::BasicBlock *body() const { return Body; }
  llvm::ArrayRef<llvm::BasicBlock *> blocks() const { return Blocks; }

  llvm::Instruction *copyOf(const llvm::Instruction *I) const {
    return llvm::cast<llvm::Instruction>(Copies.lookup(I));
  }

private:
  llvm::BasicBlock *Head, *Body;
  llvm::SmallVector<llvm::BasicBlock *> Blocks;
  llvm::ValueToValueMapTy Copies;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PLAINBODY_H
