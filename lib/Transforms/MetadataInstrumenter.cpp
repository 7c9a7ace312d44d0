//===- MetadataInstrumenter.cpp - Following a function's events -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetadataInstrumenter.h"
#include "DeviceRuntime.h"
#include "Omission.h"
#include "Operands.h"
#include "Unroll.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

static cl::opt<bool> CheckCalls(
    "crsan-check-calls",
    cl::desc("metadata mode calls the runtime for each access: smaller, slower "
             "code"));

STATISTIC(NumFollowedWeak, "Number of weak accesses that metadata follow");
STATISTIC(NumFollowedStrong, "Number of strong accesses that metadata follow");
STATISTIC(NumRedundant, "Number of weak accesses that another's check covers");
STATISTIC(NumProven, "Number of accesses that cannot race");
STATISTIC(NumUnknown, "Number of instructions that may synchronise anyhow");

namespace crsan {

/// An access of what a register can hold, as nearly all are: checked in line.
static bool isInRegister(const Event &E) {
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

MetadataInstrumenter::MetadataInstrumenter(Function &F, SiteTable &Table,
                                           StringRef Kernel,
                                           FunctionAnalysisManager &FAM)
    : F(F), Table(Table), Kernel(Kernel),
      ORE(FAM.getResult<OptimizationRemarkEmitterAnalysis>(F)),
      InWarp(FAM.getResult<UniformityInfoAnalysis>(F)), Swaps(F) {
  // What is known at a block's end holds in a block that can be reached from
  // nowhere else.
  DenseMap<const BasicBlock *, CheckedAccesses> AtEnd;
  const auto &Loops = FAM.getResult<LoopAnalysis>(F);
  if (isKernel(F))
    Arrays.emplace(F, Loops);
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
    plan(*BB, Checked);
    P.Last = Steps.size();
    P.LastBreak = Breaks.size();
    Checked.endBlock();
    AtEnd.try_emplace(BB, std::move(Checked));
  }
  planShared(FAM);
  if (Arrays)
    planArrays(FAM);
  for (const Part &P : Parts) {
    planGroups(
        P.First, P.Last,
        ArrayRef(Breaks).slice(P.FirstBreak, P.LastBreak - P.FirstBreak));
    if (const Loop *Inner = Loops.getLoopFor(P.BB))
      for (Step &S : MutableArrayRef(Steps).slice(P.First, P.Last - P.First))
        if (S.IsFast && movesWith(S.What.Where.Base, *Inner, SE))
          S.Object = getUnderlyingObject(S.What.Where.Base);
  }
}

void MetadataInstrumenter::plan(BasicBlock &BB, CheckedAccesses &Checked) {
  for (Instruction &I : BB) {
    const Events All = eventsOf(I);
    Skipped += noteSkipped(I, All.Skipped, ORE);
    MayLeave |= All.MayLeave;
    for (const Event &E : All.List) {
      if (E.What == Event::Kind::Weak)
        planAccess(I, E, Checked);
      else
        planOther(I, E);
    }
    // A function that is defined here has events of its own.
    const bool IsCall = isa<CallBase>(I) && !isa<IntrinsicInst>(I) &&
                        !cast<CallBase>(I).isInlineAsm();
    if (IsCall || All.MayLeave)
      Breaks.push_back(&I);
    if (All.MayLeave)
      Exits.push_back(&I);
    if (All.MayLeave || IsCall || any_of(All.List, [](const Event &E) {
          return E.What != Event::Kind::Weak;
        }))
      Checked.clear();
    if (isKernel(F) && isa<ReturnInst>(I))
      Steps.push_back({&I, {Event::Kind::Leave}, &I});
  }
}

/// A bit for each of a block's 16 barriers that the event may be about.
static uint16_t barrierNumbers(const Event &E, const DataLayout &DL) {
  const Value *Number = E.Where.Base;
  if (const auto *Constant = dyn_cast<ConstantInt>(Number))
    return uint16_t(1) << (Constant->getZExtValue() & 15);
  // 0 is __syncthreads(), and rarely meant.
  return isKnownNonZero(Number, DL) ? 0xfffe : 0xffff;
}

/// All places where threads may meet at the block's barrier 0; none: others may
/// do so elsewhere.
std::optional<std::vector<const Instruction *>>
MetadataInstrumenter::blockBarriers() const {
  std::vector<const Instruction *> All;
  for (const Step &S : Steps) {
    const Event &E = S.What;
    if (E.What == Event::Kind::Unknown || E.What == Event::Kind::Call)
      return std::nullopt;
    if (E.What != Event::Kind::BlockBarrier && !E.IsCounted)
      continue;
    const uint16_t Numbers = barrierNumbers(E, F.getDataLayout());
    if (!(Numbers & 1))
      continue;
    if (Numbers != 1 || E.IsCounted)
      return std::nullopt;
    All.push_back(S.Inst);
  }
  return All;
}

static bool isAccess(const Event &E) {
  return E.What == Event::Kind::Weak || E.What == Event::Kind::Strong;
}

/// Finds accesses of shared variables that cannot race.
void MetadataInstrumenter::planShared(FunctionAnalysisManager &FAM) {
  // Nothing that is executed is defined elsewhere.
  if (!isKernel(F) || any_of(instructions(F), [](const Instruction &I) {
        const auto *Call = dyn_cast<CallBase>(&I);
        return Call && !Call->isInlineAsm() &&
               !(Call->getCalledFunction() &&
                 Call->getCalledFunction()->isDeclaration());
      }))
    return;
  const auto Barriers = blockBarriers();
  if (!Barriers)
    return;
  const Uniformity InBlock(F, ThreadGroup::Block,
                           FAM.getResult<PostDominatorTreeAnalysis>(F),
                           FAM.getResult<LoopAnalysis>(F));
  const BarrierIntervals Intervals(F, *Barriers, InBlock);
  if (!Intervals.areKnown())
    return;
  SharedVariables Variables(F, InBlock, Intervals,
                            FAM.getResult<DominatorTreeAnalysis>(F));
  for (const Step &S : Steps)
    if (isAccess(S.What))
      Variables.add(*S.Inst, S.What);
  for (Step &S : Steps) {
    if (!isAccess(S.What))
      continue;
    const auto Needs = Variables.proofOf(*S.Inst, S.What);
    if (!Needs)
      continue;
    ++NumProven;
    if (Needs->isAlways())
      S.IsProven = true;
    else if (S.IsFast && S.What.What == Event::Kind::Weak)
      S.Unless = exemption({std::nullopt, *Needs});
  }
}

/// Finds accesses of arrays that may turn out to be harmless.
void MetadataInstrumenter::planArrays(FunctionAnalysisManager &FAM) {
  const Uniformity InGrid(F, ThreadGroup::Grid,
                          FAM.getResult<PostDominatorTreeAnalysis>(F),
                          FAM.getResult<LoopAnalysis>(F));
  const auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  for (const Step &S : Steps)
    if (isAccess(S.What))
      Arrays->add(*S.Inst, S.What, InGrid, DT);
  for (Step &S : Steps)
    if (S.IsFast && S.What.What == Event::Kind::Weak && !S.IsProven)
      if (const auto Array = Arrays->harmless(S.What))
        S.Unless = exemption({Array, {}});
}

/// Its number.
unsigned MetadataInstrumenter::exemption(Exemption E) {
  const auto It = find_if(Exemptions, [&](const Exemption &Other) {
    return Other.Array == E.Array && Other.Launch == E.Launch;
  });
  if (It != Exemptions.end())
    return It - Exemptions.begin();
  Exemptions.push_back(std::move(E));
  return Exemptions.size() - 1;
}

/// Whether `V` could be computed at `At` already: it does not depend on what is
/// read from there on.
static bool isAvailable(const Value *V, const Instruction *At,
                        unsigned Depth = 0) {
  auto *I = dyn_cast<Instruction>(V);
  // Of what is used in a block, all that comes from elsewhere is there before.
  if (!I || I->getParent() != At->getParent() || I->comesBefore(At))
    return true;
  constexpr unsigned Most = 8;
  return Depth < Most && !I->mayReadOrWriteMemory() &&
         all_of(I->operands(),
                [&](const Value *O) { return isAvailable(O, At, Depth + 1); });
}

/// Accesses of a block between two synchronisations are checked in groups, each
/// behind its last one: what checks and accesses load is loaded at the same
/// time. Larger groups would need more registers than that is worth, and what
/// depends on a racy value may never return.
/// Those of one exemption are a group of their own.
void MetadataInstrumenter::planGroups(size_t First, size_t Last,
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
    if (S.What.What != Event::Kind::Weak) {
      Close();
      S.Group = N;
      continue;
    }
    if (!S.IsFast || S.IsProven)
      continue;
    if (any_of(Open, [&](const auto &Other) {
          const OpenGroup &G = Other.second;
          return !G.Members.empty() &&
                 !isAvailable(S.What.Where.Base, Steps[G.Members.front()].Inst);
        }))
      Close();
    const unsigned More = S.What.Size < 4 ? 1 : S.What.Size / 4;
    OpenGroup &G = Open[S.Unless];
    if (G.Words + More > WordsInGroup)
      CloseOne(G);
    G.Members.push_back(N);
    G.Words += More;
  }
  Close();
}

void MetadataInstrumenter::planOther(Instruction &I, const Event &E) {
  Step &S = Steps.emplace_back(Step{&I, E, &I});
  // If it turns out that nothing has to be handed on by it.
  if (E.What != Event::Kind::Strong || !isInRegister(E) ||
      E.Order > abi::SyncOrder::Relaxed)
    return;
  S.IsFast = true;
  S.IsUniform = E.Where.Base && InWarp.isUniform(E.Where.Base);
}

/// Whether a report of the one would say the same as one of the other.
static bool areOfOneLine(const Instruction &A, const Instruction &B) {
  const DILocation *LA = A.getDebugLoc(), *LB = B.getDebugLoc();
  return LA && LB && LA->getLine() == LB->getLine() &&
         LA->getFile() == LB->getFile() &&
         LA->getInlinedAt() == LB->getInlinedAt();
}

void MetadataInstrumenter::addCompanion(Step &S, Instruction &I, bool IsWrite) {
  // What is said of the line already, with the races of a write or a read?
  auto Says = [&](const Instruction &Other, bool OtherWrites) {
    return areOfOneLine(Other, I) && (OtherWrites || !IsWrite);
  };
  constexpr unsigned Most = 8;
  if (!I.getDebugLoc() || S.Companions.size() == Most ||
      Says(*S.Accessor, S.What.Flags & abi::WritesMemory) ||
      any_of(S.Companions, [&](const Companion &C) {
        return Says(*C.Inst, C.Access == abi::AccessKind::Store);
      }))
    return;
  S.Companions.push_back(
      {&I, IsWrite ? abi::AccessKind::Store : abi::AccessKind::Load});
}

void MetadataInstrumenter::planAccess(Instruction &I, const Event &E,
                                      CheckedAccesses &Checked) {
  const std::optional<size_t> Number = planCheck(I, E, Checked);
  const bool IsWrite = E.Flags & abi::WritesMemory;
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

std::optional<size_t>
MetadataInstrumenter::planCheck(Instruction &I, const Event &E,
                                CheckedAccesses &Checked) {
  int64_t Distance;
  if (Checked.covering(E)) {
    ++NumRedundant;
    return std::nullopt;
  }
  // `x += 1`: the store is sure to follow the load, so the load can be checked
  // as the store that it comes with.
  if (auto *Load = Checked.within(E, Distance);
      Load && areOfOneLine(*Steps[*Load->Number].Accessor, I)) {
    const size_t Number = *std::exchange(Load->Number, std::nullopt);
    Step &S = Steps[Number];
    if (S.What.Size != E.Size) {
      // What is known of its companions is of fewer bytes.
      S.Companions.clear();
      for (CheckedAccesses::Made *M : Checked.companions(S.What))
        M->Number.reset();
    }
    const Place Where = {S.What.Where.Base, S.What.Where.Space,
                         S.What.Where.Offset + Distance};
    S.What = E;
    S.What.Where = Where;
    S.Accessor = &I;
    ++NumRedundant;
    Checked.add(E, Number);
    return Number;
  }
  const size_t Number = Steps.size();
  Checked.add(E, Number);
  Step &S = Steps.emplace_back(Step{&I, E, &I});
  if (!isInRegister(E))
    return Number;
  S.IsFast = true;
  S.IsUniform = E.Where.Base && InWarp.isUniform(E.Where.Base);
  return Number;
}

/// Only functions of this module come here.
bool MetadataInstrumenter::isOurs() const {
  return isKernel(F) || (F.hasLocalLinkage() && !F.hasAddressTaken());
}

/// No fence can have been executed where this function runs. What other units
/// can call may run in kernels that have fences.
bool MetadataInstrumenter::isFenceless() const {
  return !Module.HasFences && isOurs();
}

/// A strong access that is checked in line: what it releases or acquires, it
/// does by fences.
bool MetadataInstrumenter::isFastStrong(const Step &S) {
  return S.What.What == Event::Kind::Strong && S.IsFast;
}

/// What changes nothing of what accesses have in common.
static bool keepsWindow(const Event &E) {
  return E.What == Event::Kind::Weak || E.What == Event::Kind::CommitCopies ||
         E.What == Event::Kind::AwaitCopies;
}

/// A strong access that neither releases nor acquires, ever.
bool MetadataInstrumenter::isJustAccess(const Step &S) const {
  return isFastStrong(S) && isFenceless() && !S.What.Expected;
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

uint16_t MetadataInstrumenter::countedBarriers() const {
  uint16_t Counted = 0;
  for (const Step &S : Steps)
    if (S.What.IsCounted)
      Counted |= barrierNumbers(S.What, F.getDataLayout());
  return Counted;
}

bool MetadataInstrumenter::isWholeKernel() const {
  return isKernel(F) && none_of(instructions(F), [](const Instruction &I) {
           const auto *Call = dyn_cast<CallBase>(&I);
           return Call && !isa<IntrinsicInst>(Call) && !Call->isInlineAsm();
         });
}

/// Whether threads may come to a barrier of the whole block by a count, too.
/// Then it is told as both.
bool MetadataInstrumenter::isCountedToo(const Event &E) const {
  return CountedBarriers & barrierNumbers(E, F.getDataLayout());
}

/// Barriers may be replaced only if all that threads can meet at the same time
/// are: PTX does not let those with a result meet those without.
IntrinsicInst *MetadataInstrumenter::replacedBarrier(const Step &S) const {
  return S.What.What == Event::Kind::BlockBarrier && !CheckCalls &&
                 !Module.HasForeignBarriers
             ? asBlockBarrier(S.Inst)
             : nullptr;
}

void MetadataInstrumenter::note(ModuleEvents &M) const {
  for (const Step &S : Steps) {
    const Event &E = S.What;
    M.HasUnknown |= E.What == Event::Kind::Unknown;
    M.HasFences |=
        E.What == Event::Kind::Fence || E.What == Event::Kind::Unknown ||
        E.What == Event::Kind::Learn || E.What == Event::Kind::Call ||
        (E.What == Event::Kind::Strong && E.Order > abi::SyncOrder::Relaxed);
    // An update of which nobody uses the result waits for nothing.
    M.HasSignals |= E.What == Event::Kind::Call ||
                    (E.What == Event::Kind::Strong &&
                     knownSpace(E.Where) != unsigned(abi::Space::Shared) &&
                     !((E.Flags & abi::IsAtomic) && S.Inst->use_empty()));
    M.HasBarriers |= E.What == Event::Kind::BlockBarrier ||
                     E.What == Event::Kind::Call ||
                     E.What == Event::Kind::Unknown;
    M.HasForeignBarriers |= E.What == Event::Kind::Call ||
                            E.What == Event::Kind::Unknown ||
                            (E.What == Event::Kind::BlockBarrier &&
                             (!isa<IntrinsicInst>(S.Inst) || !isOurs()));
  }
  M.CountedBarriers |= countedBarriers();
  M.HasForeignBarriers |= M.CountedBarriers & 1;
}

void MetadataInstrumenter::run(uint32_t Flags, const ModuleEvents &M) {
  Module = M;
  EnterFlags = Flags | (M.HasBarriers ? abi::EnterBarriers : 0) |
               (M.HasSignals ? abi::EnterSignals : 0) |
               abi::kernelTag(F.getName().data(), F.getName().size())
                   << abi::KernelTagAt;
  CountedBarriers = isWholeKernel() ? countedBarriers() : M.CountedBarriers;
  Constant *Sites = nullptr;
  for (Step &S : Steps)
    if (S.What.What == Event::Kind::Weak ||
        S.What.What == Event::Kind::Strong ||
        S.What.What == Event::Kind::Copy) {
      S.Site = siteOf(S);
      Sites = Sites ? Sites : S.Site;
    }
  IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  Value *First = nullptr;
  std::optional<PlainBody> Plain;
  if (!(Flags & abi::EnterLeaky)) {
    if (mayBePlain()) {
      Plain.emplace(F);
      B.SetInsertPoint(Plain->headEnd());
    }
    emitExemptions(B);
    if (Plain) {
      emitPlain(*Plain);
      B.SetInsertPoint(&*Plain->body()->getFirstNonPHIOrDbgOrAlloca());
    }
  } else {
    for (Exemption &E : Exemptions)
      E.Holds = B.getFalse();
  }
  if (isKernel(F)) {
    First = callRuntime(B, EnterName, B.getInt32(EnterFlags),
                        FixedVectorType::get(B.getInt32Ty(), 4));
  } else if (!isOurs()) {
    callRuntime(B, CalledName, {});
  }
  if (any_of(Steps, [&](const Step &S) {
        return S.IsFast || S.IsProven || replacedBarrier(S);
      })) {
    const bool HasBarriers = !isKernel(F) || !Breaks.empty() || M.HasBarriers;
    Fast.emplace(F, B, First, Sites, HasBarriers,
                 /*HasLocks=*/!isFenceless());
    // After what is emitted after the instruction.
    auto Resume = [&](Instruction *I) {
      if (I->isTerminator())
        return;
      IRBuilder<> B(I->getNextNode());
      Fast->emitForget(B);
      Fast->emitWindow(B);
    };
    for (const Step &S : Steps)
      if (!keepsWindow(S.What) && !isFastStrong(S) && !replacedBarrier(S))
        Resume(S.Inst);
    for (Instruction *I : Breaks)
      Resume(I);
  }
  for (size_t N = 0; N < Steps.size(); ++N)
    emitBefore(N);
  // Each just behind its instruction, so the last one first.
  for (const Step &S : reverse(Steps))
    emitAfter(S);
  Swaps.finish();
  if (!Fast)
    return;
  auto Count = [&](Instruction *I) {
    IRBuilder<> B(I);
    B.SetCurrentDebugLocation(I->getDebugLoc());
    Fast->emitCounted(B);
  };
  for (Instruction *I : Exits)
    Count(I);
  for (BasicBlock &BB : F)
    if (!isKernel(F) && isa<ReturnInst>(BB.getTerminator()))
      Count(BB.getTerminator());
  for (const Step &S : Steps)
    if (IntrinsicInst *I = replacedBarrier(S))
      Fast->emitBarrier(I);
  Fast->finish();
}

/// At the kernel's head.
void MetadataInstrumenter::emitExemptions(IRBuilder<> &B) {
  Value *Table = nullptr;
  auto Owner = [&](Value *Address) {
    if (!Table)
      Table = callRuntime(B, OwnersName, {},
                          FixedVectorType::get(B.getInt64Ty(), 2));
    Value *Entry = B.CreateAnd(B.CreateLShr(Address, abi::PageShift - 3),
                               B.CreateExtractElement(Table, 1));
    return B.CreateAnd(
        emitAssembly(
            B, B.getInt32Ty(), "ld.global.u32 $0, [$1];", "=r,l,~{memory}",
            B.CreateAdd(B.CreateExtractElement(Table, uint64_t(0)), Entry)),
        B.getInt32(abi::PageOwners));
  };
  for (Exemption &E : Exemptions)
    E.Holds =
        E.Array ? Arrays->emitIsHarmless(B, *E.Array, Owner) : E.Launch.emit(B);
}

/// Whether the kernel does nothing that others might have to know of, if its
/// exemptions hold.
bool MetadataInstrumenter::mayBePlain() const {
  return isKernel(F) && Breaks.empty() && PlainBody::canCopy(F) &&
         any_of(Steps, [](const Step &S) { return isAccess(S.What); }) &&
         all_of(Steps, [](const Step &S) {
           const Event::Kind What = S.What.What;
           return What == Event::Kind::Weak
                      ? S.IsProven || S.Unless
                      : What == Event::Kind::BlockBarrier ||
                            What == Event::Kind::WarpBarrier ||
                            What == Event::Kind::Leave;
         });
}

/// Its accesses are counted as others are.
void MetadataInstrumenter::emitPlain(PlainBody &Plain) {
  IRBuilder<> B(Plain.headEnd());
  Type *I32 = B.getInt32Ty();
  AllocaInst *Number = B.CreateAlloca(I32);
  B.CreateStore(B.getInt32(0), Number);
  for (const Step &S : Steps) {
    B.SetInsertPoint(Plain.copyOf(S.Inst));
    if (S.InBlock)
      B.CreateStore(
          B.CreateAdd(B.CreateLoad(I32, Number), B.getInt32(S.InBlock)),
          Number);
    if (S.What.What == Event::Kind::Leave)
      callRuntime(B, CountProvenName, B.CreateLoad(I32, Number));
  }
  Value *Holds = B.getTrue();
  B.SetInsertPoint(Plain.headEnd());
  for (const Exemption &E : Exemptions)
    Holds = B.CreateAnd(Holds, E.Holds);
  Plain.emitChoice(Holds);
  DominatorTree DT(F);
  PromoteMemToReg(Number, DT);
}

Constant *MetadataInstrumenter::siteOf(Step &S) {
  const Event &E = S.What;
  abi::AccessSite Site = {};
  Site.Number = S.SiteNumber = NumSites++;
  Site.Size = E.isWhole() ? E.Size : 0;
  Site.Flags = E.Flags | (E.Expected ? abi::IsSwap : 0) |
               (isRemembered(S) ? 0 : abi::IsOverwritten);
  Site.Scope = E.Scope;
  Site.Order = E.Order;
  Site.MemorySpace = uint8_t(spaceOf(E.Where.Space));
  ++(E.What == Event::Kind::Strong ? NumFollowedStrong : NumFollowedWeak);
  return ConstantExpr::getAddrSpaceCast(
      Table.addAccess(*S.Accessor, Kernel, Site, E.WholeSize, S.Companions),
      PointerType::get(F.getContext(), 0));
}

bool MetadataInstrumenter::isRemembered(const Step &S) const {
  if (!S.Overwritten || S.What.Flags & abi::WritesMemory)
    return true;
  const uint32_t All = (1u << S.What.Size) - 1;
  return (S.Overwritten & All) != All;
}

FastAccess MetadataInstrumenter::fastAccess(const Step &S, IRBuilder<> &B) {
  const Event &E = S.What;
  FastAccess A = {};
  A.Site = S.Site;
  A.Number = S.SiteNumber;
  A.Address = emitAddress(B, E.Where);
  A.Loc = S.Accessor->getDebugLoc();
  A.Space = knownSpace(E.Where);
  A.Size = E.Size;
  // Whether a compare-and-swap writes is not known yet.
  A.Writes = (E.Flags & abi::WritesMemory) && !E.Expected;
  A.IsStrong = E.Flags & abi::IsStrong;
  A.Reads = E.Flags & abi::ReadsMemory;
  A.IsWide = E.Scope != abi::SyncScope::Block;
  // The access of a whole instruction, or a part of it, or of assembly.
  A.IsAligned = S.Inst == S.Accessor && E.Size == E.WholeSize &&
                isa<LoadInst, StoreInst>(S.Inst) &&
                getLoadStoreAlignment(S.Inst).value() >= E.Size;
  A.IsUniform = S.IsUniform;
  A.IsRemembered = isRemembered(S);
  if (E.Where.Base && E.Where.Base->getType()->isPointerTy())
    A.Root = CheckedAccesses::rootOf(F.getDataLayout(), E.Where, A.Offset);
  A.Object = S.Object;
  return A;
}

/// Of a group, at its last step: everything is known there, and nothing has
/// synchronised since the first one.
void MetadataInstrumenter::emitGroup(size_t Number) {
  Instruction *At = Steps[Number].Inst->getNextNode();
  if (const auto Unless = Steps[Number].Unless) {
    IRBuilder<> B(At);
    At = SplitBlockAndInsertIfThen(B.CreateNot(Exemptions[*Unless].Holds),
                                   At->getIterator(), /*Unreachable=*/false);
  }
  IRBuilder<> B(At);
  SmallVector<FastAccess> Group;
  size_t First = Number;
  while (First > 0 && Steps[First - 1].What.What == Event::Kind::Weak)
    --First;
  for (size_t N = First; N <= Number; ++N)
    if (Steps[N].IsFast && !Steps[N].IsProven && Steps[N].Group == Number)
      Group.push_back(fastAccess(Steps[N], B));
  Fast->emit(At, Group);
}

/// A compare-and-swap that is sure to be tried.
static bool isFollowedSwap(const Event &E) {
  return E.Expected && E.isWhole() && E.Size >= 2;
}

void MetadataInstrumenter::emitStrong(const Step &S) {
  const Event &E = S.What;
  IRBuilder<> B(S.Inst);
  B.SetCurrentDebugLocation(S.Accessor->getDebugLoc());
  if (!S.IsFast) {
    // The check puts its own in the place of who has read before.
    if (isFollowedSwap(E))
      Swaps.emitBefore(S.Inst, S.Site, emitAddress(B, E.Where));
    B.SetInsertPoint(S.Inst);
    if (!S.IsProven)
      callCheck(B, S);
    if (S.InBlock)
      Fast->emitCount(B, S.InBlock);
    if (E.Flags & abi::WritesMemory)
      callRuntime(B, ReleaseName, {S.Site, emitAddress(B, E.Where)});
    return;
  }
  if (S.InBlock)
    Fast->emitCount(B, S.InBlock);
  FastAccess A = fastAccess(S, B);
  if (isFollowedSwap(E))
    A.Reader = Swaps.reader();
  if (!S.IsProven)
    Fast->emitStrongCheck(S.Inst, A, isJustAccess(S));
  if (!isJustAccess(S) && E.Flags & abi::WritesMemory)
    Fast->emitRelease(S.Inst, S.Site, emitAddress(B, E.Where));
}

void MetadataInstrumenter::emitBefore(size_t Number) {
  const Step &S = Steps[Number];
  IRBuilder<> B(S.Inst);
  B.SetCurrentDebugLocation(S.Accessor->getDebugLoc());
  const Event &E = S.What;
  switch (E.What) {
  case Event::Kind::Weak:
    if (!S.IsFast && !S.IsProven)
      callCheck(B, S);
    if (S.InBlock)
      Fast->emitCount(B, S.InBlock);
    if (S.IsFast && !S.IsProven && S.Group == Number)
      emitGroup(Number);
    return;
  case Event::Kind::Strong:
    return emitStrong(S);
  case Event::Kind::WarpBarrier:
    callRuntime(B, WarpBarrierName,
                B.CreateZExtOrTrunc(E.Mask, B.getInt32Ty()));
    return;
  case Event::Kind::BlockBarrier:
    if (replacedBarrier(S))
      return;
    if (isCountedToo(E)) {
      callWithPlace(B, PublishName, E);
      callRuntime(B, BlockArriveUnevenName, {});
    } else {
      callRuntime(B, BlockArriveName, {});
    }
    return;
  case Event::Kind::Publish:
    return callWithPlace(B, PublishName, E);
  case Event::Kind::Copy:
    callRuntime(B, CopyName,
                {S.Site, emitAddress(B, E.Where), emitLength(B, E)});
    return;
  case Event::Kind::CommitCopies:
    callRuntime(B, CommitCopiesName, {});
    return;
  case Event::Kind::AwaitCopies:
    return callAwait(B, E);
  case Event::Kind::Learn:
    ++NumUnknown;
    callRuntime(B, LearnName, {});
    return;
  case Event::Kind::Unknown:
    ++NumUnknown;
    callRuntime(B, UnknownName, {});
    return;
  case Event::Kind::Call:
    callRuntime(B, CallingName, {});
    return;
  case Event::Kind::Leave:
    if (Fast)
      Fast->emitCounted(B);
    callRuntime(
        B, LeaveName,
        {B.getInt32(EnterFlags),
         Fast ? Fast->emitNow(B) : static_cast<Value *>(B.getInt32(0))});
    return;
  case Event::Kind::Fence:
    if (!E.IsAhead)
      return;
    // One of our own, since that of the statement comes too late.
    B.CreateFence(AtomicOrdering::AcquireRelease,
                  F.getContext().getOrInsertSyncScopeID("device"));
    callRuntime(B, FenceName, B.getInt32(uint32_t(E.Scope)));
    return;
  case Event::Kind::Collect:
    return;
  }
}

void MetadataInstrumenter::emitAfter(const Step &S) {
  if (S.Inst->isTerminator())
    return;
  Instruction *Next = S.Inst->getNextNode();
  IRBuilder<> B(Next);
  B.SetCurrentDebugLocation(S.Inst->getDebugLoc());
  const Event &E = S.What;
  switch (E.What) {
  case Event::Kind::Strong:
    // What only writes has released before, and acquires nothing.
    if (isJustAccess(S) || !(E.Flags & abi::ReadsMemory))
      return;
    {
      Value *Address = emitAddress(B, E.Where);
      Value *Swap = emitSwapResult(B, *S.Inst, E);
      if (isFastStrong(S))
        Fast->emitDone(Next->getPrevNode(), S.Site, S.SiteNumber, Address,
                       Swap);
      else
        callRuntime(B, StrongDoneName, {S.Site, Address, Swap});
      // By then it has acquired what it acquires.
      if (isFollowedSwap(E))
        Swaps.emitAfter(Next, S.Inst->getDebugLoc(), S.Site, Address, Swap,
                        E.Size);
      return;
    }
  case Event::Kind::Fence:
    callRuntime(B, FenceName, B.getInt32(uint32_t(E.Scope)));
    return;
  case Event::Kind::BlockBarrier:
    if (replacedBarrier(S))
      return;
    callRuntime(B, BlockDepartName, {});
    if (isCountedToo(E))
      callWithPlace(B, CollectName, E);
    return;
  case Event::Kind::Collect:
    return callWithPlace(B, CollectName, E);
  case Event::Kind::Unknown:
    callRuntime(B, UnknownName, {});
    return;
  case Event::Kind::Call:
    callRuntime(B, ReturnedName, {});
    return;
  case Event::Kind::Weak:
  case Event::Kind::WarpBarrier:
  case Event::Kind::Publish:
  case Event::Kind::Copy:
  case Event::Kind::CommitCopies:
  case Event::Kind::AwaitCopies:
  case Event::Kind::Learn:
  case Event::Kind::Leave:
    return;
  }
}

void MetadataInstrumenter::callCheck(IRBuilder<> &B, const Step &S) {
  const Event &E = S.What;
  Value *Length = E.isWhole() ? B.getInt64(E.Size) : emitLength(B, E);
  callRuntime(B, AccessCheckName,
              {S.Site, emitAddress(B, E.Where), Length, B.getInt64(0),
               B.getInt32(abi::CheckCounts)});
}

/// Told before the wait, which nothing of this thread comes between: so what
/// the same statement hands on includes the copies.
void MetadataInstrumenter::callAwait(IRBuilder<> &B, const Event &E) {
  if (!E.Length || !E.Length->getType()->isIntegerTy())
    callRuntime(B, AwaitAllCopiesName, {});
  else
    callRuntime(B, AwaitCopiesName,
                B.CreateZExtOrTrunc(E.Length, B.getInt32Ty()));
}

void MetadataInstrumenter::callWithPlace(IRBuilder<> &B, StringRef Name,
                                         const Event &E) {
  callRuntime(B, Name,
              {emitAddress(B, E.Where), B.getInt32(uint32_t(E.Scope))});
}

} // namespace crsan
