//===- MetadataInstrumenter.h - Following a function's events -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_METADATAINSTRUMENTER_H
#define CRSAN_TRANSFORMS_METADATAINSTRUMENTER_H

#include "EventPlan.h"
#include "FastCheck.h"
#include "PlainBody.h"
#include "SiteTable.h"
#include "SwapCheck.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>

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
  bool HasVolatile = false; ///< There may be volatile accesses.
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
  const Omissions &omissions() const { return Plan.omissions(); }
  /// True if a thread may end here, or start a grid, without a word to the
  /// runtime.
  bool mayLeave() const { return !Plan.exits().empty(); }

  /// Adds what happens here.
  void note(ModuleEvents &M) const;

  /// Emits the calls. `Flags`: EnterFlags of the module's kernels.
  void run(uint32_t Flags, const ModuleEvents &M);

private:
  using Step = EventPlan::Step;
  using Exemption = EventPlan::Exemption;

  bool mayBePlain() const;
  void emitExemptions(llvm::IRBuilder<> &B);
  void emitPlain(PlainBody &Plain);
  bool isOurs() const;
  static bool isFastStrong(const Step &S);
  bool isJustAccess(const Step &S) const;
  bool isFenceless() const;
  /// True for a kernel whose threads do nothing elsewhere.
  bool isWholeKernel() const;
  uint16_t countedBarriers() const;
  bool isCountedToo(const BlockBarrier &E) const;
  llvm::IntrinsicInst *replacedBarrier(const Step &S) const;
  llvm::Value *place(llvm::IRBuilder<> &B);
  void call(llvm::IRBuilder<> &B, llvm::StringRef Name,
            llvm::ArrayRef<llvm::Value *> Arguments = {},
            llvm::Type *Result = nullptr);
  FastAccess fastAccess(const Step &S, llvm::IRBuilder<> &B);
  void emitGroup(size_t Number);
  void emitWeak(size_t Number);
  void emitStrong(const Step &S);
  void emitStrongDone(const Step &S);
  void emitArrival(llvm::IRBuilder<> &B, const Step &S, const BlockBarrier &E);
  void emitAwait(llvm::IRBuilder<> &B, const AwaitCopies &E);
  void emitBefore(size_t Number);
  void emitAfter(const Step &S);
  llvm::Constant *siteOf(Step &S);
  void callCheck(llvm::IRBuilder<> &B, const Step &S);
  void callWithPlace(llvm::IRBuilder<> &B, llvm::StringRef Name,
                     const Place &Where, abi::Scope Scope);

  llvm::Function &F;
  SiteTable &Table;
  llvm::StringRef Kernel;
  EventPlan Plan;
  uint32_t NumSites = 0;
  ModuleEvents Module;
  uint32_t EnterFlags = 0;
  uint16_t CountedBarriers = 0; ///< Of whatever threads execute that come here.
  std::optional<FastCheck> Fast;
  llvm::Value *WarpPlace = nullptr; ///< If nothing is checked in line.
  SwapCheck Swaps;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATAINSTRUMENTER_H
