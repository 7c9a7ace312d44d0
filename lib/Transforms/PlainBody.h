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
  /// Whether the body of `F` can be copied within `F`: it is small enough, has
  /// no inline assembly that defines names and no call that must not be
  /// duplicated, and all its variables are at its beginning.
  static bool canCopy(const llvm::Function &F);

  /// Copies the body of `F` as it is now. The variables at its beginning stay
  /// common to both bodies.
  explicit PlainBody(llvm::Function &F);

  /// The end of the code that both bodies share; the branch that chooses
  /// between them stands there.
  llvm::Instruction *headEnd() const { return HeadEnd; }
  /// Makes that branch go to the copy if `Condition` holds, and else to the
  /// original body.
  void emitChoice(llvm::Value *Condition);
  /// The first block of the original body, and all its blocks.
  llvm::BasicBlock *body() const { return Body; }
  llvm::ArrayRef<llvm::BasicBlock *> blocks() const { return Blocks; }

  llvm::Instruction *copyOf(const llvm::Instruction *I) const {
    return llvm::cast<llvm::Instruction>(Copies.lookup(I));
  }

private:
  llvm::Instruction *HeadEnd;
  llvm::BasicBlock *Body;
  llvm::SmallVector<llvm::BasicBlock *> Blocks;
  llvm::ValueToValueMapTy Copies;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_PLAINBODY_H
