// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A metadata check in line.
//
// Where the functions of runtime/device/metadata/entry/InLine.h are called, and
// what branches on their results: for a group of accesses, first the glance
// that nearly always shows that no access races, then the closer look, then the
// calls of the runtime.
#ifndef CRSAN_TRANSFORMS_METADATA_FASTCHECK_H
#define CRSAN_TRANSFORMS_METADATA_FASTCHECK_H

#include "Metadata/CellLocator.h"
#include "Metadata/WarpSnapshot.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>

namespace crsan {

/// A function's checks in line.
class FastCheck {
public:
  /// At the beginning of the function. `First`: what __crsan_md_enter has
  /// returned, or null if the function is not a kernel. `Sites`: the generic
  /// address of the function's first AccessSite, or null. `Shape`:
  /// abi::ShapeBits of the function.
  FastCheck(llvm::Function &F, llvm::IRBuilder<> &B, llvm::Value *First,
            llvm::Constant *Sites, uint32_t Shape);

  /// A synchronisation has happened: the snapshot is loaded anew.
  void emitSnapshot(llvm::IRBuilder<> &B) { Warp.emitLoad(B); }
  /// Replaces a barrier of all threads of the block, without telling the
  /// runtime if all their warps have done nothing but that since the last one.
  /// `Site` is the barrier's, and `Number` its number; or null.
  void emitBarrier(llvm::IntrinsicInst *Barrier, llvm::Constant *Site,
                   uint32_t Number, llvm::Value *Iteration);
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
  /// The same by a call for each of the accesses, which are weak and no copies.
  void emitCalls(llvm::Instruction *Before,
                 llvm::ArrayRef<FastAccess> Accesses);

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
      llvm::Value *At, *Writer, *Reader;
      llvm::Value *IsKept = nullptr; ///< Of a read: it need not be remembered.
    };
    llvm::SmallVector<Accessors, 2> Cells = {}; ///< As found.
    llvm::Value *Mine = nullptr;                ///< As a cell remembers it.
  };
  /// Whether the accessors that a group has found are surely ordered before its
  /// accesses: those that its writes have replaced, and the others.
  struct Ordered {
    llvm::Value *Replaced, *Others;
  };
  using Values = WarpSnapshot::Values;

  llvm::Constant *shape(const FastAccess &A) const;
  llvm::Value *emitLocated(llvm::IRBuilder<> &B, const Values &W,
                           llvm::ArrayRef<FastAccess> Accesses,
                           llvm::SmallVectorImpl<Check> &Checks);
  void emitGlance(llvm::IRBuilder<> &B, const Values &W,
                  llvm::MutableArrayRef<Check> Checks, llvm::BasicBlock *Closer,
                  llvm::BasicBlock *Tail);
  Ordered emitCloser(llvm::IRBuilder<> &B, const Values &W,
                     llvm::ArrayRef<Check> Checks);
  void emitSlow(llvm::IRBuilder<> &B, const Values &W,
                llvm::ArrayRef<Check> Checks, llvm::Value *Flags);
  void emitLook(llvm::IRBuilder<> &B, const Values &W, Check &C,
                llvm::Value *Several);
  void emitStrong(llvm::IRBuilder<> &B, const Values &W, const Check &C);
  void emitReaders(llvm::IRBuilder<> &B, const Check &C);
  llvm::Value *emitIsOrdered(llvm::IRBuilder<> &B, const Values &W,
                             const Check &C, llvm::Value *Earlier);

  llvm::Function &F;
  const uint32_t Shape; ///< abi::ShapeBits of the function.
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
