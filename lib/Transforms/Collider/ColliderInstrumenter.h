// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emitting a function's checks.
#ifndef CRSAN_TRANSFORMS_COLLIDER_COLLIDERINSTRUMENTER_H
#define CRSAN_TRANSFORMS_COLLIDER_COLLIDERINSTRUMENTER_H

#include "Collider/Window.h"
#include "Sites/SiteTableWriter.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include <map>

namespace crsan {

/// Instruments one function. The fast path asks whether this execution of a
/// window is sampled: in straight-line code by a random number against the
/// window's interval, in loops by counting down a register. The slow path calls
/// the runtime.
class ColliderInstrumenter {
public:
  /// `Races`: of all sites of the function, abi::RacesAnyTime and
  /// RacesInInterval.
  ColliderInstrumenter(llvm::Function &F, SiteTableWriter &Table,
                       llvm::StringRef Kernel, uint8_t Races,
                       llvm::FunctionAnalysisManager &FAM);

  /// `MayCopy`: nothing outside knows the function's blocks, which may be
  /// copied for warps that are not sampled.
  void run(bool MayCopy);

private:
  /// A loop's countdown, shared by the windows that run in every iteration.
  struct Countdown {
    llvm::AllocaInst *Skip;
    uint32_t Window; ///< Of SiteTableWriter::addWindow().
  };
  struct Planned {
    Window W;
    const Countdown *Loop; ///< Null: decided by `Sampling` alone.
    uint32_t Sampling;     ///< As Countdown::Window.
  };

  bool canBePlain() const;
  void plan();
  void planCopies();
  void countBarriers();
  const Countdown *countdownOf(llvm::BasicBlock &BB);
  void instrument(Planned &P);
  llvm::Value *emitDecision(llvm::IRBuilder<> &B, const Planned &P);
  llvm::Value *emitRandomBelow(llvm::IRBuilder<> &B, llvm::Value *Interval);
  llvm::Instruction *emitBranch(const Planned &P, llvm::Instruction *Head,
                                llvm::Value *&Sampled);
  void emitGroup(const Planned &P, const Group &G, llvm::Instruction *End);
  void emitCopyWatches(llvm::IRBuilder<> &B, const Group &G, const Group &Here,
                       llvm::ArrayRef<llvm::Value *> Arguments);
  void emitHeld(llvm::Value *Held, const WindowAccess &Copy);
  void emitUnwatch(llvm::Instruction *Before);
  void emitLateStoreCheck(const WindowAccess &A, llvm::Value *Sampled);
  llvm::Value *storedBits(llvm::IRBuilder<> &B, const WindowAccess &A);

  llvm::Function &F;
  llvm::Module &M;
  SiteTableWriter &Table;
  llvm::StringRef Kernel;
  /// abi::RacesAnyTime and RacesInInterval, or neither.
  const uint8_t Races;
  llvm::FunctionAnalysisManager &FAM;
  /// The blocks to be checked: not those of the plain body.
  llvm::SmallVector<llvm::BasicBlock *> Blocks;
  std::map<llvm::Loop *, Countdown> Countdowns; ///< Plan points into it.
  std::vector<Planned> Plan;
  /// Stores whose values are not known where their group is checked.
  llvm::DenseMap<const llvm::Instruction *, llvm::Constant *> LateStores;
  llvm::AllocaInst *Addresses = nullptr; ///< The runtime's Group.
  /// How many barriers of the block the thread has come through. Null: the
  /// function has none, or its sites have no RacesInInterval.
  llvm::AllocaInst *Barriers = nullptr;
  /// The thread's watchpoint on a copy that it waits for (abi::CopyWatch), or
  /// 0; in the bits from abi::CommitsAt on, how many groups the thread has
  /// committed since. Null: the function begins no such copy.
  llvm::AllocaInst *Watched = nullptr;
  /// How these copies complete; nothing: in several ways.
  std::optional<Completion> Way;
  /// Where the thread may wait for its copies, or let others know that they
  /// have ended, and where it may leave the function; and where it commits
  /// copies.
  std::vector<llvm::Instruction *> Waits, Commits;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_COLLIDER_COLLIDERINSTRUMENTER_H
