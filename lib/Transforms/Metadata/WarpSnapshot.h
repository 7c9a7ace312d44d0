// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What checks in line know of their warp.
#ifndef CRSAN_TRANSFORMS_METADATA_WARPSNAPSHOT_H
#define CRSAN_TRANSFORMS_METADATA_WARPSNAPSHOT_H

#include "crsan/abi/Metadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

namespace crsan {

/// The fields of what __crsan_md_enter returns.
namespace Entered {
enum Field : unsigned { Clock, Barrier, Floor, Place, State, Pages };
}

/// Loads a field of the WarpState at `State` that stays as it is while the
/// block runs.
llvm::Value *emitStateField(llvm::IRBuilder<> &B, llvm::Value *State,
                            llvm::Type *T, uint64_t Offset);

/// The fields of a Snapshot (runtime/device/metadata/entry/InLineWarp.h) where
/// a function's checks in line need them: what the checks know of their warp
/// between two synchronisations. It is loaded at the beginning of the function
/// and after whatever may have changed it.
class WarpSnapshot {
public:
  struct Values {
    llvm::Value *Mine, *Place, *Barrier, *Floor, *Met, *Start;
  };

  /// At the beginning of the function; then emitState() and emitFirst().
  /// `Shape`: abi::ShapeBits of the function.
  WarpSnapshot(llvm::Function &F, llvm::IRBuilder<> &B, uint32_t Shape);
  /// `First`: what __crsan_md_enter has returned, or null if the function is
  /// not a kernel.
  void emitState(llvm::IRBuilder<> &B, llvm::Value *First);
  /// `Sites`: the function's first AccessSite, or null if there is none.
  void emitFirst(llvm::IRBuilder<> &B, llvm::Value *First,
                 llvm::Constant *Sites);

  /// The address of the warp's state.
  llvm::Value *state() const { return State; }
  /// A synchronisation has happened.
  void emitLoad(llvm::IRBuilder<> &B);
  Values values(llvm::IRBuilder<> &B);
  /// See FastCheck.
  void emitBarrier(llvm::IntrinsicInst *Barrier, llvm::Constant *Site,
                   uint32_t Number, llvm::Value *Iteration);

  /// After all has been emitted: what is to be promoted, ...
  llvm::ArrayRef<llvm::AllocaInst *> variables() const { return Fields; }
  /// ... and when it has been.
  void finish();

private:
  enum Field { Mine, Place, Barrier, Floor, Met, NumFields };

  void emitSites(llvm::IRBuilder<> &B, llvm::Constant *Sites);
  void set(llvm::IRBuilder<> &B, llvm::CallInst *Snapshot);
  void emitMeeting(llvm::Instruction *Before, llvm::Constant *Site,
                   uint32_t Number, llvm::Value *Iteration, const Values &W,
                   const llvm::DebugLoc &Loc);

  llvm::Function &F;
  const uint32_t Shape;
  llvm::Value *State = nullptr;
  /// The index of the function's first site; negative: the site has none.
  llvm::Value *FirstSite = nullptr;
  llvm::Value *Start = nullptr; ///< Of __crsan_in_start().
  /// Variables until the end, for values that flow.
  llvm::SmallVector<llvm::AllocaInst *, NumFields> Fields;
  llvm::SmallVector<llvm::CallInst *> Snapshots;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_WARPSNAPSHOT_H
