//===- FastCheck.h - A metadata check in line -------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nearly every access is of what a register holds, in a page that is tracked
// exactly, of words whose last accessors are seen at a glance to be ordered
// before it (Quick in runtime/device/Judgement.h). That glance is emitted in
// line, since a call would cost several times as much; everything else is the
// runtime's.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_FASTCHECK_H
#define CRSAN_TRANSFORMS_FASTCHECK_H

#include "crsan/Metadata.h"
#include "llvm/IR/IRBuilder.h"

namespace crsan {

/// An access of 1, 2, 4, 8 or 16 bytes.
struct FastAccess {
  llvm::Constant *Site; ///< Generic address of its AccessSite.
  llvm::Value *Address; ///< Generic, as an integer.
  unsigned Space;       ///< The address space that is known of it.
  uint32_t Size;
  bool Writes;
  bool IsStrong;
  bool Reads;     ///< Of a strong access.
  bool IsWide;    ///< Of a strong access: its scope is more than the block.
  bool IsAligned; ///< Known to be a multiple of Size.
  bool IsUniform; ///< All lanes of a warp that come here have one address.
  /// Of a read: the cell is to know of it.
  bool IsRemembered;
};

class FastCheck {
public:
  /// At the beginning of the function.
  FastCheck(llvm::Function &F, llvm::IRBuilder<> &B);

  /// What all accesses between two synchronisations have in common.
  struct Window {
    llvm::Value *Mine = nullptr; ///< The thread and the clock, as an Accessor.
    llvm::Value *Barrier = nullptr, *Floor = nullptr, *Place = nullptr;
  };
  Window emitWindow(llvm::IRBuilder<> &B);
  /// Counts `Number` accesses of each lane that is here.
  void emitCount(llvm::IRBuilder<> &B, uint32_t Number);
  /// Checks an access that is about to happen; the blocks of `Before` are
  /// split.
  void emit(llvm::Instruction *Before, const Window &W, const FastAccess &A);

  /// A strong access of `W` is about to write: if a fence before it may have
  /// made it a release, the runtime is told.
  void emitRelease(llvm::Instruction *Before, const Window &W,
                   llvm::Constant *Site, llvm::Value *Address);

private:
  llvm::Value *emitIsOrdered(llvm::IRBuilder<> &B, const Window &W,
                             const FastAccess &A, llvm::Value *Mine,
                             llvm::Value *Earlier, llvm::Value *InShared);
  llvm::Value *emitBytes(llvm::IRBuilder<> &B, const FastAccess &A);

  llvm::Function &F;
  llvm::Value *Self;  ///< Address of the warp's state.
  llvm::Value *Pages; ///< Address of the page table, if there is one.
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_FASTCHECK_H
