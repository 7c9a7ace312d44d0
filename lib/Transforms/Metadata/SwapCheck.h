// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks compare-and-swaps against earlier readers.
#ifndef CRSAN_TRANSFORMS_METADATA_SWAPCHECK_H
#define CRSAN_TRANSFORMS_METADATA_SWAPCHECK_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace crsan {

/// Checks each compare-and-swap of a function against the thread that last read
/// its location. Whether a compare-and-swap writes is known only when it has
/// finished; by then the cell may name a reader of the new value. So the reader
/// is loaded from the cell before the compare-and-swap, and compared with it
/// only if it succeeds. In a row of failing attempts at one address only the
/// first loads the reader, so a thread that polls a lock does so once.
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
