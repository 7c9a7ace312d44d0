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
#include "GivenArrays.h"
#include "PlainBody.h"
#include "Redundancy.h"
#include "SharedVariables.h"
#include "SiteTable.h"
#include "SwapCheck.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/IRBuilder.h"

namespace crsan {

/// What the functions of a module do, all together.
struct ModuleEvents {
  bool HasUnknown = false; ///< May synchronise in ways that nobody understands.
  bool HasFences =
      false; ///< Threads may release or acquire by strong accesses.
  bool HasBarriers = false; ///< Threads of a block may meet.
  /// A thread may wait for others, or tell them, by strong accesses beyond its
  /// block that no runtime follows on the other side (abi::EnterSignals).
  bool HasSignals = false;
  /// Also where that cannot be seen here, or not be changed.
  bool HasForeignBarriers = false;
  /// A bit for each of a block's 16 barriers that threads may come to by a
  /// count.
  uint16_t CountedBarriers = 0;
};

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

  /// Adds what happens here.
  void note(ModuleEvents &M) const;

  /// Emits the calls. `Flags`: EnterFlags of the module's kernels.
  void run(uint32_t Flags, const ModuleEvents &M);

private:
  struct Step {
    llvm::Instruction *Inst; ///< Where it is told.
    Event What;
    llvm::Instruction *Accessor;    ///< Whose place in the source it has.
    llvm::Constant *Site = nullptr; ///< Of an access.
    uint32_t SiteNumber = 0;
    bool IsFast = false; ///< An access that is checked in line, ...
    /// ... together with others of its group; the number of the last.
    size_t Group = 0;
    unsigned InBlock = 0;   ///< Of a block's first one: how many there are.
    bool IsUniform = false; ///< All lanes that are there access one location.
    bool IsProven = false;  ///< An access that cannot race.
    /// The exemption under which it cannot.
    std::optional<unsigned> Unless = std::nullopt;
    /// What an access in a loop points into.
    const llvm::Value *Object = nullptr;
    llvm::SmallVector<Companion, 2> Companions = {}; ///< Of an access.
    /// Of a read that is checked in line: bytes that the thread is sure to
    /// write next.
    uint32_t Overwritten = 0;
  };

  /// What makes a check needless, if it holds when the kernel begins.
  struct Exemption {
    std::optional<unsigned> Array; ///< That it is harmless, ...
    Requirement Launch;            ///< ... or this of the launch.
    llvm::Value *Holds = nullptr;  ///< Once emitted.
  };

  void plan(llvm::BasicBlock &BB, CheckedAccesses &Checked);
  void planAccess(llvm::Instruction &I, const Event &E,
                  CheckedAccesses &Checked);
  /// The number of the step that checks it, if none before does.
  std::optional<size_t> planCheck(llvm::Instruction &I, const Event &E,
                                  CheckedAccesses &Checked);
  void addCompanion(Step &S, llvm::Instruction &I, bool IsWrite);
  void planOther(llvm::Instruction &I, const Event &E);
  /// Of a block: its steps, and its breaks.
  void planGroups(size_t First, size_t Last,
                  llvm::ArrayRef<llvm::Instruction *> Between);
  std::optional<std::vector<const llvm::Instruction *>> blockBarriers() const;
  void planShared(llvm::FunctionAnalysisManager &FAM);
  unsigned exemption(Exemption E);
  void planArrays(llvm::FunctionAnalysisManager &FAM);
  bool mayBePlain() const;
  void emitExemptions(llvm::IRBuilder<> &B);
  void emitPlain(PlainBody &Plain);
  bool isOurs() const;
  static bool isFastStrong(const Step &S);
  bool isJustAccess(const Step &S) const;
  bool isFenceless() const;
  bool isRemembered(const Step &S) const;
  /// True for a kernel whose threads do nothing elsewhere.
  bool isWholeKernel() const;
  uint16_t countedBarriers() const;
  bool isCountedToo(const Event &E) const;
  llvm::IntrinsicInst *replacedBarrier(const Step &S) const;
  FastAccess fastAccess(const Step &S, llvm::IRBuilder<> &B);
  void emitGroup(size_t Number);
  void emitStrong(const Step &S);
  void emitBefore(size_t Number);
  void emitAfter(const Step &S);
  llvm::Constant *siteOf(Step &S);
  void callCheck(llvm::IRBuilder<> &B, const Step &S);
  void callAwait(llvm::IRBuilder<> &B, const Event &E);
  void callWithPlace(llvm::IRBuilder<> &B, llvm::StringRef Name,
                     const Event &E);

  llvm::Function &F;
  SiteTable &Table;
  llvm::StringRef Kernel;
  llvm::OptimizationRemarkEmitter &ORE;
  llvm::UniformityInfo &InWarp;
  std::vector<Step> Steps;
  std::optional<GivenArrays> Arrays; ///< Of a kernel.
  std::vector<Exemption> Exemptions;
  uint32_t NumSites = 0;
  /// Calls, which may synchronise, and where a thread may leave.
  std::vector<llvm::Instruction *> Breaks;
  std::vector<llvm::Instruction *> Exits; ///< Those where it may leave.
  ModuleEvents Module;
  uint32_t EnterFlags = 0;
  uint16_t CountedBarriers = 0; ///< Of whatever threads execute that come here.
  std::optional<FastCheck> Fast;
  SwapCheck Swaps;
  uint32_t Skipped = 0;
  bool MayLeave = false;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATAINSTRUMENTER_H
