//===- WarpSnapshot.h - What checks in line know of their warp ----*- C++
//-*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_METADATA_WARPSNAPSHOT_H
#define CRSAN_TRANSFORMS_METADATA_WARPSNAPSHOT_H

#include "crsan/abi/Metadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

#include <utility>

namespace crsan {

/// To where a clock is in the upper half of an accessor.
constexpr unsigned ClockShift = abi::AccessorLayout::ClockAt - 32;

/// The lower and the upper half of an accessor.
std::pair<llvm::Value *, llvm::Value *> halves(llvm::IRBuilder<> &B,
                                               llvm::Value *Accessor);

/// What a function's checks in line have in common between two
/// synchronisations: loaded at the beginning and after whatever may have
/// changed it.
class WarpSnapshot {
public:
  struct Values {
    llvm::Value *Mine;  ///< Thread, clock and first site, an Accessor.
    llvm::Value *Place; ///< As WarpState's.
    /// As WarpState's, shifted to where a clock is. Met: null where no barrier
    /// of the warp is.
    llvm::Value *Barrier, *Floor, *Met;
  };

  /// At the beginning of the function; then emitSelf() and emitFirst().
  /// `HasWarpBarriers`: lanes of a warp may meet here.
  WarpSnapshot(llvm::Function &F, llvm::IRBuilder<> &B, bool HasLocks,
               bool HasWarpBarriers);
  /// `First`: the window that a kernel begins with, as the runtime says, or
  /// null. Returns its fields, or nothing.
  llvm::SmallVector<llvm::Value *, 4> emitSelf(llvm::IRBuilder<> &B,
                                               llvm::Value *First);
  /// `State`: what emitSelf has returned.
  void emitFirst(llvm::IRBuilder<> &B, llvm::ArrayRef<llvm::Value *> State,
                 llvm::Constant *Sites);

  /// Address of the warp's state.
  llvm::Value *self() const { return Self; }
  /// A synchronisation has happened.
  void emitLoad(llvm::IRBuilder<> &B);
  Values values(llvm::IRBuilder<> &B);
  /// See FastCheck.
  void emitBarrier(llvm::IntrinsicInst *Barrier);

  /// The warp's number.
  static llvm::Value *emitWarp(llvm::IRBuilder<> &B, llvm::Value *Place);
  /// The warp's clock, where accessors have it in their upper half.
  static llvm::Value *emitClock(llvm::IRBuilder<> &B, const Values &W);
  /// Whether an accessor, of which `Low` is the lower half, is of our block.
  static llvm::Value *emitInBlock(llvm::IRBuilder<> &B, const Values &W,
                                  llvm::Value *Low);
  /// The bits of an accessor in which those of other blocks differ from ours;
  /// if there are none, those of other warps.
  static llvm::Value *emitOtherBlock(llvm::IRBuilder<> &B, const Values &W);

  /// After all has been emitted: what is to be promoted, ...
  llvm::SmallVector<llvm::AllocaInst *> variables() const {
    return Met ? llvm::SmallVector<llvm::AllocaInst *>{Mine, Place, Barrier,
                                                       Floor, Met}
               : llvm::SmallVector<llvm::AllocaInst *>{Mine, Place, Barrier,
                                                       Floor};
  }
  /// ... and when it has been.
  void finish();

private:
  void emitSites(llvm::IRBuilder<> &B, llvm::Constant *Sites);
  /// `State`: the first four fields of a WarpState. `NowMet`: its Met.
  void set(llvm::IRBuilder<> &B, llvm::ArrayRef<llvm::Value *> State,
           llvm::Value *NowMet);

  llvm::Function &F;
  const bool HasLocks;
  llvm::Value *Self = nullptr;
  /// Index of the function's; negative: there is none.
  llvm::Value *FirstSite = nullptr;
  /// Variables until the end, for values that flow: the fields of Values.
  llvm::AllocaInst *Mine, *Place, *Barrier, *Floor, *Met = nullptr;
  llvm::SmallVector<llvm::CallInst *> Loaded; ///< All windows.
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_WARPSNAPSHOT_H
