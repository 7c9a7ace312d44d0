//===- FastCheck.h - A metadata check in line -------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nearly every access is of what a register holds, in a page that is tracked
// exactly, of words whose last accessors are seen at a glance to be of the
// past: of an earlier grid, or before the block's last barrier. That glance is
// emitted in line, and behind a branch a closer look (Quick in
// runtime/device/metadata/HappensBefore.h), since a call would cost several
// times as much; everything else is the runtime's.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_METADATA_FASTCHECK_H
#define CRSAN_TRANSFORMS_METADATA_FASTCHECK_H

#include "Metadata/CellLocator.h"
#include "Metadata/WarpSnapshot.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>

namespace crsan {

/// A function's checks in line. What they know of their warp is their window.
class FastCheck {
public:
  /// At the beginning of the function. `First`: the window that a kernel begins
  /// with, as the runtime says, or null. `Sites`: generic address of the
  /// function's first AccessSite, or null. `HasBarriers`: threads of a block
  /// may meet here or in what it calls. `HasWarpBarriers`: lanes of a warp may
  /// meet here. `HasLocks`: they may hold locks.
  FastCheck(llvm::Function &F, llvm::IRBuilder<> &B, llvm::Value *First,
            llvm::Constant *Sites, bool HasBarriers, bool HasWarpBarriers,
            bool HasLocks);

  /// A synchronisation has happened: the snapshot is loaded anew.
  void emitSnapshot(llvm::IRBuilder<> &B) { Warp.emitLoad(B); }
  /// Replaces a barrier of all threads of the block, without telling the
  /// runtime if all their warps have done nothing but that since the last one.
  void emitBarrier(llvm::IntrinsicInst *Barrier);
  /// What the runtime knows this warp by (WarpState::Place).
  llvm::Value *emitPlace(llvm::IRBuilder<> &B) { return Warp.values(B).Place; }
  /// The clock of this lane's accesses here.
  llvm::Value *emitNow(llvm::IRBuilder<> &B);
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

  /// Checks a strong access that is about to happen, unless this thread has
  /// made it, and nothing but what can be made again and again, since it last
  /// synchronised, as threads do that poll. `IsAll`: the runtime is told
  /// nothing else of it.
  void emitStrongCheck(llvm::Instruction *Before, const FastAccess &A,
                       bool IsAll);
  /// A strong access has happened: the runtime is told, unless it has been told
  /// the same, as above. `Swap`: see emitSwapResult.
  void emitDone(llvm::Instruction *After, llvm::Constant *Site, uint32_t Number,
                llvm::Value *Address, llvm::Value *Swap);
  /// From here on, whatever was told may have to be told again.
  void emitForget(llvm::IRBuilder<> &B);

  /// After all has been emitted.
  void finish();

private:
  /// One access, as it is emitted.
  struct Check : LocatedAccess {
    struct Accessors {
      llvm::Value *Writer, *Reader;
    };
    llvm::SmallVector<Accessors, 4> Cells = {}; ///< As found.
    llvm::Value *Mine = nullptr;
    /// Of a write, what it has replaced that is not surely ordered, or 0, and
    /// where.
    llvm::Value *Replaced = nullptr, *Offset = nullptr;
  };
  using Window = WarpSnapshot::Values;

  void emitLoads(llvm::IRBuilder<> &B, Check &C, const Window &W,
                 llvm::Value *Several);
  llvm::Value *emitIsOld(llvm::IRBuilder<> &B, const Check &C, const Window &W);
  void emitReaders(llvm::IRBuilder<> &B, const Check &C, const Window &W);
  void emitStrong(llvm::IRBuilder<> &B, const Check &C, const Window &W);
  llvm::Value *emitSuspects(llvm::IRBuilder<> &B, Check &C, const Window &W);
  llvm::Value *emitIsKept(llvm::IRBuilder<> &B, const Check &C, const Window &W,
                          llvm::Value *Reader);
  llvm::Value *emitIsOrdered(llvm::IRBuilder<> &B, const Window &W,
                             const Check &C, llvm::Value *Earlier);
  llvm::Value *emitBytes(llvm::IRBuilder<> &B, const FastAccess &A);

  llvm::Function &F;
  const bool HasBarriers, HasLocks;
  WarpSnapshot Warp;
  std::optional<CellLocator> Cells;
  /// A variable until finish(): the number of accesses.
  llvm::AllocaInst *Count;
  /// The site and the address of the last strong access, and the address of
  /// the last one that may have released; 0: none.
  llvm::AllocaInst *Done, *Released;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_FASTCHECK_H
