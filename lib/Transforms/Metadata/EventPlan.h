// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans which events of a function the runtime is told of, and where.
#ifndef CRSAN_TRANSFORMS_METADATA_EVENTPLAN_H
#define CRSAN_TRANSFORMS_METADATA_EVENTPLAN_H

#include "Events/Event.h"
#include "Metadata/Redundancy.h"
#include "Proofs/GivenArrays.h"
#include "Proofs/SharedVariables.h"
#include "Sites/Omission.h"
#include "Sites/SiteTableWriter.h"
#include "llvm/Analysis/UniformityAnalysis.h"

#include <optional>
#include <vector>

namespace crsan {

/// A bit for each of a block's 16 barriers that `Number` may be the number of.
uint16_t barrierNumbers(const Location &Number, const llvm::DataLayout &DL);
/// The number of the block's barrier at which the event arrives or waits with a
/// count; null: it does not.
const Location *countedBarrier(const Event &E);

/// The plan for one function in metadata mode: which events the runtime is told
/// of, which accesses are checked together, and which are checked in line. An
/// access is left out if another access's check covers it or if it cannot race.
/// Planning does not change the function.
class EventPlan {
public:
  /// An event, as it is told.
  struct Step {
    llvm::Instruction *Inst; ///< Where it is told.
    Event What;
    llvm::Instruction *Accessor; ///< Whose place in the source it has.
    /// Of an access, or of a barrier that threads may meet at with another one.
    llvm::Constant *Site = nullptr;
    uint32_t SiteNumber = 0;
    bool IsFast = false; ///< An access that is checked in line, ...
    /// ... together with others of its group; the number of the last.
    size_t Group = 0;
    unsigned InBlock = 0;   ///< Of a block's first one: how many there are.
    bool IsUniform = false; ///< All lanes that are there access one location.
    bool IsProven = false;  ///< An access that cannot race.
    /// A thread leaves here, and no thread of its block can come to a barrier
    /// any more.
    bool IsLast = false;
    /// The exemption under which it cannot.
    std::optional<unsigned> Unless = std::nullopt;
    /// Of a barrier with a site: what is told of the iteration (Iterations.h).
    llvm::Value *Iteration = nullptr;
    /// What an access in a loop points into.
    const llvm::Value *Object = nullptr;
    llvm::SmallVector<Companion, 2> Companions = {}; ///< Of an access.
    /// Of a read that is checked in line: bytes that the thread is sure to
    /// write next.
    uint32_t Overwritten = 0;

    /// The step's access; null if it is none. That of an asynchronous copy
    /// does not count.
    const Access *access() const { return asAccess(What); }
    Access *access() { return std::get_if<Access>(&What); }
    /// The access that the step has a site for; null if it has none.
    const Access *sited() const { return anyAccess(What); }

    /// Whether others may have to find it: no write of this thread's is sure to
    /// stand for all of it.
    bool isRemembered() const {
      if (!Overwritten || sited()->writes())
        return true;
      const uint32_t All = (1u << sited()->Size) - 1;
      return (Overwritten & All) != All;
    }
  };

  /// Exemptions of a kernel: each is one bit of a word
  /// (runtime/device/metadata/entry/Exemption.h).
  static constexpr size_t MostExemptions = 32;
  /// What makes a check needless, if it holds when the kernel begins.
  struct Exemption {
    std::optional<unsigned> Array; ///< That it is harmless, ...
    Requirement Launch;            ///< ... or this of the launch.
    llvm::Value *Holds = nullptr;  ///< Once emitted.
  };

  enum class Purpose : uint8_t {
    Draft, ///< The function may still change: nothing is remarked.
    Final,
  };
  EventPlan(llvm::Function &F, llvm::FunctionAnalysisManager &FAM,
            Purpose For = Purpose::Final);

  /// Unless all checks are calls of the runtime.
  static bool hasChecksInLine();

  /// By block, and in the order of the instructions.
  std::vector<Step> &steps() { return Steps; }
  const std::vector<Step> &steps() const { return Steps; }
  std::vector<Exemption> &exemptions() { return Exemptions; }
  /// Calls, which may synchronise, and where a thread may leave.
  llvm::ArrayRef<llvm::Instruction *> breaks() const { return Breaks; }
  /// Those where it may leave.
  llvm::ArrayRef<llvm::Instruction *> exits() const { return Exits; }
  /// Of a kernel.
  std::optional<GivenArrays> &arrays() { return Arrays; }
  /// Whether the access needs no check, or may need none, because of where the
  /// threads make it.
  bool dependsOnPlaces(const Step &S) const {
    return S.IsProven ||
           (S.Unless && (!Exemptions[*S.Unless].Array ||
                         Arrays->isWritten(*Exemptions[*S.Unless].Array)));
  }
  /// All threads of the block surely come to its barriers together.
  bool areBarriersUniform() const { return AreBarriersUniform; }
  /// Accesses that are left unchecked.
  const Omissions &omissions() const { return Omitted; }

private:
  void planBlock(llvm::BasicBlock &BB, CheckedAccesses &Checked);
  void planAccess(llvm::Instruction &I, const Access &E,
                  CheckedAccesses &Checked);
  /// The number of the step that checks it, if none before does.
  std::optional<size_t> planCheck(llvm::Instruction &I, const Access &E,
                                  CheckedAccesses &Checked);
  void addCompanion(Step &S, llvm::Instruction &I, bool IsWrite);
  void addStep(llvm::Instruction &I, const Event &E, bool IsFast);
  /// Of a block: its steps, and its breaks.
  void planGroups(size_t First, size_t Last,
                  llvm::ArrayRef<llvm::Instruction *> Between);
  std::optional<std::vector<const llvm::Instruction *>> blockBarriers() const;
  void planShared(llvm::FunctionAnalysisManager &FAM);
  std::optional<unsigned> exemption(Exemption E);
  void planArrays(llvm::FunctionAnalysisManager &FAM);

  llvm::Function &F;
  const Purpose For;
  llvm::OptimizationRemarkEmitter &ORE;
  llvm::UniformityInfo &InWarp;
  std::vector<Step> Steps;
  std::optional<GivenArrays> Arrays;
  std::vector<Exemption> Exemptions;
  std::vector<llvm::Instruction *> Breaks, Exits;
  Omissions Omitted;
  bool AreBarriersUniform = false;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_METADATA_EVENTPLAN_H
