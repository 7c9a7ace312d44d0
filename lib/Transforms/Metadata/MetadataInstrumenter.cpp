// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Following a function's events.

#include "Metadata/MetadataInstrumenter.h"
#include "DeviceRuntime.h"
#include "Events/Operands.h"
#include "Iterations.h"
#include "Metadata/ArgumentHash.h"
#include "Metadata/Exemptions.h"
#include "Polls.h"
#include "Sites/SourcePlace.h"
#include "crsan/abi/Check.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

static cl::opt<unsigned> WordsInLine(
    "crsan-words-in-line", cl::init(32), cl::value_desc("N"),
    cl::desc(
        "metadata mode has checks of so many words of 4 bytes in line, and "
        "calls the others, in a function that accesses more than 3 N"));

STATISTIC(NumFollowedWeak, "Number of weak accesses that metadata follow");
STATISTIC(NumFollowedStrong, "Number of strong accesses that metadata follow");
STATISTIC(NumCalled, "Number of groups of accesses that calls check");

namespace crsan {

/// Accesses that one step of the plan checks in line (Step::Group).
struct CheckedGroup {
  size_t Last;
  const BasicBlock *In;
  unsigned Words = 0;
  bool Writes = false;
};

static SmallVector<CheckedGroup> checkedGroups(const EventPlan &Plan) {
  SmallVector<CheckedGroup> Groups;
  DenseMap<size_t, size_t> At; ///< By Step::Group.
  for (const EventPlan::Step &S : Plan.steps()) {
    if (!S.IsFast || S.IsProven || !isWeak(S.What) ||
        (S.access()->Flags & abi::IsCopy))
      continue;
    auto [It, IsNew] = At.try_emplace(S.Group, Groups.size());
    if (IsNew)
      Groups.push_back({S.Group, S.Inst->getParent()});
    CheckedGroup &G = Groups[It->second];
    G.Words += divideCeil(S.access()->Size, 4);
    G.Writes |= S.access()->writes();
  }
  return Groups;
}

/// The groups whose accesses are checked by calls.
///
/// ptxas takes many times as long for a function with very many checks in line.
/// Groups in the innermost loops stay in line. No function of benchmarks/suite
/// has checks of more than 48 words.
///
/// The check of a write updates its cell atomically, and so ptxas puts a YIELD
/// at the head of a loop with such a check in line. In a function that polls
/// anywhere, no YIELD is removed (docs/convergence.md).
static SmallDenseSet<size_t> calledGroups(Function &F, const EventPlan &Plan,
                                          const LoopInfo &Loops) {
  SmallVector<CheckedGroup> Groups = checkedGroups(Plan);
  SmallDenseSet<size_t> Called;
  if (!isWaitless(F))
    for (const CheckedGroup &G : Groups)
      if (G.Writes && Loops.getLoopFor(G.In))
        Called.insert(G.Last);
  unsigned Words = 0;
  for (const CheckedGroup &G : Groups)
    Words += G.Words;
  if (Words > 3 * WordsInLine) {
    llvm::sort(Groups, [&](const CheckedGroup &A, const CheckedGroup &B) {
      return std::pair(Loops.getLoopDepth(B.In), A.Last) <
             std::pair(Loops.getLoopDepth(A.In), B.Last);
    });
    Words = 0;
    for (const CheckedGroup &G : Groups)
      if ((Words += G.Words) > WordsInLine)
        Called.insert(G.Last);
  }
  NumCalled += Called.size();
  return Called;
}

MetadataInstrumenter::MetadataInstrumenter(Function &F, SiteTableWriter &Table,
                                           StringRef Kernel,
                                           FunctionAnalysisManager &FAM)
    : F(F), Table(Table), Kernel(Kernel), Plan(F, FAM),
      CalledGroups(calledGroups(F, Plan, FAM.getResult<LoopAnalysis>(F))),
      Swaps(F) {}

/// No fence can have been executed where this function runs. What other units
/// can call may run in kernels that have fences.
bool MetadataInstrumenter::isFenceless() const {
  return !Module.HasFences && !hasCallersElsewhere(F);
}

/// A strong access that is checked in line: what it releases or acquires, it
/// does by fences.
bool MetadataInstrumenter::isFastStrong(const Step &S) {
  return isStrong(S.What) && S.IsFast;
}

/// What changes nothing of what accesses have in common.
static bool keepsCommon(const Event &E) {
  const auto *Awaited = std::get_if<AwaitCopies>(&E);
  return isWeak(E) || isOneOf<OperandRead, CommitCopies>(E) ||
         (Awaited && Awaited->By == Completion::Group);
}

/// A strong access that neither releases nor acquires, ever.
bool MetadataInstrumenter::isJustAccess(const Step &S) const {
  return isFastStrong(S) && isFenceless() && !S.access()->Expected;
}

/// A barrier that all threads of the block meet at, and that does nothing else.
static IntrinsicInst *asBlockBarrier(Instruction *Inst) {
  auto *I = dyn_cast<IntrinsicInst>(Inst);
  if (!I ||
      (I->getIntrinsicID() != Intrinsic::nvvm_barrier_cta_sync_aligned_all &&
       I->getIntrinsicID() != Intrinsic::nvvm_barrier_cta_sync_all))
    return nullptr;
  return match(I->getArgOperand(0), PatternMatch::m_Zero()) ? I : nullptr;
}

bool MetadataInstrumenter::isWholeKernel() const {
  return isKernel(F) && none_of(instructions(F), [](const Instruction &I) {
           const auto *Call = dyn_cast<CallBase>(&I);
           return Call && !isa<IntrinsicInst>(Call) && !Call->isInlineAsm();
         });
}

/// Whether threads may come to a barrier of the whole block by a count, too.
/// Then it is told as both.
bool MetadataInstrumenter::isCountedToo(const BlockBarrier &E) const {
  return CountedBarriers & barrierNumbers(E.Number, F.getDataLayout());
}

/// Barriers may be replaced only if all that threads can meet at the same time
/// are: PTX does not let those with a result meet those without.
IntrinsicInst *MetadataInstrumenter::replacedBarrier(const Step &S) const {
  return std::holds_alternative<BlockBarrier>(S.What) &&
                 EventPlan::hasChecksInLine() && !Module.HasForeignBarriers
             ? asBlockBarrier(S.Inst)
             : nullptr;
}

/// Gives a site to each barrier at which threads of the block may turn out to
/// have come to different places of the source, or in different iterations;
/// copies of one barrier have one site. Returns the first site, or null.
Constant *MetadataInstrumenter::addBarrierSites() {
  if (F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
    return nullptr;
  MapVector<uint64_t, SmallVector<Step *, 2>> Places;
  for (Step &S : Plan.steps())
    if (const auto *E = std::get_if<BlockBarrier>(&S.What);
        E && isSyncThreads(*S.Inst) && !isCountedToo(*E))
      if (const auto Place = sourcePlace(S.Inst->getDebugLoc()))
        Places[Place->Whole].push_back(&S);
  const bool IsOne =
      Plan.areBarriersUniform() || (Places.size() < 2 && isWholeKernel());
  Constant *First = nullptr;
  for (const auto &[Place, Copies] : Places) {
    // Told of all copies, or of none.
    if (IsOne && !iterationAt(*Copies.front()->Inst))
      continue;
    abi::AccessSite Site = {};
    Site.Number = NumSites++;
    Site.Size = sourcePlace(Copies.front()->Inst->getDebugLoc())->Line;
    Site.Roles = abi::IsBarrier;
    Constant *At = ConstantExpr::getAddrSpaceCast(
        Table.addBarrier(*Copies.front()->Inst, Kernel, Site),
        PointerType::get(F.getContext(), 0));
    First = First ? First : At;
    for (Step *S : Copies) {
      S->Site = At;
      S->SiteNumber = Site.Number;
      S->Iteration = iterationAt(*S->Inst);
    }
  }
  return First;
}

/// Gives each access its site. Returns the first one, or null.
Constant *MetadataInstrumenter::addSites() {
  Constant *First = nullptr;
  for (Step &S : Plan.steps())
    if (S.sited()) {
      S.Site = siteOf(S);
      First = First ? First : S.Site;
    }
  Constant *Barrier = addBarrierSites();
  return First ? First : Barrier;
}

/// The checks in line, if there are any. `First`: what __crsan_md_enter has
/// returned, or null.
void MetadataInstrumenter::emitFast(IRBuilder<> &B, Value *First,
                                    Constant *Sites) {
  Fast.emplace(F, B, First, Sites, shape());
  // Behind what emitAfter() will put there.
  auto Resume = [&](Instruction *I) {
    if (I->isTerminator())
      return;
    IRBuilder<> B(I->getNextNode());
    Fast->emitForget(B);
    Fast->emitSnapshot(B);
  };
  for (const Step &S : Plan.steps())
    if (!keepsCommon(S.What) && !isFastStrong(S) && !replacedBarrier(S))
      Resume(S.Inst);
  for (Instruction *I : Plan.breaks())
    Resume(I);
}

/// At the beginning of the function: what all calls of the runtime need.
void MetadataInstrumenter::emitHead(Constant *Sites) {
  Instruction *Body = emitExemptions(F, Plan, EnterFlags, Sites);
  if (isKernel(F))
    Table.setBody(F, *Body->getParent());
  IRBuilder<> B(Body);
  Value *First = nullptr;
  if (isKernel(F)) {
    const uint32_t Tag = abi::kernelTag(F.getName().data(), F.getName().size());
    First = callRuntime(
        B, EnterName,
        {B.getInt32(EnterFlags), B.getInt32(Tag), emitArgumentHash(B, F)});
  }
  if (any_of(Plan.steps(), [&](const Step &S) {
        return S.IsFast || S.IsProven || replacedBarrier(S);
      })) {
    emitFast(B, First, Sites);
  } else if (First) {
    WarpPlace = B.CreateExtractValue(First, Entered::Place);
  } else if (!hasCallersElsewhere(F) && Plan.steps().empty()) {
    return;
  } else {
    Value *Self = callRuntime(B, SelfName, {});
    WarpPlace = emitStateField(B, Self, B.getInt32Ty(),
                               offsetof(abi::WarpState, Place));
  }
  if (hasCallersElsewhere(F))
    call(B, CalledName);
}

/// Tells the runtime how many accesses were counted, where a thread may leave
/// the function.
void MetadataInstrumenter::emitCounts() {
  auto Count = [&](Instruction *I) {
    IRBuilder<> B(I);
    B.SetCurrentDebugLocation(I->getDebugLoc());
    Fast->emitCounted(B);
  };
  for (Instruction *I : Plan.exits())
    Count(I);
  for (BasicBlock &BB : F)
    if (!isKernel(F) && isa<ReturnInst>(BB.getTerminator()))
      Count(BB.getTerminator());
}

void MetadataInstrumenter::run(uint32_t Flags, const ModuleEvents &M) {
  Module = M;
  EnterFlags = Flags | (M.HasBarriers ? abi::EnterBarriers : 0) |
               (M.HasSignals ? abi::EnterSignals : 0) |
               (M.TellsHost ? abi::EnterTellsHost : 0) |
               (M.HasVolatile ? abi::EnterVolatile : 0);
  CountedBarriers = isWholeKernel() ? countedBarriers(Plan, F.getDataLayout())
                                    : M.CountedBarriers;
  emitHead(addSites());
  for (size_t N = 0; N < Plan.steps().size(); ++N)
    emitBefore(N);
  // Each just behind its instruction, so the last one first.
  for (const Step &S : reverse(Plan.steps()))
    emitAfter(S);
  Swaps.finish();
  if (!Fast)
    return;
  emitCounts();
  for (const Step &S : Plan.steps())
    if (IntrinsicInst *I = replacedBarrier(S))
      Fast->emitBarrier(I, S.Site, S.SiteNumber, iterationOf(S));
  Fast->finish();
}

/// What the checks of this function may meet with (abi::ShapeBits).
uint32_t MetadataInstrumenter::shape() const {
  const bool Waits = any_of(Plan.steps(), [](const Step &S) {
    return std::holds_alternative<Wait>(S.What);
  });
  uint32_t Shape = isFenceless() && !Waits ? 0 : abi::ShapeLocks;
  if (!isKernel(F) || !Plan.breaks().empty() || Module.HasBarriers)
    Shape |= abi::ShapeBarriers;
  if (Module.HasClusters)
    Shape |= abi::ShapeClusters;
  if (any_of(Plan.steps(), [](const Step &S) {
        return std::holds_alternative<WarpBarrier>(S.What);
      }))
    Shape |= abi::ShapeMeetings;
  return Shape;
}

/// The site of a barrier, as the runtime is told it.
Constant *MetadataInstrumenter::siteOrNull(const Step &S) const {
  return S.Site ? S.Site
                : ConstantPointerNull::get(PointerType::get(F.getContext(), 0));
}

/// The iteration in which threads come to a barrier, as the runtime is told it.
Value *MetadataInstrumenter::iterationOf(const Step &S) const {
  return S.Iteration ? S.Iteration
                     : ConstantInt::get(Type::getInt32Ty(F.getContext()), 0);
}

/// What the runtime knows this warp by.
Value *MetadataInstrumenter::place(IRBuilder<> &B) {
  return Fast ? Fast->emitPlace(B) : WarpPlace;
}

/// Calls an entry point, of which the last argument is this warp's place.
void MetadataInstrumenter::call(IRBuilder<> &B, StringRef Name,
                                ArrayRef<Value *> Arguments) {
  SmallVector<Value *, 6> All(Arguments);
  All.push_back(place(B));
  callRuntime(B, Name, All);
}

Constant *MetadataInstrumenter::siteOf(Step &S) {
  const Access &E = *S.sited();
  abi::AccessSite Site = {};
  Site.Number = S.SiteNumber = NumSites++;
  Site.Size = E.isWhole() ? E.Size : 0;
  Site.Flags = E.Flags | (E.Expected ? abi::IsSwap : 0) |
               (S.isRemembered() ? 0 : abi::IsOverwritten);
  Site.Scope = E.Scope;
  Site.Order = E.Order;
  Site.Roles = E.Roles;
  Site.MemorySpace = spaceOf(E.Where.Space);
  ++(E.isStrong() ? NumFollowedStrong : NumFollowedWeak);
  return ConstantExpr::getAddrSpaceCast(
      Table.addAccess(*S.Accessor, Kernel, Site, E.WholeSize, S.Companions),
      PointerType::get(F.getContext(), 0));
}

} // namespace crsan
