// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a function's events is told where.

#include "Metadata/EventPlan.h"
#include "Events/Operands.h"
#include "Metadata/Locks.h"
#include "Metadata/Unroll.h"
#include "Sites/SourcePlace.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

static cl::opt<bool> CheckCalls(
    "crsan-check-calls",
    cl::desc("metadata mode calls the runtime for each access: smaller, slower "
             "code"));

STATISTIC(NumRedundant, "Number of weak accesses that another's check covers");
STATISTIC(NumProven, "Number of accesses that cannot race");

namespace crsan {

bool EventPlan::hasChecksInLine() { return !CheckCalls; }

/// An access of what a register can hold, as nearly all are: checked in line.
static bool isInRegister(const Access &E) {
  return !CheckCalls && E.isWhole() && E.Size <= 16 && isPowerOf2_64(E.Size);
}

/// Whether nothing but the number of the iteration decides where `Pointer` is
/// in the loop: so it will be near where it was.
static bool movesWith(Value *Pointer, const Loop &L, ScalarEvolution &SE) {
  return Pointer && Pointer->getType()->isPointerTy() &&
         !SCEVExprContains(SE.getSCEV(Pointer), [&](const SCEV *S) {
           const auto *Unknown = dyn_cast<SCEVUnknown>(S);
           return Unknown && !L.isLoopInvariant(Unknown->getValue());
         });
}

EventPlan::EventPlan(Function &F, FunctionAnalysisManager &FAM, Purpose For)
    : F(F), For(For), ORE(FAM.getResult<OptimizationRemarkEmitterAnalysis>(F)),
      InWarp(FAM.getResult<UniformityInfoAnalysis>(F)) {
  // What is known at a block's end holds in a block that can be reached from
  // nowhere else.
  DenseMap<const BasicBlock *, CheckedAccesses> AtEnd;
  const auto &Loops = FAM.getResult<LoopAnalysis>(F);
  if (isKernel(F))
    Arrays.emplace(F);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  struct Part {
    const BasicBlock *BB;
    size_t First, Last; ///< Steps.
    size_t FirstBreak, LastBreak;
  };
  std::vector<Part> Parts;
  for (BasicBlock *BB : ReversePostOrderTraversal<Function *>(&F)) {
    Part &P = Parts.emplace_back(Part{BB, Steps.size(), 0, Breaks.size(), 0});
    const auto Before = AtEnd.find(BB->getSinglePredecessor());
    CheckedAccesses Checked = Before == AtEnd.end()
                                  ? CheckedAccesses(F.getDataLayout())
                                  : Before->second;
    planBlock(*BB, Checked);
    P.Last = Steps.size();
    P.LastBreak = Breaks.size();
    Checked.endBlock();
    AtEnd.try_emplace(BB, std::move(Checked));
  }
  for (Step &S : Steps)
    if (takesLock(S, Steps, FAM.getResult<DominatorTreeAnalysis>(F)))
      S.access()->Roles |= abi::TakesLock;
  planShared(FAM);
  if (Arrays)
    planArrays(FAM);
  for (const Part &P : Parts) {
    planGroups(
        P.First, P.Last,
        ArrayRef(Breaks).slice(P.FirstBreak, P.LastBreak - P.FirstBreak));
    if (const Loop *Inner = Loops.getLoopFor(P.BB))
      for (Step &S : MutableArrayRef(Steps).slice(P.First, P.Last - P.First))
        if (S.IsFast && movesWith(S.access()->Where.Base, *Inner, SE))
          S.Object = getUnderlyingObject(S.access()->Where.Base);
  }
}

/// What cp.async reads.
static const Access *asSource(const Event &E) {
  const auto *Async = std::get_if<AsyncAccess>(&E);
  return Async && Async->By == Completion::Group && !Async->What.writes()
             ? &Async->What
             : nullptr;
}

void EventPlan::planBlock(BasicBlock &BB, CheckedAccesses &Checked) {
  for (Instruction &I : BB) {
    const Events All = eventsOf(I);
    if (For == Purpose::Final)
      Omitted.note(I, All.Unlisted, ORE);
    for (const Event &E : All.List) {
      if (const Access *Source = asSource(E))
        addStep(I, *Source, isInRegister(*Source));
      else if (isWeak(E) && asAccess(E)->Rows.Lanes)
        addStep(I, E, false);
      else if (isWeak(E))
        planAccess(I, *asAccess(E), Checked);
      else if (isFollowed(E)) {
        // A check in line finds out whether the access hands something on.
        const Access *A = asAccess(E);
        addStep(I, E,
                A && isInRegister(*A) && A->Order <= abi::MemoryOrder::Relaxed);
      }
    }
    // A function that is defined here has events of its own.
    const bool IsCall = isa<CallBase>(I) && !isa<IntrinsicInst>(I) &&
                        !cast<CallBase>(I).isInlineAsm();
    if (IsCall || All.MayLeave)
      Breaks.push_back(&I);
    if (All.MayLeave)
      Exits.push_back(&I);
    if (All.MayLeave || IsCall || any_of(All.List, [](const Event &E) {
          return isFollowed(E) && !isWeak(E) && !asSource(E);
        }))
      Checked.clear();
    if (isKernel(F) && isa<ReturnInst>(I))
      Steps.push_back({&I, Leave(), &I});
  }
}

uint16_t barrierNumbers(const Location &Number, const DataLayout &DL) {
  if (const auto *Constant = dyn_cast<ConstantInt>(Number.Base))
    return uint16_t(1) << (Constant->getZExtValue() & 15);
  // 0 is __syncthreads(), and rarely meant.
  return isKnownNonZero(Number.Base, DL) ? 0xfffe : 0xffff;
}

const Location *countedBarrier(const Event &E) {
  if (const auto *A = std::get_if<Arrive>(&E); A && A->IsCounted)
    return &A->Where;
  const auto *W = std::get_if<Wait>(&E);
  return W && W->IsCounted ? &W->Where : nullptr;
}

/// All places where threads may meet at the block's barrier 0; none: others may
/// do so elsewhere.
std::optional<std::vector<const Instruction *>>
EventPlan::blockBarriers() const {
  std::vector<const Instruction *> All;
  for (const Step &S : Steps) {
    if (isOneOf<Unknown, Call>(S.What))
      return std::nullopt;
    const auto *OfBlock = std::get_if<BlockBarrier>(&S.What);
    const Location *Counted = countedBarrier(S.What);
    if (!OfBlock && !Counted)
      continue;
    const uint16_t Numbers =
        barrierNumbers(OfBlock ? OfBlock->Number : *Counted, F.getDataLayout());
    if (!(Numbers & 1))
      continue;
    if (Numbers != 1 || Counted)
      return std::nullopt;
    All.push_back(S.Inst);
  }
  return All;
}

/// Whether there is a cycle that LoopInfo does not call a loop.
static bool hasUnknownLoops(Function &F, FunctionAnalysisManager &FAM) {
  const ReversePostOrderTraversal<const Function *> Order(&F);
  return containsIrreducibleCFG<const BasicBlock *>(
      Order, FAM.getResult<LoopAnalysis>(F));
}

/// Finds accesses of shared variables that cannot race.
void EventPlan::planShared(FunctionAnalysisManager &FAM) {
  // Nothing that is executed is defined elsewhere.
  if (!isKernel(F) || any_of(instructions(F), [](const Instruction &I) {
        const auto *Call = dyn_cast<CallBase>(&I);
        return Call && !Call->isInlineAsm() &&
               !(Call->getCalledFunction() &&
                 Call->getCalledFunction()->isDeclaration());
      }))
    return;
  const auto Barriers = blockBarriers();
  if (!Barriers || hasUnknownLoops(F, FAM))
    return;
  const auto &PDT = FAM.getResult<PostDominatorTreeAnalysis>(F);
  const auto &Loops = FAM.getResult<LoopAnalysis>(F);
  // A load from one address of shared memory gives all threads the same value
  // if none may write there in the same interval. The intervals depend on which
  // loads these are, and the reverse. So all are assumed to be, and those that
  // may meet a write are dropped until none is left. That is sound by induction
  // over the intervals: each follows from loads in those before.
  Uniformity::Loads Common;
  for (const Step &S : Steps)
    if (isa<LoadInst>(S.Inst) && isWeak(S.What) &&
        isa<GlobalVariable>(getUnderlyingObject(S.access()->Where.Base)))
      Common.insert(S.Inst);
  std::optional<Uniformity> InBlock;
  std::optional<BarrierIntervals> Intervals;
  std::optional<SharedVariables> Variables;
  for (bool IsAgain = true; IsAgain;) {
    Variables.reset();
    Intervals.reset();
    InBlock.emplace(F, ThreadGroup::Block, PDT, Loops, Common);
    Intervals.emplace(F, *Barriers, *InBlock, PDT);
    if (!Intervals->areKnown())
      return;
    Variables.emplace(F, *InBlock, *Intervals,
                      FAM.getResult<DominatorTreeAnalysis>(F), Loops,
                      FAM.getResult<ScalarEvolutionAnalysis>(F));
    for (const Step &S : Steps)
      if (S.access())
        Variables->add(*S.Inst, *S.access());
    IsAgain = false;
    for (const Step &S : Steps)
      if (Common.contains(S.Inst) &&
          !Variables->staysSame(*S.Inst, *S.access()))
        IsAgain |= Common.erase(S.Inst);
  }
  AreBarriersUniform = true;
  const bool IsOnlyBarrier =
      size_t(count_if(Steps, [](const Step &S) {
        return std::holds_alternative<BlockBarrier>(S.What);
      })) == Barriers->size();
  for (Step &S : Steps) {
    if (std::holds_alternative<Leave>(S.What))
      S.IsLast = IsOnlyBarrier && none_of(*Barriers, [&](const Instruction *I) {
                   return Intervals->mayMeet(*S.Inst, *I);
                 });
    if (!S.access())
      continue;
    const auto Needs = Variables->proofOf(*S.Inst, *S.access());
    if (!Needs)
      continue;
    ++NumProven;
    if (Needs->isAlways())
      S.IsProven = true;
    else if (S.IsFast && isWeak(S.What))
      S.Unless = exemption({std::nullopt, *Needs});
  }
}

/// Finds accesses of arrays that may turn out to be harmless.
void EventPlan::planArrays(FunctionAnalysisManager &FAM) {
  if (hasUnknownLoops(F, FAM))
    return;
  const Uniformity InGrid(F, ThreadGroup::Grid,
                          FAM.getResult<PostDominatorTreeAnalysis>(F),
                          FAM.getResult<LoopAnalysis>(F));
  // Nothing orders iterations of the threads of a grid.
  const AddressFacts Facts = {InGrid, FAM.getResult<DominatorTreeAnalysis>(F),
                              FAM.getResult<LoopAnalysis>(F),
                              FAM.getResult<ScalarEvolutionAnalysis>(F),
                              [](const Loop &) { return true; }};
  for (const Step &S : Steps)
    if (S.sited() && !std::holds_alternative<OperandRead>(S.What))
      Arrays->add(*S.Inst, *S.sited(), Facts);
  for (Step &S : Steps)
    if ((S.IsFast && isWeak(S.What) && !S.IsProven) ||
        std::holds_alternative<AsyncAccess>(S.What))
      if (const auto Array = Arrays->harmless(*S.sited()))
        if (const auto New = exemption({Array, {}}))
          S.Unless = New;
}

/// Its number; none if there is no room for one more.
std::optional<unsigned> EventPlan::exemption(Exemption E) {
  const auto It = find_if(Exemptions, [&](const Exemption &Other) {
    return Other.Array == E.Array && Other.Launch == E.Launch;
  });
  if (It != Exemptions.end())
    return It - Exemptions.begin();
  if (Exemptions.size() == MostExemptions)
    return std::nullopt;
  Exemptions.push_back(std::move(E));
  return Exemptions.size() - 1;
}

/// Whether `V` could be computed at `At` already: it does not depend on what is
/// read from there on.
static bool isComputableAt(const Value *V, const Instruction *At,
                           unsigned Depth = 0) {
  auto *I = dyn_cast<Instruction>(V);
  // Of what is used in a block, all that comes from elsewhere is there before.
  if (!I || I->getParent() != At->getParent() || I->comesBefore(At))
    return true;
  constexpr unsigned Most = 8;
  return Depth < Most && !I->mayReadOrWriteMemory() &&
         all_of(I->operands(), [&](const Value *O) {
           return isComputableAt(O, At, Depth + 1);
         });
}

/// Accesses of a block between two synchronisations are checked in groups, each
/// behind its last one: what checks and accesses load is loaded at the same
/// time. Larger groups would need more registers than that is worth, and what
/// depends on a racy value may never return.
/// Those of one exemption are a group of their own.
void EventPlan::planGroups(size_t First, size_t Last,
                           ArrayRef<Instruction *> Between) {
  constexpr size_t None = -1;
  size_t Counted = None;
  struct OpenGroup {
    SmallVector<size_t, 8> Members;
    unsigned Words = 0;
  };
  MapVector<std::optional<unsigned>, OpenGroup> Open;
  auto CloseOne = [&](OpenGroup &G) {
    for (size_t N : G.Members)
      Steps[N].Group = G.Members.back();
    G = {};
  };
  auto Close = [&] {
    for (auto &[Unless, G] : Open)
      CloseOne(G);
    Open.clear();
  };
  for (size_t N = First; N < Last; ++N) {
    Step &S = Steps[N];
    for (; !Between.empty() && Between.front()->comesBefore(S.Inst);
         Between = Between.drop_front())
      Close();
    if (S.IsFast || S.IsProven) {
      if (Counted == None)
        Counted = N;
      ++Steps[Counted].InBlock;
    }
    // What a copy reads is in its cell before the thread itself goes on.
    if (!isWeak(S.What) || (S.access()->Flags & abi::IsCopy)) {
      Close();
      S.Group = N;
      continue;
    }
    if (!S.IsFast || S.IsProven)
      continue;
    if (any_of(Open, [&](const auto &Other) {
          const OpenGroup &G = Other.second;
          return !G.Members.empty() &&
                 !isComputableAt(S.access()->Where.Base,
                                 Steps[G.Members.front()].Inst);
        }))
      Close();
    const uint64_t Size = S.access()->Size;
    const unsigned More = Size < 4 ? 1 : Size / 4;
    OpenGroup &G = Open[S.Unless];
    if (G.Words + More > WordsInGroup)
      CloseOne(G);
    G.Members.push_back(N);
    G.Words += More;
  }
  Close();
}

void EventPlan::addStep(Instruction &I, const Event &E, bool IsFast) {
  Step &S = Steps.emplace_back(Step{&I, E, &I});
  S.IsFast = IsFast;
  if (const Access *A = asAccess(E); A && IsFast)
    S.IsUniform = A->Where.Base && InWarp.isUniform(A->Where.Base);
}

void EventPlan::addCompanion(Step &S, Instruction &I, bool IsWrite) {
  // What is said of the line already, with the races of a write or a read?
  auto Says = [&](const Instruction &Other, bool OtherWrites) {
    return areOfOneLine(Other, I) && (OtherWrites || !IsWrite);
  };
  constexpr unsigned Most = 8;
  if (!I.getDebugLoc() || S.Companions.size() == Most ||
      Says(*S.Accessor, S.access()->writes()) ||
      any_of(S.Companions, [&](const Companion &C) {
        return Says(*C.Inst, C.Access == abi::AccessKind::Store);
      }))
    return;
  S.Companions.push_back(
      {&I, IsWrite ? abi::AccessKind::Store : abi::AccessKind::Load});
}

void EventPlan::planAccess(Instruction &I, const Access &E,
                           CheckedAccesses &Checked) {
  const std::optional<size_t> Number = planCheck(I, E, Checked);
  const bool IsWrite = E.writes();
  for (CheckedAccesses::Made *M : Checked.companions(E)) {
    if (Number && M->Number != Number)
      addCompanion(Steps[*Number], *M->Inst, M->IsWrite);
    if (M->Number && M->Number != Number)
      addCompanion(Steps[*M->Number], I, IsWrite);
  }
  // A read that this thread's own write follows need not be remembered, for
  // who races with it races with the write. Else it would take the place of
  // another thread's, with which the write races.
  if (Number && IsWrite && isInRegister(E))
    for (auto [M, Distance] : Checked.overlapping(E))
      if (M->Number && M->Number != Number && !M->IsWrite && M->Size <= 16) {
        const uint64_t Bytes = (uint64_t(1) << E.Size) - 1;
        Steps[*M->Number].Overwritten |=
            Distance < 0 ? Bytes >> -Distance : Bytes << Distance;
      }
  Checked.make(E, I, Number);
}

std::optional<size_t> EventPlan::planCheck(Instruction &I, const Access &E,
                                           CheckedAccesses &Checked) {
  int64_t Distance;
  if (Checked.covers(E)) {
    ++NumRedundant;
    return std::nullopt;
  }
  // `x += 1`: the store is sure to follow the load, so the load can be checked
  // as the store that it comes with.
  if (auto *Load = Checked.within(E, Distance);
      Load && areOfOneLine(*Steps[*Load->Number].Accessor, I)) {
    const size_t Number = *std::exchange(Load->Number, std::nullopt);
    Step &S = Steps[Number];
    const Access Before = *S.access();
    if (Before.Size != E.Size) {
      // What is known of its companions is of fewer bytes.
      S.Companions.clear();
      for (CheckedAccesses::Made *M : Checked.companions(Before))
        M->Number.reset();
    }
    S.What = E;
    S.access()->Where = {Before.Where.Base, Before.Where.Space,
                         Before.Where.Offset + Distance};
    S.Accessor = &I;
    ++NumRedundant;
    Checked.add(E, I, Number);
    return Number;
  }
  const size_t Number = Steps.size();
  Checked.add(E, I, Number);
  addStep(I, E, isInRegister(E));
  return Number;
}

} // namespace crsan
