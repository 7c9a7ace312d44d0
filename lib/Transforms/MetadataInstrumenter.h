//===- MetadataInstrumenter.h - Following a function's events -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_METADATAINSTRUMENTER_H
#define CRSAN_TRANSFORMS_METADATAINSTRUMENTER_H

#include "Event.h"
#include "FastCheck.h"
#include "Redundancy.h"
#include "SiteTable.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/IRBuilder.h"

namespace crsan {

/// Tells the runtime of each event of a function (metadata mode): of accesses
/// before they happen, so that they can be judged whatever becomes of the
/// thread; of what a thread gives to others, before; of what it gets, after.
class MetadataInstrumenter {
public:
  /// Notes the function's events, and changes nothing yet.
  MetadataInstrumenter(llvm::Function &F, SiteTable &Table,
                       llvm::StringRef Kernel,
                       llvm::FunctionAnalysisManager &FAM);

  /// Accesses that are left unchecked.
  uint32_t skipped() const { return Skipped; }
  /// True if a thread may end here, or start a grid, without a word to the
  /// runtime.
  bool mayLeave() const { return MayLeave; }

  /// True if something here may synchronise in ways that nobody understands.
  bool isOpaque() const;

  /// True if a thread may release or acquire by strong accesses here.
  bool mayFence() const;

  /// Emits the calls. `Flags`: EnterFlags of the module's kernels.
  /// `WithFences`: some function that runs in them mayFence.
  void run(uint32_t Flags, bool WithFences);

private:
  struct Step {
    llvm::Instruction *Inst; ///< Where it is told.
    Event What;
    llvm::Instruction *Accessor;    ///< Whose place in the source it has.
    llvm::Constant *Site = nullptr; ///< Of an access.
    /// Of an access that is checked in line: the window that it is in, from 1
    /// on, and, of the first of its block, how many there are in it.
    unsigned Window = 0, InBlock = 0;
    bool IsUniform = false; ///< All lanes that are there access one location.
    llvm::SmallVector<Companion, 2> Companions = {}; ///< Of an access.
    /// Of a read that is checked in line: bytes that the thread is sure to
    /// write next.
    uint32_t Overwritten = 0;
  };

  /// `Window`: the one that goes on from the block before, 0 if none.
  void plan(llvm::BasicBlock &BB, CheckedAccesses &Checked, unsigned &Window);
  void planAccess(llvm::Instruction &I, const Event &E,
                  CheckedAccesses &Checked, unsigned &Window);
  /// The number of the step that checks it, if none before does.
  std::optional<size_t> planCheck(llvm::Instruction &I, const Event &E,
                                  CheckedAccesses &Checked, unsigned &Window);
  void addCompanion(Step &S, llvm::Instruction &I, bool IsWrite);
  bool isJustAccess(const Step &S) const;
  bool isRemembered(const Step &S) const;
  void planOther(llvm::Instruction &I, const Event &E, unsigned &Window);
  void emitFast(const Step &S);
  void emitBefore(const Step &S);
  void emitAfter(const Step &S);
  llvm::Constant *siteOf(const Step &S);
  llvm::Value *emitAddress(llvm::IRBuilder<> &B, const Place &Where);
  /// The bytes of an access that is not whole: 0 where it is not made.
  llvm::Value *emitLength(llvm::IRBuilder<> &B, const Event &E);
  llvm::Value *emitSwapResult(llvm::IRBuilder<> &B, const Step &S);
  void call(llvm::IRBuilder<> &B, llvm::StringRef Name,
            llvm::ArrayRef<llvm::Value *> Arguments);

  llvm::Function &F;
  SiteTable &Table;
  llvm::StringRef Kernel;
  llvm::OptimizationRemarkEmitter &ORE;
  llvm::UniformityInfo &Uniformity;
  std::vector<Step> Steps;
  unsigned NumWindows = 0;
  bool HasFences = true;
  std::optional<FastCheck> Fast;
  std::vector<FastCheck::Window> Windows; ///< By number.
  uint32_t Skipped = 0;
  bool MayLeave = false;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATAINSTRUMENTER_H
