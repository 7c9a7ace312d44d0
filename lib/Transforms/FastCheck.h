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
#include "llvm/IR/IntrinsicInst.h"

namespace crsan {

/// An access of 1, 2, 4, 8 or 16 bytes.
struct FastAccess {
  llvm::Constant *Site; ///< Generic address of its AccessSite.
  llvm::Value *Address; ///< Generic, as an integer.
  llvm::DebugLoc Loc;   ///< Of its calls.
  unsigned Space;       ///< The address space that is known of it.
  uint32_t Size;
  bool Writes;
  bool IsStrong;
  bool Reads;     ///< Of a strong access.
  bool IsWide;    ///< Of a strong access: its scope is more than the block.
  bool IsAligned; ///< Known to be a multiple of Size.
  bool IsUniform; ///< All lanes of a warp that come here have one address.
  /// The address is that of Root, if there is one, and Offset.
  const llvm::Value *Root;
  int64_t Offset;
  /// Of a read: the cell is to know of it.
  bool IsRemembered;
};

/// What a function's checks in line need. What they have in common between two
/// synchronisations is its *window*: loaded at the beginning and after whatever
/// may have changed it.
class FastCheck {
public:
  /// At the beginning of the function. `First`: the window that a kernel begins
  /// with, as the runtime says, or null. `HasBarriers`: threads of a block may
  /// meet here or in what it calls. `HasLocks`: they may hold locks.
  FastCheck(llvm::Function &F, llvm::IRBuilder<> &B, llvm::Value *First,
            bool HasBarriers, bool HasLocks);

  /// A synchronisation has happened: the window is loaded anew.
  void emitWindow(llvm::IRBuilder<> &B);
  /// Replaces a barrier of all threads of the block, without telling the
  /// runtime if all their warps have done nothing but that since the last one.
  void emitBarrier(llvm::IntrinsicInst *Barrier);
  /// Counts `Number` accesses of this lane.
  void emitCount(llvm::IRBuilder<> &B, uint32_t Number);
  /// Tells the runtime of those counted so far.
  void emitCounted(llvm::IRBuilder<> &B);
  /// Checks accesses of one window that are about to happen, or have just
  /// happened; the block of `Before` is split. What the checks load is loaded
  /// together.
  void emit(llvm::Instruction *Before, llvm::ArrayRef<FastAccess> Accesses);

  /// A strong access is about to write: if a fence before it may have made it a
  /// release, the runtime is told.
  void emitRelease(llvm::Instruction *Before, llvm::Constant *Site,
                   llvm::Value *Address);

  /// After all has been emitted.
  void finish();

private:
  /// One access, as it is emitted.
  struct Check {
    const FastAccess &A;
    llvm::Value *Index = nullptr;    ///< The site's, i32.
    llvm::Value *InShared = nullptr; ///< i1.
    llvm::Value *PageOffset = nullptr;
    llvm::Value *At = nullptr; ///< Its first cell.
    struct Accessors {
      llvm::Value *Writer, *Reader;
    };
    llvm::SmallVector<Accessors, 4> Cells = {}; ///< As found.
    llvm::Value *Mine = nullptr;
    llvm::Value *IsSuspect = nullptr; ///< Not surely ordered.
    /// Of a write, what it has replaced that is not surely ordered, or 0, and
    /// where.
    llvm::Value *Replaced = nullptr, *Offset = nullptr;
  };
  struct Window {
    llvm::Value *Mine;            ///< The thread and the clock, as an Accessor.
    llvm::Value *Place;           ///< As WarpState's.
    llvm::Value *Barrier, *Floor; ///< Shifted to where a clock is.
  };
  Window window(llvm::IRBuilder<> &B);
  void setWindow(llvm::IRBuilder<> &B, llvm::ArrayRef<llvm::Value *> State);
  llvm::Value *emitWhere(llvm::IRBuilder<> &B, const Window &W, Check &C,
                         llvm::ArrayRef<Check> Before);
  void emitLoads(llvm::IRBuilder<> &B, Check &C, const Window &W);
  void emitCells(llvm::IRBuilder<> &B, Check &C, const Window &W);
  llvm::Value *emitIsOrdered(llvm::IRBuilder<> &B, const Window &W,
                             const Check &C, llvm::Value *Earlier);
  llvm::Value *emitBytes(llvm::IRBuilder<> &B, const FastAccess &A);

  llvm::Function &F;
  const bool HasBarriers, HasLocks;
  llvm::Value *Self;  ///< Address of the warp's state.
  llvm::Value *Pages; ///< Address of the page table, or of a zero.
  /// Variables until finish(), for values that flow: the fields of Window, and
  /// the number of accesses.
  llvm::AllocaInst *Mine, *Place, *Barrier, *Floor, *Count;
  llvm::SmallVector<llvm::CallInst *> Loaded; ///< All windows.
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_FASTCHECK_H
