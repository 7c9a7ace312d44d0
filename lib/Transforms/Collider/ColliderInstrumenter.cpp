// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emitting a function's checks.

#include "Collider/ColliderInstrumenter.h"
#include "DeviceRuntime.h"
#include "Events/Operands.h"
#include "crsan/abi/Site.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

STATISTIC(NumCheckedLoads, "Number of weak loads checked");
STATISTIC(NumCheckedStores, "Number of weak stores checked");
STATISTIC(NumWindows, "Number of windows");
STATISTIC(NumGroups, "Number of slow paths");

namespace crsan {

ColliderInstrumenter::ColliderInstrumenter(Function &F, SiteTableWriter &Table,
                                           StringRef Kernel,
                                           FunctionAnalysisManager &FAM)
    : F(F), M(*F.getParent()), Table(Table), Kernel(Kernel), FAM(FAM) {}

void ColliderInstrumenter::run() {
  plan();
  for (Planned &P : Plan)
    instrument(P);
  if (!Countdowns.empty()) {
    SmallVector<AllocaInst *, 8> Allocas;
    for (auto &[L, C] : Countdowns)
      Allocas.push_back(C.Skip);
    DominatorTree DT(F);
    PromoteMemToReg(Allocas, DT);
  }
}

/// Everything that needs the function as it is, before any block is split.
void ColliderInstrumenter::plan() {
  SmallVector<BasicBlock *, 32> Blocks;
  for (BasicBlock &BB : F)
    Blocks.push_back(&BB);
  for (BasicBlock *BB : Blocks)
    for (Window &W : collectWindows(*BB)) {
      const Countdown *Loop = countdownOf(*BB);
      Plan.push_back(
          {std::move(W), Loop, Loop ? Loop->Window : Table.addWindow()});
    }
}

/// The countdown of the innermost loop around `BB`, if `BB` runs in each of its
/// iterations; one that runs seldom is sampled for itself, or it would have to
/// wait for its turn among the hot ones.
const ColliderInstrumenter::Countdown *
ColliderInstrumenter::countdownOf(BasicBlock &BB) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  Loop *L = LI.getLoopFor(&BB);
  if (!L || !L->getLoopPreheader() || !L->getLoopLatch() ||
      !DT.dominates(&BB, L->getLoopLatch()))
    return nullptr;
  auto [It, New] = Countdowns.try_emplace(L);
  if (New) {
    IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
    const unsigned Local = M.getDataLayout().getAllocaAddrSpace();
    It->second.Skip = Entry.CreateAlloca(Entry.getInt32Ty(), Local);
    It->second.Window = Table.addWindow();
    IRBuilder<> B(L->getLoopPreheader()->getTerminator());
    Value *Interval =
        B.CreateLoad(B.getInt32Ty(), Table.windowAt(It->second.Window));
    B.CreateStore(emitRandomBelow(B, Interval), It->second.Skip);
  }
  return &It->second;
}

void ColliderInstrumenter::instrument(Planned &P) {
  ++NumWindows;
  Value *Sampled = nullptr;
  for (const Group &G : P.W.Groups)
    emitGroup(P, G, Sampled);
  for (const WindowAccess &A : P.W.Stores)
    emitLateStoreCheck(A, Sampled);
}

/// A random number below `Interval`, 0 for 0. The clock's low bits are as
/// random as a race is; a multiplication by an odd constant brings them up.
Value *ColliderInstrumenter::emitRandomBelow(IRBuilder<> &B, Value *Interval) {
  Value *Clock = B.CreateIntrinsic(B.getInt32Ty(),
                                   Intrinsic::nvvm_read_ptx_sreg_clock, {});
  Value *Random = B.CreateMul(Clock, B.getInt32(0x9e3779b1u));
  Value *Product = B.CreateMul(B.CreateZExt(Random, B.getInt64Ty()),
                               B.CreateZExt(Interval, B.getInt64Ty()));
  return B.CreateTrunc(B.CreateLShr(Product, 32), B.getInt32Ty());
}

Value *ColliderInstrumenter::emitDecision(IRBuilder<> &B, const Planned &P) {
  if (!P.Loop) {
    Value *Interval = B.CreateLoad(B.getInt32Ty(), Table.windowAt(P.Sampling));
    return B.CreateICmpEQ(emitRandomBelow(B, Interval), B.getInt32(0));
  }
  Value *Skip = B.CreateLoad(B.getInt32Ty(), P.Loop->Skip);
  B.CreateStore(B.CreateSub(Skip, B.getInt32(1)), P.Loop->Skip);
  return B.CreateICmpEQ(Skip, B.getInt32(0));
}

/// Which accesses of a group, by position, other lanes may make where the store
/// `S` writes. Accesses of different objects cannot meet; two by the same
/// pointer meet only where the store meets itself, which emitStoreCheck looks
/// at.
static uint8_t meetings(const WindowAccess &S, ArrayRef<WindowAccess> Group) {
  if (!S.writes() || S.Length)
    return 0;
  auto Space = [](const WindowAccess &A) {
    return A.Where.Base->getType()->getPointerAddressSpace();
  };
  const Value *Object = getUnderlyingObject(S.Where.Base);
  uint8_t Meets = 0;
  for (auto [I, O] : enumerate(Group)) {
    const Value *Other = getUnderlyingObject(O.Where.Base);
    // Each pair of stores once, from the first.
    const bool IsSeen = O.writes() && &O < &S;
    if (IsSeen || O.Length || O.Inst == S.Inst ||
        O.Where.Base == S.Where.Base ||
        (Object != Other && isIdentifiedObject(Object) &&
         isIdentifiedObject(Other)) ||
        (Space(S) != Space(O) && Space(S) != 0 && Space(O) != 0))
      continue;
    Meets |= 1u << I;
  }
  return Meets;
}

/// Whether `V`, used behind `Head` in its block, is there already. Nothing
/// behind `Head` has been split off yet.
static bool isKnownAt(const Value *V, const Instruction *Head) {
  const auto *I = dyn_cast<Instruction>(V);
  return !I || I->getParent() != Head->getParent() || I->comesBefore(Head);
}

void ColliderInstrumenter::emitGroup(const Planned &P, const Group &G,
                                     Value *&Sampled) {
  ++NumGroups;
  Table.addCheck(P.Sampling);
  IRBuilder<> B(G.Head);
  // What is emitted belongs to no line, or a debugger would stop in it.
  B.SetCurrentDebugLocation(DebugLoc());
  const bool First = !Sampled;
  if (First)
    Sampled = emitDecision(B, P);
  auto *Rare = MDBuilder(F.getContext()).createUnlikelyBranchWeights();
  B.SetInsertPoint(SplitBlockAndInsertIfThen(Sampled, G.Head->getIterator(),
                                             /*Unreachable=*/false, Rare));
  Type *I64 = B.getInt64Ty();
  if (!Addresses) {
    IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
    Addresses =
        Entry.CreateAlloca(ArrayType::get(I64, 3 * abi::MaxGroupSize),
                           M.getDataLayout().getAllocaAddrSpace(), nullptr);
  }
  auto Pass = [&](size_t Slot, Value *What) {
    B.CreateStore(What, B.CreateConstInBoundsGEP1_64(I64, Addresses, Slot));
  };
  Constant *FirstSite = nullptr;
  for (auto [I, A] : enumerate(G.Accesses)) {
    APInt Offset(64, A.Where.Offset);
    Value *Base = A.Where.Base->stripAndAccumulateConstantOffsets(
        M.getDataLayout(), Offset, /*AllowNonInbounds=*/true);
    // Lanes are compared by a store's value. Anywhere in its window will do
    // (docs/soundness.md), and the slow path is at hand.
    const bool IsKnown = A.Written && !A.Length && isKnownAt(A.Written, G.Head);
    Value *Stored = IsKnown ? storedBits(B, A) : nullptr;
    Constant *Site = ConstantExpr::getAddrSpaceCast(
        Table.addSite(A, Kernel, P.Sampling, meetings(A, G.Accesses),
                      Offset.getSExtValue(),
                      /*HasValue=*/Stored),
        B.getPtrTy(0));
    FirstSite = FirstSite ? FirstSite : Site;
    if (A.Written && !IsKnown)
      LateStores[A.Inst] = Site;
    ++(A.writes() ? NumCheckedStores : NumCheckedLoads);
    Pass(I, emitAddress(B, locationOf(Base)));
    if (Value *Second = A.Length ? B.CreateZExtOrTrunc(A.Length, I64) : Stored)
      Pass(abi::MaxGroupSize + I, Second);
  }
  // A call needs a location where the callee has debug information.
  B.SetCurrentDebugLocation(G.Head->getDebugLoc());
  Value *Generic = B.CreateAddrSpaceCast(Addresses, B.getPtrTy(0));
  Value *Count = B.getInt32(G.Accesses.size());
  CallInst *Next = callRuntime(B, CheckName,
                               {ConstantExpr::getAddrSpaceCast(
                                    Table.windowAt(P.Sampling), B.getPtrTy(0)),
                                FirstSite, Generic, Count});
  if (First && P.Loop)
    B.CreateStore(Next, P.Loop->Skip);
}

/// The value's bits, zero-extended or folded to 64: only compared and shown.
Value *ColliderInstrumenter::storedBits(IRBuilder<> &B, const WindowAccess &A) {
  Value *V = A.Written;
  Type *T = V->getType();
  if (T->isAggregateType())
    return nullptr;
  if (T->isPtrOrPtrVectorTy())
    V = B.CreatePtrToInt(V, M.getDataLayout().getIntPtrType(T));
  const uint64_t Bits = M.getDataLayout().getTypeSizeInBits(V->getType());
  Value *Whole = B.CreateBitCast(V, B.getIntNTy(Bits));
  if (Bits <= 64)
    return B.CreateZExt(Whole, B.getInt64Ty());
  Value *Folded = B.getInt64(0);
  for (uint64_t Done = 0; Done < Bits; Done += 64) {
    Value *Part = B.CreateTrunc(B.CreateLShr(Whole, Done), B.getInt64Ty());
    Folded =
        B.CreateMul(B.CreateXor(Folded, Part), B.getInt64(0x100000001b3ull));
  }
  return Folded;
}

/// Compares the lanes where a store's value was not known to the slow path.
void ColliderInstrumenter::emitLateStoreCheck(const WindowAccess &A,
                                              Value *Sampled) {
  Constant *Site = LateStores.lookup(A.Inst);
  if (!Site)
    return;
  auto *Rare = MDBuilder(F.getContext()).createUnlikelyBranchWeights();
  IRBuilder<> B(SplitBlockAndInsertIfThen(Sampled, A.Inst->getIterator(),
                                          /*Unreachable=*/false, Rare));
  B.SetCurrentDebugLocation(A.Inst->getDebugLoc());
  Value *Bits = storedBits(B, A);
  if (!Bits)
    return;
  callRuntime(B, StoreName,
              {Site, emitAddress(B, locationOf(A.Where.Base)), Bits});
}

} // namespace crsan
