//===- MetadataInstrumenter.cpp - Following a function's events -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetadataInstrumenter.h"
#include "DeviceRuntime.h"
#include "Omission.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

static cl::opt<bool> CheckCalls(
    "crsan-check-calls",
    cl::desc("metadata mode calls the runtime for each access: smaller, slower "
             "code"));

STATISTIC(NumFollowedWeak, "Number of weak accesses that metadata follow");
STATISTIC(NumFollowedStrong, "Number of strong accesses that metadata follow");
STATISTIC(NumRedundant, "Number of weak accesses that another's check covers");
STATISTIC(NumUnknown, "Number of instructions that may synchronise anyhow");

namespace crsan {

static bool isKernel(const Function &F) {
  return F.getCallingConv() == CallingConv::PTX_Kernel;
}

/// An access of what a register can hold, as nearly all are: checked in line.
static bool isInRegister(const Event &E) {
  return !CheckCalls && E.isWhole() && E.Size <= 16 && isPowerOf2_64(E.Size);
}

MetadataInstrumenter::MetadataInstrumenter(Function &F, SiteTable &Table,
                                           StringRef Kernel,
                                           FunctionAnalysisManager &FAM)
    : F(F), Table(Table), Kernel(Kernel),
      ORE(FAM.getResult<OptimizationRemarkEmitterAnalysis>(F)),
      Uniformity(FAM.getResult<UniformityInfoAnalysis>(F)) {
  // What is known at a block's end holds in a block that can be reached from
  // nowhere else.
  DenseMap<const BasicBlock *, CheckedAccesses> AtEnd;
  DenseMap<const BasicBlock *, unsigned> WindowAtEnd;
  for (BasicBlock *BB : ReversePostOrderTraversal<Function *>(&F)) {
    const auto Before = AtEnd.find(BB->getSinglePredecessor());
    CheckedAccesses Checked = Before == AtEnd.end()
                                  ? CheckedAccesses(F.getDataLayout())
                                  : Before->second;
    unsigned Window = WindowAtEnd.lookup(BB->getSinglePredecessor());
    plan(*BB, Checked, Window);
    WindowAtEnd[BB] = Window;
    Checked.endBlock();
    AtEnd.try_emplace(BB, std::move(Checked));
  }
}

void MetadataInstrumenter::plan(BasicBlock &BB, CheckedAccesses &Checked,
                                unsigned &Window) {
  const size_t First = Steps.size();
  for (Instruction &I : BB) {
    const Events All = eventsOf(I);
    Skipped += noteSkipped(I, All.Skipped, ORE);
    MayLeave |= All.MayLeave;
    for (const Event &E : All.List) {
      if (E.What == Event::Kind::Weak)
        planAccess(I, E, Checked, Window);
      else
        planOther(I, E, Window);
    }
    // A function that is defined here has events of its own.
    if (All.MayLeave ||
        any_of(All.List,
               [](const Event &E) { return E.What != Event::Kind::Weak; }) ||
        (isa<CallBase>(I) && !isa<IntrinsicInst>(I) &&
         !cast<CallBase>(I).isInlineAsm())) {
      Checked.clear();
      Window = 0;
    }
    if (isKernel(F) && isa<ReturnInst>(I))
      Steps.push_back({&I, {Event::Kind::Leave}, &I});
  }
  auto IsFast = [](const Step &S) {
    return S.Window != 0 && S.What.What == Event::Kind::Weak;
  };
  const auto Begin = Steps.begin() + First;
  if (auto It = std::find_if(Begin, Steps.end(), IsFast); It != Steps.end())
    It->InBlock = std::count_if(Begin, Steps.end(), IsFast);
}

void MetadataInstrumenter::planOther(Instruction &I, const Event &E,
                                     unsigned &Window) {
  Step &S = Steps.emplace_back(Step{&I, E, &I});
  // If it turns out that nothing has to be handed on by it.
  if (E.What != Event::Kind::Strong || !isInRegister(E) || E.Expected ||
      E.Order > abi::SyncOrder::Relaxed)
    return;
  S.Window = Window = Window ? Window : ++NumWindows;
  S.IsUniform = E.Where.Base && Uniformity.isUniform(E.Where.Base);
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
                                      CheckedAccesses &Checked,
                                      unsigned &Window) {
  const std::optional<size_t> Number = planCheck(I, E, Checked, Window);
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

std::optional<size_t> MetadataInstrumenter::planCheck(Instruction &I,
                                                      const Event &E,
                                                      CheckedAccesses &Checked,
                                                      unsigned &Window) {
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
  Window = Window ? Window : ++NumWindows;
  S.Window = Window;
  S.IsUniform = E.Where.Base && Uniformity.isUniform(E.Where.Base);
  return Number;
}

bool MetadataInstrumenter::mayFence() const {
  return any_of(Steps, [](const Step &S) {
    const Event &E = S.What;
    return E.What == Event::Kind::Fence || E.What == Event::Kind::Unknown ||
           E.What == Event::Kind::Call ||
           (E.What == Event::Kind::Strong && E.Order > abi::SyncOrder::Relaxed);
  });
}

/// A strong access that neither releases nor acquires, ever. What other units
/// can call may run in kernels that have fences.
bool MetadataInstrumenter::isJustAccess(const Step &S) const {
  return S.What.What == Event::Kind::Strong && S.Window && !HasFences &&
         (isKernel(F) || (F.hasLocalLinkage() && !F.hasAddressTaken()));
}

bool MetadataInstrumenter::isOpaque() const {
  return any_of(
      Steps, [](const Step &S) { return S.What.What == Event::Kind::Unknown; });
}

void MetadataInstrumenter::run(uint32_t Flags, bool WithFences) {
  HasFences = WithFences;
  for (Step &S : Steps)
    if (S.What.What == Event::Kind::Weak || S.What.What == Event::Kind::Strong)
      S.Site = siteOf(S);
  auto Begin = [this] {
    return &*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  };
  if (NumWindows) {
    IRBuilder<> B(Begin());
    Fast.emplace(F, B);
    Windows.resize(NumWindows + 1);
  }
  for (const Step &S : Steps)
    emitBefore(S);
  // Each just behind its instruction, so the last one first.
  for (const Step &S : reverse(Steps))
    emitAfter(S);

  // In front of all that has been emitted.
  IRBuilder<> B(Begin());
  if (isKernel(F))
    call(B, EnterName, B.getInt32(Flags));
  else if (!F.hasLocalLinkage() || F.hasAddressTaken())
    call(B, CalledName, {});
}

Constant *MetadataInstrumenter::siteOf(const Step &S) {
  const Event &E = S.What;
  abi::AccessSite Site = {};
  Site.Size = E.isWhole() ? E.Size : 0;
  Site.Flags = E.Flags | (E.Expected ? abi::IsSwap : 0) |
               (isRemembered(S) ? 0 : abi::IsOverwritten);
  Site.Scope = E.Scope;
  Site.Order = E.Order;
  Site.MemorySpace = uint8_t(spaceOf(E.Where.Space));
  ++(E.What == Event::Kind::Weak ? NumFollowedWeak : NumFollowedStrong);
  return ConstantExpr::getAddrSpaceCast(
      Table.addAccess(*S.Accessor, Kernel, Site, E.WholeSize, S.Companions),
      PointerType::get(F.getContext(), 0));
}

/// The address space that a place is sure to be in, whatever the pointer's type
/// says: clang has generic pointers nearly everywhere. What a kernel is given
/// points to global memory, as NVPTX assumes, too.
static unsigned knownSpace(const Place &Where) {
  if (Where.Space != NVPTXAS::ADDRESS_SPACE_GENERIC || !Where.Base ||
      !Where.Base->getType()->isPointerTy())
    return Where.Space;
  const Value *Object = getUnderlyingObject(Where.Base, /*MaxLookup=*/0);
  if (const auto *A = dyn_cast<Argument>(Object))
    return isKernel(*A->getParent()) && !A->hasByValAttr()
               ? unsigned(NVPTXAS::ADDRESS_SPACE_GLOBAL)
               : Where.Space;
  return Object->getType()->getPointerAddressSpace();
}

bool MetadataInstrumenter::isRemembered(const Step &S) const {
  if (!S.Overwritten || S.What.Flags & abi::WritesMemory)
    return true;
  const uint32_t All = (1u << S.What.Size) - 1;
  return (S.Overwritten & All) != All;
}

void MetadataInstrumenter::emitFast(const Step &S) {
  IRBuilder<> B(S.Inst);
  const Event &E = S.What;
  FastCheck::Window &W = Windows[S.Window];
  // The first of a window in this order is in front of all others.
  if (!W.Mine)
    W = Fast->emitWindow(B);
  if (const unsigned Number = E.What == Event::Kind::Strong ? 1 : S.InBlock)
    Fast->emitCount(B, Number);
  // The access of a whole instruction, or a part of it, or of assembly.
  const bool IsAligned = S.Inst == S.Accessor && E.Size == E.WholeSize &&
                         isa<LoadInst, StoreInst>(S.Inst) &&
                         getLoadStoreAlignment(S.Inst).value() >= E.Size;
  Fast->emit(S.Inst, W,
             {S.Site, emitAddress(B, E.Where), knownSpace(E.Where),
              uint32_t(E.Size), bool(E.Flags & abi::WritesMemory),
              bool(E.Flags & abi::IsStrong), bool(E.Flags & abi::ReadsMemory),
              E.Scope != abi::SyncScope::Block, IsAligned, S.IsUniform,
              isRemembered(S)});
}

void MetadataInstrumenter::emitBefore(const Step &S) {
  IRBuilder<> B(S.Inst);
  B.SetCurrentDebugLocation(S.Accessor->getDebugLoc());
  const Event &E = S.What;
  switch (E.What) {
  case Event::Kind::Weak:
    if (!E.isWhole())
      return call(B, RangeName,
                  {S.Site, emitAddress(B, E.Where), emitLength(B, E)});
    if (S.Window)
      return emitFast(S);
    return call(B, AccessName, {S.Site, emitAddress(B, E.Where)});
  case Event::Kind::Strong:
    if (S.Window) {
      emitFast(S);
      if (!isJustAccess(S) && E.Flags & abi::WritesMemory)
        Fast->emitRelease(S.Inst, Windows[S.Window], S.Site,
                          emitAddress(B, E.Where));
      return;
    }
    return call(B, StrongName, {S.Site, emitAddress(B, E.Where)});
  case Event::Kind::WarpBarrier:
    return call(B, WarpBarrierName,
                B.CreateZExtOrTrunc(E.Mask, B.getInt32Ty()));
  case Event::Kind::BlockBarrier:
    return call(B, BlockArriveName, {});
  case Event::Kind::Publish:
    return call(B, PublishName,
                {emitAddress(B, E.Where), B.getInt32(uint32_t(E.Scope))});
  case Event::Kind::Call:
    return call(B, CallingName, {});
  case Event::Kind::Leave:
    return call(B, LeaveName, {});
  case Event::Kind::Fence:
  case Event::Kind::Collect:
  case Event::Kind::Unknown:
    return;
  }
}

void MetadataInstrumenter::emitAfter(const Step &S) {
  if (S.Inst->isTerminator())
    return;
  IRBuilder<> B(S.Inst->getNextNode());
  B.SetCurrentDebugLocation(S.Inst->getDebugLoc());
  const Event &E = S.What;
  switch (E.What) {
  case Event::Kind::Strong:
    if (isJustAccess(S))
      return;
    return call(B, StrongDoneName,
                {S.Site, emitAddress(B, E.Where), emitSwapResult(B, S)});
  case Event::Kind::Fence:
    return call(B, FenceName, B.getInt32(uint32_t(E.Scope)));
  case Event::Kind::BlockBarrier:
    return call(B, BlockDepartName, {});
  case Event::Kind::Collect:
    return call(B, CollectName,
                {emitAddress(B, E.Where), B.getInt32(uint32_t(E.Scope))});
  case Event::Kind::Unknown:
    ++NumUnknown;
    return call(B, UnknownName, {});
  case Event::Kind::Call:
    return call(B, ReturnedName, {});
  case Event::Kind::Weak:
  case Event::Kind::WarpBarrier:
  case Event::Kind::Publish:
  case Event::Kind::Leave:
    return;
  }
}

/// The generic address of a place, as an integer.
Value *MetadataInstrumenter::emitAddress(IRBuilder<> &B, const Place &Where) {
  Type *I64 = B.getInt64Ty();
  Value *Base = Where.Base;
  if (!Base)
    return B.getInt64(Where.Offset);
  if (Base->getType()->isIntegerTy() &&
      Where.Space == NVPTXAS::ADDRESS_SPACE_GENERIC)
    Base = B.CreateZExtOrTrunc(Base, I64);
  else {
    // Assembly may name the space of what C++ has as a generic pointer or as an
    // integer.
    if (Base->getType()->isPointerTy() &&
        Base->getType()->getPointerAddressSpace() != Where.Space)
      Base = B.CreatePtrToInt(Base, I64);
    if (Base->getType()->isIntegerTy())
      Base = B.CreateIntToPtr(Base, B.getPtrTy(Where.Space));
    if (Where.Space != NVPTXAS::ADDRESS_SPACE_GENERIC)
      Base = B.CreateAddrSpaceCast(Base, B.getPtrTy());
    Base = B.CreatePtrToInt(Base, I64);
  }
  return Where.Offset ? B.CreateAdd(Base, B.getInt64(Where.Offset)) : Base;
}

Value *MetadataInstrumenter::emitLength(IRBuilder<> &B, const Event &E) {
  if (E.Length)
    return B.CreateZExtOrTrunc(E.Length, B.getInt64Ty());
  Type *T = E.If.Operand->getType();
  Value *Other = ConstantInt::get(
      T, APInt(64, E.If.Constant).zextOrTrunc(T->getIntegerBitWidth()));
  Value *Holds =
      B.CreateICmp(E.If.HoldsIfEqual ? CmpInst::ICMP_EQ : CmpInst::ICMP_NE,
                   E.If.Operand, Other);
  return B.CreateSelect(Holds, B.getInt64(E.Size), B.getInt64(0));
}

/// 0: no compare-and-swap, or nobody knows; 1: it failed; 2: it succeeded.
Value *MetadataInstrumenter::emitSwapResult(IRBuilder<> &B, const Step &S) {
  Value *Expected = S.What.Expected;
  if (!Expected)
    return B.getInt32(0);
  Value *Succeeded;
  if (isa<AtomicCmpXchgInst>(S.Inst))
    Succeeded = B.CreateExtractValue(S.Inst, 1);
  else {
    Value *Found = S.Inst;
    if (S.What.Result >= 0)
      Found = B.CreateExtractValue(Found, S.What.Result);
    if (Found->getType() != Expected->getType() ||
        !Found->getType()->isIntOrPtrTy())
      return B.getInt32(0);
    Succeeded = B.CreateICmpEQ(Found, Expected);
  }
  return B.CreateSelect(Succeeded, B.getInt32(2), B.getInt32(1));
}

void MetadataInstrumenter::call(IRBuilder<> &B, StringRef Name,
                                ArrayRef<Value *> Arguments) {
  SmallVector<Type *, 3> Types;
  for (Value *Argument : Arguments)
    Types.push_back(Argument->getType());
  FunctionCallee Callee = F.getParent()->getOrInsertFunction(
      Name, FunctionType::get(B.getVoidTy(), Types, /*isVarArg=*/false));
  if (auto *Entry = dyn_cast<Function>(Callee.getCallee()))
    Entry->setConvergent();
  B.CreateCall(Callee, Arguments)->setConvergent();
}

} // namespace crsan
