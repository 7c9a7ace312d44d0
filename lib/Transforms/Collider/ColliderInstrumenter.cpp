// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emitting a function's checks.

#include "Collider/ColliderInstrumenter.h"
#include "Collider/BranchWindow.h"
#include "Collider/ProductWatches.h"
#include "Collider/UnorderedBlocks.h"
#include "DeviceRuntime.h"
#include "Events/Operands.h"
#include "PlainBody.h"
#include "crsan/abi/Site.h"
#include "crsan/abi/Watchpoints.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

STATISTIC(NumCheckedLoads, "Number of weak loads checked");
STATISTIC(NumCheckedStores, "Number of weak stores checked");
STATISTIC(NumCovered, "Number of weak loads that a store's check covers");
STATISTIC(NumWindows, "Number of windows");
STATISTIC(NumGroups, "Number of slow paths");

namespace crsan {

ColliderInstrumenter::ColliderInstrumenter(Function &F, SiteTableWriter &Table,
                                           StringRef Kernel, uint8_t Races,
                                           FunctionAnalysisManager &FAM)
    : F(F), M(*F.getParent()), Table(Table), Kernel(Kernel), Races(Races),
      FAM(FAM) {}

/// Whether the warp may execute all of a kernel in another copy than other
/// warps of its block do.
bool ColliderInstrumenter::canBePlain() const {
  if (!isKernel(F) || F.hasOptNone() || !PlainBody::canCopy(F))
    return false;
  bool HasAccess = false;
  for (const Instruction &I : instructions(F)) {
    if (isOfSeveralWarps(I))
      return false;
    HasAccess |= !checkedByCollider(I, eventsOf(I)).empty();
  }
  return HasAccess;
}

void ColliderInstrumenter::run(bool MayCopy) {
  if (MayCopy && canBePlain()) {
    PlainBody Plain(F);
    Plain.emitChoice(ConstantInt::getFalse(F.getContext()));
    FAM.invalidate(F, PreservedAnalyses::none());
    append_range(Blocks, Plain.blocks());
    const uint32_t First = Table.addWindow();
    plan();
    auto *Choice = cast<BranchInst>(Plain.headEnd());
    IRBuilder<> B(Choice);
    B.SetCurrentDebugLocation(Plain.body()->front().getDebugLoc());
    Constant *Kernel =
        ConstantExpr::getAddrSpaceCast(Table.windowAt(First), B.getPtrTy(0));
    Value *IsPlain = callRuntime(B, IsPlainName, {Kernel});
    Choice->setCondition(B.CreateICmpNE(IsPlain, B.getInt32(0)));
    B.SetInsertPoint(&*Plain.body()->getFirstInsertionPt());
    callRuntime(B, RenewPlainName,
                {Kernel, B.getInt32(Table.windows() - First - 1)});
    Table.setBody(F, *Plain.body());
  } else {
    for (BasicBlock &BB : F)
      Blocks.push_back(&BB);
    plan();
  }
  ProductWatches OfProducts(F, Table, Kernel);
  for (Planned &P : Plan)
    instrument(P);
  OfProducts.emit();
  SmallVector<AllocaInst *, 8> Allocas(OfProducts.variables());
  for (auto &[L, C] : Countdowns)
    Allocas.push_back(C.Skip);
  if (Barriers)
    Allocas.push_back(Barriers);
  if (Watched) {
    for (Instruction *I : Waits)
      emitUnwatch(I);
    for (Instruction *I : Commits)
      emitCommit(I, Watched);
    Allocas.push_back(Watched);
  }
  if (!Allocas.empty()) {
    DominatorTree DT(F);
    PromoteMemToReg(Allocas, DT);
  }
}

/// Whether a thread that waits for its asynchronous copies may do so here, or
/// leave the function.
static bool mayEndCopies(const Instruction &I) {
  const Events All = eventsOf(I);
  return isa<ReturnInst>(I) || All.MayLeave ||
         All.has<AwaitCopies, Unknown, Learn, Call, Leave>();
}

/// Where the thread does nothing but wait for its copies: that.
static std::optional<AwaitCopies> onlyWait(const Instruction &I) {
  const Events All = eventsOf(I);
  const auto *Awaited =
      All.List.size() == 1 ? std::get_if<AwaitCopies>(&All.List[0]) : nullptr;
  return Awaited && !All.MayLeave ? std::optional(*Awaited) : std::nullopt;
}

/// Everything that needs the function as it is, before any block is split.
void ColliderInstrumenter::plan() {
  auto &InWarp = FAM.getResult<UniformityInfoAnalysis>(F);
  const auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  for (BasicBlock *BB : Blocks) {
    SmallVector<Window, 4> Windows = collectWindows(*BB);
    if (auto W = branchWindow(*BB, InWarp, DT))
      Windows.push_back(std::move(*W));
    for (Window &W : Windows) {
      const Countdown *Loop = countdownOf(*BB);
      Plan.push_back(
          {std::move(W), Loop, Loop ? Loop->Window : Table.addWindow()});
    }
  }
  planCopies();
  if (!Plan.empty() && (Races & abi::RacesInInterval))
    countBarriers();
}

/// Counts the barriers of the block that the thread comes through.
void ColliderInstrumenter::countBarriers() {
  SmallVector<Instruction *, 4> All;
  for (BasicBlock *BB : Blocks)
    for (Instruction &I : *BB)
      if (isBlockBarrier(I))
        All.push_back(&I);
  if (All.empty())
    return;
  IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
  Type *I32 = Entry.getInt32Ty();
  Barriers =
      Entry.CreateAlloca(I32, M.getDataLayout().getAllocaAddrSpace(), nullptr);
  Entry.CreateStore(Entry.getInt32(0), Barriers);
  for (Instruction *Barrier : All) {
    IRBuilder<> B(Barrier->getNextNode());
    B.SetCurrentDebugLocation(DebugLoc());
    B.CreateStore(B.CreateAdd(B.CreateLoad(I32, Barriers), B.getInt32(1)),
                  Barriers);
  }
}

/// Finds what the thread does with the copies that it waits for, if it begins
/// any.
void ColliderInstrumenter::planCopies() {
  SmallSet<Completion, 2> Ways;
  for (const Planned &P : Plan)
    for (const Group &G : P.W.Groups)
      for (const WindowAccess &A : G.Accesses)
        if (A.Async && *A.Async != Completion::Barrier)
          Ways.insert(*A.Async);
  if (Ways.empty())
    return;
  if (Ways.size() == 1)
    Way = *Ways.begin();
  for (BasicBlock *BB : Blocks)
    for (Instruction &I : *BB) {
      if (mayEndCopies(I))
        Waits.push_back(&I);
      for (const Event &E : eventsOf(I).List)
        if (const auto *C = std::get_if<CommitCopies>(&E); C && C->By == Way)
          Commits.push_back(&I);
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
  Instruction *Head = nullptr, *SlowEnd = nullptr;
  for (const Group &G : P.W.Groups) {
    if (G.Head != Head)
      SlowEnd = emitBranch(P, Head = G.Head, Sampled);
    emitGroup(P, G, SlowEnd);
  }
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
  auto HasSize = [](const WindowAccess &A) {
    return !A.hasLength() && A.Rows.Lanes == 0 && !A.Async;
  };
  if (!S.writes() || !HasSize(S))
    return 0;
  uint8_t Meets = 0;
  for (auto [I, O] : enumerate(Group)) {
    // Each pair of stores once, from the first.
    const bool IsSeen = O.writes() && &O < &S;
    const bool IsSame = O.Where.Base == S.Where.Base && !O.IsBehindBranch;
    if (!IsSeen && HasSize(O) && O.Inst != S.Inst && !IsSame &&
        mayOverlap(S, O))
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

/// Emits the branch to a slow path in front of `Head`. Returns the end of that
/// path, in front of which its checks go.
Instruction *ColliderInstrumenter::emitBranch(const Planned &P,
                                              Instruction *Head,
                                              Value *&Sampled) {
  IRBuilder<> B(Head);
  // What is emitted belongs to no line, or a debugger would stop in it.
  B.SetCurrentDebugLocation(DebugLoc());
  if (!Sampled)
    Sampled = emitDecision(B, P);
  auto *Rare = MDBuilder(F.getContext()).createUnlikelyBranchWeights();
  return SplitBlockAndInsertIfThen(Sampled, Head->getIterator(),
                                   /*Unreachable=*/false, Rare);
}

/// Emits the check of a group in front of `End`.
void ColliderInstrumenter::emitGroup(const Planned &P, const Group &G,
                                     Instruction *End) {
  ++NumGroups;
  Table.addCheck(P.Sampling);
  IRBuilder<> B(End);
  B.SetCurrentDebugLocation(DebugLoc());
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
  NumCovered += G.Covered.size();
  Group Here = G; // By operands that are known here.
  SmallVector<APInt, 8> Offsets(G.Accesses.size(), APInt(64, 0));
  for (auto [A, Offset] : zip(Here.Accesses, Offsets))
    A.Where = A.base(Offset);
  emitAhead(B, G.Ahead, Here.Accesses);
  for (auto [I, A] : enumerate(G.Accesses)) {
    // Lanes are compared by a store's value. Anywhere in its window will do
    // (docs/soundness.md), and the slow path is at hand.
    const bool IsKnown =
        A.Written && A.isWhole() && isKnownAt(A.Written, G.Head);
    Value *Stored = IsKnown ? storedBits(B, A) : nullptr;
    Constant *Site = ConstantExpr::getAddrSpaceCast(
        Table.addSite(A, Kernel, P.Sampling, meetings(A, G.Accesses),
                      Offsets[I].getSExtValue(),
                      (Stored ? abi::HasValue : 0) |
                          (A.Rows.Lanes ? abi::OfWarp : 0) |
                          (A.Async && A.IsWatched ? abi::IsAsync : 0) |
                          (G.takesGarbage(A) ? abi::TakesGarbage : 0) | Races),
        B.getPtrTy(0));
    FirstSite = FirstSite ? FirstSite : Site;
    if (A.Written && A.isWhole() && !IsKnown)
      LateStores[A.Inst] = Site;
    ++(A.writes() ? NumCheckedStores : NumCheckedLoads);
    Pass(I, emitAddress(B, Here.Accesses[I]));
    if (Value *Second = A.isWhole() ? Stored : emitLength(B, Here.Accesses[I]))
      Pass(abi::MaxGroupSize + I, Second);
  }
  // A call needs a location where the callee has debug information.
  B.SetCurrentDebugLocation(G.Head->getDebugLoc());
  Value *Generic = B.CreateAddrSpaceCast(Addresses, B.getPtrTy(0));
  const size_t Number = G.Accesses.size(), Groups = P.W.Groups.size();
  Constant *Window =
      ConstantExpr::getAddrSpaceCast(Table.windowAt(P.Sampling), B.getPtrTy(0));
  Value *Through = Barriers ? B.CreateLoad(B.getInt32Ty(), Barriers)
                            : static_cast<Value *>(B.getInt32(0));
  CallInst *Next = callRuntime(
      B, CheckName,
      {Window, FirstSite, Generic, Through,
       B.getInt32(Number | (Groups > 1 ? Groups << abi::GroupsAt : 0))});
  if (&G == P.W.Groups.begin() && P.Loop)
    B.CreateStore(Next, P.Loop->Skip);
  emitCopyWatches(B, G, Here, {Window, FirstSite, Generic, B.getInt32(Number)});
}

/// Behind the check of a group: watchpoints on the copies that begin in it.
/// `Here`: the group by operands that are known where `B` is. `Arguments`:
/// those of the check.
void ColliderInstrumenter::emitCopyWatches(IRBuilder<> &B, const Group &G,
                                           const Group &Here,
                                           ArrayRef<Value *> Arguments) {
  auto Watch = [&](Value *Held, bool IsBrief) {
    SmallVector<Value *, 6> All(Arguments);
    All.append({Held, B.getInt32(IsBrief)});
    return callRuntime(B, WatchCopyName, All);
  };
  Type *I32 = B.getInt32Ty();
  if (const WindowAccess *Copy = G.copyAtBarrier()) {
    // The phase of the mbarrier does not end while the watchpoint is there:
    // one byte more is expected.
    Value *Held = Watch(B.getInt32(0), /*IsBrief=*/true);
    emitAssembly(B, B.getVoidTy(),
                 "{ .reg .pred p; setp.ne.u32 p, $1, 0; "
                 "@p mbarrier.expect_tx.relaxed.cluster.b64 [$0], 1; }",
                 "l,r,~{memory}",
                 {emitAddress(B, Here.copyAtBarrier()->Barrier), Held});
    BasicBlock *Slow = B.GetInsertBlock();
    PHINode *Phi = PHINode::Create(I32, 2, "");
    Phi->insertBefore(Slow->getSingleSuccessor()->begin());
    for (BasicBlock *From : predecessors(Phi->getParent()))
      Phi->addIncoming(From == Slow ? Held : B.getInt32(0), From);
    emitHeld(Phi, *Copy);
    return;
  }
  if (!G.hasOwnCopy())
    return;
  if (!Watched) {
    IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
    Watched = Entry.CreateAlloca(I32, M.getDataLayout().getAllocaAddrSpace());
    Entry.CreateStore(B.getInt32(0), Watched);
  }
  B.CreateStore(Watch(B.CreateLoad(I32, Watched), /*IsBrief=*/false), Watched);
}

/// Behind a copy that completes at an mbarrier: takes its watchpoint away, and
/// lets the phase end.
void ColliderInstrumenter::emitHeld(Value *Held, const WindowAccess &Copy) {
  auto *Rare = MDBuilder(F.getContext()).createUnlikelyBranchWeights();
  Instruction *Next = Copy.Inst->getNextNode();
  IRBuilder<> B(Next);
  B.SetCurrentDebugLocation(DebugLoc());
  B.SetInsertPoint(SplitBlockAndInsertIfThen(
      B.CreateICmpNE(Held, B.getInt32(0)), Next->getIterator(),
      /*Unreachable=*/false, Rare));
  B.SetCurrentDebugLocation(Copy.Inst->getDebugLoc());
  callRuntime(B, UnwatchCopyName, {Held, B.getInt32(0)});
  emitAssembly(B, B.getVoidTy(),
               "mbarrier.complete_tx.relaxed.cluster.b64 [$0], 1;",
               "l,~{memory}", emitAddress(B, Copy.Barrier));
}

/// In front of where the thread waits for its copies, or may do so: takes its
/// watchpoint away, if the copy is one of them.
void ColliderInstrumenter::emitUnwatch(Instruction *Before) {
  auto *Rare = MDBuilder(F.getContext()).createUnlikelyBranchWeights();
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Held = B.CreateLoad(B.getInt32Ty(), Watched);
  Value *Ends = B.CreateICmpNE(Held, B.getInt32(0));
  const std::optional<AwaitCopies> Awaited = onlyWait(*Before);
  // The last groups go on, and so does what belongs to no group yet.
  if (Awaited && Awaited->Number && Awaited->By == Way &&
      Awaited->Number->getType()->isIntegerTy())
    Ends =
        B.CreateICmpUGT(B.CreateLShr(Held, abi::CommitsAt),
                        B.CreateZExtOrTrunc(Awaited->Number, B.getInt32Ty()));
  else if (Awaited && Way && Awaited->By != Way)
    return;
  B.SetInsertPoint(SplitBlockAndInsertIfThen(Ends, Before->getIterator(),
                                             /*Unreachable=*/false, Rare));
  B.SetCurrentDebugLocation(Before->getDebugLoc());
  const bool OnlyReads = Awaited && Awaited->OnlyReads;
  B.CreateStore(callRuntime(B, UnwatchCopyName, {Held, B.getInt32(OnlyReads)}),
                Watched);
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
  callRuntime(B, StoreName, {Site, emitAddress(B, A), Bits});
}

} // namespace crsan
