// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits the calls and the code by which the runtime learns of events.
#ifndef CRSAN_TRANSFORMS_METADATA_METADATAINSTRUMENTER_H
#define CRSAN_TRANSFORMS_METADATA_METADATAINSTRUMENTER_H

#include "Metadata/EventPlan.h"
#include "Metadata/FastCheck.h"
#include "Metadata/ModuleEvents.h"
#include "Metadata/SwapCheck.h"
#include "Sites/SiteTableWriter.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>

namespace crsan {

/// Tells the runtime of each event of a function (metadata mode). Weak accesses
/// that are checked in line are checked in groups, behind the last access of
/// the group; all other accesses are checked before they happen. What a thread
/// releases is told before the instruction, and what it acquires after it.
class MetadataInstrumenter {
public:
  /// Notes the function's events, and changes nothing yet.
  MetadataInstrumenter(llvm::Function &F, SiteTableWriter &Table,
                       llvm::StringRef Kernel,
                       llvm::FunctionAnalysisManager &FAM);

  /// Accesses that are left unchecked.
  const Omissions &omissions() const { return Plan.omissions(); }
  /// True if a thread may end here, or start a grid, without a word to the
  /// runtime.
  bool mayLeave() const { return !Plan.exits().empty(); }

  /// Adds what happens here.
  void note(ModuleEvents &M) const { M.add(F, Plan); }

  /// Emits the calls. `Flags`: EnterFlags of the module's kernels.
  void run(uint32_t Flags, const ModuleEvents &M);

private:
  using Step = EventPlan::Step;

  static bool isFastStrong(const Step &S);
  bool isJustAccess(const Step &S) const;
  bool isFenceless() const;
  /// True for a kernel whose threads do nothing elsewhere.
  bool isWholeKernel() const;
  bool isCountedToo(const BlockBarrier &E) const;
  llvm::IntrinsicInst *replacedBarrier(const Step &S) const;
  llvm::Constant *addBarrierSites();
  llvm::Constant *addSites();
  llvm::Constant *siteOrNull(const Step &S) const;
  llvm::Value *iterationOf(const Step &S) const;
  void emitHead(llvm::Constant *Sites);
  void emitFast(llvm::IRBuilder<> &B, llvm::Value *First,
                llvm::Constant *Sites);
  void emitCounts();
  uint32_t shape() const;
  llvm::Value *place(llvm::IRBuilder<> &B);
  void call(llvm::IRBuilder<> &B, llvm::StringRef Name,
            llvm::ArrayRef<llvm::Value *> Arguments = {});
  FastAccess fastAccess(const Step &S, llvm::IRBuilder<> &B);
  void emitGroup(size_t Number);
  void emitWeak(size_t Number);
  void emitStrong(const Step &S);
  void emitStrongDone(const Step &S);
  void emitArrival(llvm::IRBuilder<> &B, const Step &S, const BlockBarrier &E);
  void emitCopy(llvm::IRBuilder<> &B, const Step &S, const AsyncAccess &E,
                llvm::Value *Barrier);
  void emitAsync(const Step &S, const AsyncAccess &Noted);
  void emitOperand(const Step &S, const OperandRead &E);
  void emitCommit(const Step &S, const CommitCopies &E);
  void emitAwait(llvm::IRBuilder<> &B, const AwaitCopies &E);
  void emitBefore(size_t Number);
  void emitAfter(const Step &S);
  llvm::Constant *siteOf(Step &S);
  void callCheck(llvm::IRBuilder<> &B, const Step &S);
  void callWithLocation(llvm::IRBuilder<> &B, llvm::StringRef Name,
                        const Location &Where, abi::Scope Scope);

  llvm::Function &F;
  SiteTableWriter &Table;
  llvm::StringRef Kernel;
  EventPlan Plan;
  const llvm::SmallDenseSet<size_t> CalledGroups; ///< See calledGroups().
  uint32_t NumSites = 0;
  ModuleEvents Module;
  uint32_t EnterFlags = 0;
  uint16_t CountedBarriers = 0; ///< Of whatever threads execute that come here.
  std::optional<FastCheck> Fast;
  llvm::Value *WarpPlace = nullptr; ///< If nothing is checked in line.
  SwapCheck Swaps;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_METADATAINSTRUMENTER_H
