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
// runtime/device/Judgement.h), since a call would cost several times as much;
// everything else is the runtime's.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_FASTCHECK_H
#define CRSAN_TRANSFORMS_FASTCHECK_H

#include "crsan/Metadata.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/NVPTXAddrSpace.h"

namespace crsan {

/// An access of 1, 2, 4, 8 or 16 bytes.
struct FastAccess {
  llvm::Constant *Site; ///< Generic address of its AccessSite.
  uint32_t Number;      ///< AccessSite::Number.
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
  /// What the address points into, if it moves there from one iteration of a
  /// loop to the next as the loop counts.
  const llvm::Value *Object;
  /// Of a read: the cell is to know of it.
  bool IsRemembered;
  /// Of a compare-and-swap: a variable for the reader of its first word that it
  /// would race with if it wrote, or 0.
  llvm::AllocaInst *Reader;

  bool mayBeShared() const {
    return Space != llvm::NVPTXAS::ADDRESS_SPACE_GLOBAL;
  }
  bool mayBeGlobal() const {
    return Space != llvm::NVPTXAS::ADDRESS_SPACE_SHARED;
  }
};

/// What a function's checks in line need. What they have in common between two
/// synchronisations is its *window*: loaded at the beginning and after whatever
/// may have changed it.
class FastCheck {
public:
  /// At the beginning of the function. `First`: the window that a kernel begins
  /// with, as the runtime says, or null. `Sites`: generic address of the
  /// function's first AccessSite, or null. `HasBarriers`: threads of a block
  /// may meet here or in what it calls. `HasLocks`: they may hold locks.
  FastCheck(llvm::Function &F, llvm::IRBuilder<> &B, llvm::Value *First,
            llvm::Constant *Sites, bool HasBarriers, bool HasLocks);

  /// A synchronisation has happened: the window is loaded anew.
  void emitWindow(llvm::IRBuilder<> &B);
  /// Replaces a barrier of all threads of the block, without telling the
  /// runtime if all their warps have done nothing but that since the last one.
  void emitBarrier(llvm::IntrinsicInst *Barrier);
  /// The number of the allocation that has the page of an address to itself;
  /// 0: there is none, or nobody knows.
  llvm::Value *emitOwner(llvm::IRBuilder<> &B, llvm::Value *Address);
  /// \p Condition, where no other grid may run beside this one.
  llvm::Value *emitIsAlone(llvm::IRBuilder<> &B, llvm::Value *Condition);
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
  struct Check {
    const FastAccess &A;
    llvm::Value *InShared = nullptr; ///< i1.
    llvm::Value *At = nullptr;       ///< Its first cell.
    /// The check that found the page, by position, and of that one how far
    /// others are from it.
    size_t Anchor = 0;
    int64_t Least = 0, Most = 0;
    struct Accessors {
      llvm::Value *Writer, *Reader;
    };
    llvm::SmallVector<Accessors, 4> Cells = {}; ///< As found.
    llvm::Value *Mine = nullptr;
    /// Of a write, what it has replaced that is not surely ordered, or 0, and
    /// where.
    llvm::Value *Replaced = nullptr, *Offset = nullptr;
  };
  struct Window {
    llvm::Value *Mine;  ///< Thread, clock and first site, an Accessor.
    llvm::Value *Place; ///< As WarpState's.
    llvm::Value *Barrier, *Floor; ///< Shifted to where a clock is.
  };
  /// The pages of what is asked for in a loop, as they were last found.
  struct Found {
    llvm::AllocaInst *First, *Number; ///< Number: 0: none.
    llvm::AllocaInst *Delta; ///< From four times an address to its cell.
  };
  Window window(llvm::IRBuilder<> &B);
  void setWindow(llvm::IRBuilder<> &B, llvm::ArrayRef<llvm::Value *> State);
  void emitSites(llvm::IRBuilder<> &B, llvm::Constant *Sites);
  llvm::Value *emitEntry(llvm::IRBuilder<> &B, llvm::Value *Address);
  llvm::Value *emitPage(llvm::IRBuilder<> &B, llvm::Value *Address,
                        llvm::Value *&Base);
  llvm::Value *emitWhere(llvm::IRBuilder<> &B, const Window &W,
                         llvm::SmallVectorImpl<Check> &Checks);
  void emitLoads(llvm::IRBuilder<> &B, Check &C, const Window &W,
                 llvm::Value *Several);
  llvm::Value *emitIsOld(llvm::IRBuilder<> &B, const Check &C, const Window &W);
  void emitReaders(llvm::IRBuilder<> &B, const Check &C, const Window &W);
  void emitStrong(llvm::IRBuilder<> &B, const Check &C, const Window &W);
  llvm::Value *emitSuspects(llvm::IRBuilder<> &B, Check &C, const Window &W);
  llvm::Value *emitIsKept(llvm::IRBuilder<> &B, const Check &C, const Window &W,
                          llvm::Value *Reader);
  llvm::Value *emitOtherBlock(llvm::IRBuilder<> &B, const Window &W);
  static llvm::Value *emitClock(llvm::IRBuilder<> &B, const Window &W);
  llvm::Value *emitInBlock(llvm::IRBuilder<> &B, const Window &W,
                           llvm::Value *Low);
  llvm::Value *emitIsOrdered(llvm::IRBuilder<> &B, const Window &W,
                             const Check &C, llvm::Value *Earlier);
  llvm::Value *emitBytes(llvm::IRBuilder<> &B, const FastAccess &A);

  llvm::Function &F;
  const bool HasBarriers, HasLocks;
  llvm::Value *Self;        ///< Address of the warp's state.
  llvm::Value *Pages;       ///< Address of the page table, or of a zero.
  llvm::Value *SharedCells; ///< Address of the cells of shared memory, or 0.
  llvm::Value *FirstSite; ///< Index of the function's; negative: there is none.
  /// Variables until finish(), for values that flow: the fields of Window, and
  /// the number of accesses.
  llvm::AllocaInst *Mine, *Place, *Barrier, *Floor, *Count;
  /// The site and the address of the last strong access, and the address of
  /// the last one that may have released; 0: none.
  llvm::AllocaInst *Done, *Released;
  llvm::MapVector<const llvm::Value *, Found> FoundPages; ///< By Object.
  llvm::SmallVector<llvm::CallInst *> Loaded;             ///< All windows.
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_FASTCHECK_H
