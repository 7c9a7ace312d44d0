// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who reads what a compare-and-swap writes.
#ifndef CRSAN_TRANSFORMS_METADATA_SWAPCHECK_H
#define CRSAN_TRANSFORMS_METADATA_SWAPCHECK_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace crsan {

/// Judges compare-and-swaps of a function against who has read before. Whether
/// one writes is known only when it is over, and then who is found in the cell
/// may have read what it has written. So the reader is taken from the cell
/// before it, and judged if it succeeds. Of attempts in a row at one address
/// only the first one looks: a thread that polls a lock does so once.
class SwapCheck {
public:
  explicit SwapCheck(llvm::Function &F) : F(F) {}

  /// Looks for the reader, by a call. `Place`: WarpState::Place.
  void emitBefore(llvm::Instruction *Swap, llvm::Constant *Site,
                  llvm::Value *Address, llvm::Value *Place);
  /// Where a check in line stores the one that it finds.
  llvm::AllocaInst *reader();
  /// In front of `At`. `Result`: see emitSwapResult.
  void emitAfter(llvm::Instruction *At, llvm::DebugLoc Loc,
                 llvm::Constant *Site, llvm::Value *Address,
                 llvm::Value *Result, uint32_t Size, llvm::Value *Place);
  /// Makes values of its variables.
  void finish();

private:
  llvm::Function &F;
  llvm::AllocaInst *Reader = nullptr; ///< Before the last attempts, ...
  llvm::AllocaInst *Where = nullptr;  ///< ... which are at this address.
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_SWAPCHECK_H
