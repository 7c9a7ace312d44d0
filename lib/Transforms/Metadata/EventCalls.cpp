// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a function tells the runtime of each of its events.

#include "DeviceRuntime.h"
#include "Events/MatrixProducts.h"
#include "Events/Operands.h"
#include "Metadata/MetadataInstrumenter.h"
#include "crsan/abi/Check.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

STATISTIC(NumUnknown, "Number of instructions that may synchronise anyhow");

namespace crsan {

/// Whether all lanes of a warp come together to a barrier.
static bool isAligned(const Instruction *Barrier) {
  const auto *I = dyn_cast<IntrinsicInst>(Barrier);
  return I && I->getCalledFunction()->getName().contains(".aligned.");
}

FastAccess MetadataInstrumenter::fastAccess(const Step &S, IRBuilder<> &B) {
  const Access &E = *S.access();
  FastAccess A = {};
  A.Site = S.Site;
  A.Number = S.SiteNumber;
  A.Address = emitAddress(B, E.Where);
  A.Loc = S.Accessor->getDebugLoc();
  A.Space = knownSpace(E.Where);
  A.Size = E.Size;
  // Whether a compare-and-swap writes is not known yet.
  A.Writes = E.writes() && !E.Expected;
  A.IsStrong = E.isStrong();
  A.Reads = E.reads();
  A.IsWide = E.Scope != abi::Scope::Block;
  // The access of a whole instruction, or a part of it, or of assembly.
  A.IsAligned = S.Inst == S.Accessor && E.Size == E.WholeSize &&
                isa<LoadInst, StoreInst>(S.Inst) &&
                getLoadStoreAlignment(S.Inst).value() >= E.Size;
  A.IsCopy = E.Flags & abi::IsCopy;
  A.IsUniform = S.IsUniform;
  A.IsRemembered = S.isRemembered();
  if (E.Where.Base && E.Where.Base->getType()->isPointerTy())
    A.Root = CheckedAccesses::rootOf(F.getDataLayout(), E.Where, A.Offset);
  A.Object = S.Object;
  return A;
}

/// Of a group, at its last step: everything is known there, and nothing has
/// synchronised since the first one.
void MetadataInstrumenter::emitGroup(size_t Number) {
  Instruction *At = Plan.steps()[Number].Inst->getNextNode();
  if (const auto Unless = Plan.steps()[Number].Unless) {
    IRBuilder<> B(At);
    At =
        SplitBlockAndInsertIfThen(B.CreateNot(Plan.exemptions()[*Unless].Holds),
                                  At->getIterator(), /*Unreachable=*/false);
  }
  IRBuilder<> B(At);
  SmallVector<FastAccess> Group;
  size_t First = Number;
  while (First > 0 && isWeak(Plan.steps()[First - 1].What))
    --First;
  for (size_t N = First; N <= Number; ++N)
    if (Plan.steps()[N].IsFast && !Plan.steps()[N].IsProven &&
        Plan.steps()[N].Group == Number)
      Group.push_back(fastAccess(Plan.steps()[N], B));
  if (CalledGroups.contains(Number))
    Fast->emitCalls(At, Group);
  else
    Fast->emit(At, Group);
}

/// A compare-and-swap that is sure to be tried.
static bool isFollowedSwap(const Access &E) {
  return E.Expected && E.isWhole() && E.Size >= 2;
}

void MetadataInstrumenter::emitStrong(const Step &S) {
  const Access &E = *S.access();
  IRBuilder<> B(S.Inst);
  B.SetCurrentDebugLocation(S.Accessor->getDebugLoc());
  if (!S.IsFast) {
    // The check puts its own in the place of who has read before.
    if (isFollowedSwap(E))
      Swaps.emitBefore(S.Inst, S.Site, emitAddress(B, E.Where), place(B));
    B.SetInsertPoint(S.Inst);
    if (!S.IsProven)
      callCheck(B, S);
    if (S.InBlock)
      Fast->emitCount(B, S.InBlock);
    if (E.writes())
      call(B, ReleaseName, {S.Site, emitAddress(B, E.Where)});
    return;
  }
  if (S.InBlock)
    Fast->emitCount(B, S.InBlock);
  FastAccess A = fastAccess(S, B);
  if (isFollowedSwap(E))
    A.Reader = Swaps.reader();
  if (!S.IsProven)
    Fast->emitStrongCheck(S.Inst, A, isJustAccess(S));
  if (!isJustAccess(S) && E.writes())
    Fast->emitRelease(S.Inst, S.Site, emitAddress(B, E.Where));
}

void MetadataInstrumenter::emitWeak(size_t Number) {
  const Step &S = Plan.steps()[Number];
  IRBuilder<> B(S.Inst);
  B.SetCurrentDebugLocation(S.Accessor->getDebugLoc());
  if (!S.IsFast && !S.IsProven)
    callCheck(B, S);
  if (S.InBlock)
    Fast->emitCount(B, S.InBlock);
  if (S.IsFast && !S.IsProven && S.Group == Number)
    emitGroup(Number);
}

void MetadataInstrumenter::emitArrival(IRBuilder<> &B, const Step &S,
                                       const BlockBarrier &E) {
  if (replacedBarrier(S))
    return;
  if (isCountedToo(E)) {
    callWithLocation(B, PublishName, E.Number, E.Scope);
    call(B, BlockArriveUnevenName);
    return;
  }
  // Lanes that have parted are to meet there; told together, it costs less.
  if (isAligned(S.Inst))
    emitAssembly(B, B.getVoidTy(), "bar.warp.sync 0xffffffff;", "", {})
        ->setConvergent();
  call(B, BlockArriveName, {siteOrNull(S), iterationOf(S)});
}

/// Tells of a side of an asynchronous copy. `Barrier` is the address of the
/// mbarrier at which it completes, or 0.
void MetadataInstrumenter::emitCopy(IRBuilder<> &B, const Step &S,
                                    const AsyncAccess &E, Value *Barrier) {
  Access What = E.What;
  Value *Blocks = std::exchange(What.Blocks, nullptr);
  if (What.Box && !What.Box->InShared) {
    SmallVector<Value *, 10> Arguments = {S.Site};
    Arguments.append(emitBox(B, *What.Box));
    Arguments[2] = emitIfMade(B, What, Arguments[2]);
    Arguments.push_back(Barrier);
    return call(B, TensorName, Arguments);
  }
  SmallVector<Value *, 5> Arguments = {S.Site, emitAddress(B, What),
                                       emitLength(B, What), Barrier};
  if (!Blocks)
    return call(B, CopyName, Arguments);
  Arguments.push_back(B.CreateZExtOrTrunc(Blocks, B.getInt32Ty()));
  call(B, MulticastName, Arguments);
}

static const AsyncAccess *asBox(const Event &E) {
  const auto *Async = std::get_if<AsyncAccess>(&E);
  return Async && Async->What.Box ? Async : nullptr;
}

/// The step's side of a tensor copy, with the operands that its instruction has
/// by now: the collider may have replaced block indices, which are coordinates.
static AsyncAccess boxAsItIsNow(ArrayRef<EventPlan::Step> Steps,
                                const EventPlan::Step &S) {
  size_t Before = 0;
  for (const EventPlan::Step *P = &S;
       P != Steps.begin() && P[-1].Inst == S.Inst; --P)
    Before += asBox(P[-1].What) != nullptr;
  const Events All = eventsOf(*S.Inst);
  for (const Event &E : All.List)
    if (const AsyncAccess *Box = asBox(E); Box && Before-- == 0)
      return *Box;
  llvm_unreachable("the instruction is still a tensor copy");
}

/// Whether a bulk copy is, or may be, one of cuda::memcpy_async. Its user
/// writes C++, which knows no proxies, so the library has to make visible to
/// the copy what is ordered before it. A function of libcu++ for one
/// instruction of PTX may have been called by that one, unless it was inlined
/// elsewhere.
static bool mayBeOfMemcpyAsync(const Instruction &I) {
  for (const DILocation *L = I.getDebugLoc(); L; L = L->getInlinedAt()) {
    const DISubprogram *In = L->getScope()->getSubprogram();
    if (In &&
        (In->getName().starts_with("__cp_async_bulk_shared_global") ||
         (!L->getInlinedAt() && In->getFilename().contains("cuda/__ptx/"))))
      return true;
  }
  return false;
}

/// A side of an asynchronous copy: whatever the thread does before it waits for
/// the copy, the access comes neither before nor after that.
void MetadataInstrumenter::emitAsync(const Step &S, const AsyncAccess &Noted) {
  const AsyncAccess E = asBox(S.What) ? boxAsItIsNow(Plan.steps(), S) : Noted;
  Instruction *At = S.Inst;
  if (S.Unless)
    At = SplitBlockAndInsertIfThen(
        IRBuilder<>(At).CreateNot(Plan.exemptions()[*S.Unless].Holds),
        At->getIterator(), /*Unreachable=*/false);
  IRBuilder<> B(At);
  B.SetCurrentDebugLocation(S.Accessor->getDebugLoc());
  Value *Barrier =
      E.By == Completion::Barrier ? emitAddress(B, E.Barrier) : B.getInt64(0);
  if (isBulkRead(E) && mayBeOfMemcpyAsync(*S.Inst))
    call(B, ProxyFenceName);
  emitCopy(B, S, E, Barrier);
  if (isBulkRead(E)) {
    B.SetInsertPoint(S.Inst);
    call(B, ProxyFenceName);
  }
}

void MetadataInstrumenter::emitOperand(const Step &S, const OperandRead &E) {
  Value *Descriptor = E.What.Where.Base;
  IRBuilder<> B(beforeProducts(S.Inst, Descriptor));
  B.SetCurrentDebugLocation(S.Accessor->getDebugLoc());
  call(B, OperandName, {S.Site, Descriptor, B.getInt32(E.Shape)});
}

void MetadataInstrumenter::emitCommit(const Step &S, const CommitCopies &E) {
  const bool IsProduct = E.By == Completion::Product;
  IRBuilder<> B(IsProduct ? beforeProducts(S.Inst) : S.Inst);
  B.SetCurrentDebugLocation(S.Accessor->getDebugLoc());
  call(B, IsProduct ? CommitProductsName : CommitCopiesName);
}

/// Told before the wait, which nothing of this thread comes between: so what
/// the same statement hands on includes the copies.
void MetadataInstrumenter::emitAwait(IRBuilder<> &B, const AwaitCopies &E) {
  if (E.By != Completion::Group) {
    Value *Number = E.Number && E.Number->getType()->isIntegerTy()
                        ? B.CreateZExtOrTrunc(E.Number, B.getInt32Ty())
                        : B.getInt32(0);
    if (E.By == Completion::Product)
      return call(B, AwaitProductsName, Number);
    return call(B, AwaitBulkName, {Number, B.getInt32(E.OnlyReads)});
  }
  if (!E.Number || !E.Number->getType()->isIntegerTy())
    call(B, AwaitAllCopiesName);
  else
    call(B, AwaitCopiesName, B.CreateZExtOrTrunc(E.Number, B.getInt32Ty()));
}

void MetadataInstrumenter::emitBefore(size_t Number) {
  const Step &S = Plan.steps()[Number];
  IRBuilder<> B(S.Inst);
  B.SetCurrentDebugLocation(S.Accessor->getDebugLoc());
  std::visit(
      makeVisitor(
          [&](const Access &E) {
            E.isStrong() ? emitStrong(S) : emitWeak(Number);
          },
          [&](const WarpBarrier &E) {
            call(B, WarpBarrierName,
                 B.CreateZExtOrTrunc(E.Mask, B.getInt32Ty()));
          },
          [&](const BlockBarrier &E) { emitArrival(B, S, E); },
          [&](const Arrive &E) {
            const bool IsRelaxed = E.Order == abi::MemoryOrder::Relaxed;
            callWithLocation(B, IsRelaxed ? PublishFencedName : PublishName,
                             E.Where, E.Scope);
          },
          [&](const AsyncAccess &E) { emitAsync(S, E); },
          [&](const OperandRead &E) { emitOperand(S, E); },
          [&](const CommitCopies &E) { emitCommit(S, E); },
          [&](const AwaitCopies &E) {
            if (!isProductWait(*S.Inst))
              emitAwait(B, E);
          },
          [&](const ProxyFence &) {
            if (!isProductWait(*S.Inst))
              call(B, ProxyFenceName);
          },
          [&](const Learn &) {
            ++NumUnknown;
            call(B, LearnName);
          },
          [&](const Unknown &) {
            ++NumUnknown;
            call(B, UnknownName);
          },
          [&](const Call &) { call(B, CallingName); },
          [&](const Leave &) {
            if (Fast)
              Fast->emitCounted(B);
            call(B, LeaveName,
                 {B.getInt32(S.IsLast ? EnterFlags & ~abi::EnterBarriers
                                      : EnterFlags),
                  Fast ? Fast->emitNow(B)
                       : static_cast<Value *>(B.getInt32(0))});
          },
          [&](const Fence &E) {
            if (!E.IsAhead)
              return;
            // One of our own, since that of the statement comes too late.
            B.CreateFence(AtomicOrdering::AcquireRelease,
                          F.getContext().getOrInsertSyncScopeID("device"));
            call(B, FenceName, B.getInt32(uint32_t(E.Scope)));
          },
          [](const Wait &) {}, [](const Allocate &) {},
          [](const Collective &) {}, [](const Opaque &) {}),
      S.What);
}

void MetadataInstrumenter::emitStrongDone(const Step &S) {
  const Access &E = *S.access();
  // What only writes has released before, and acquires nothing.
  if (!E.isStrong() || isJustAccess(S) || !E.reads())
    return;
  Instruction *Next = S.Inst->getNextNode();
  IRBuilder<> B(Next);
  B.SetCurrentDebugLocation(S.Inst->getDebugLoc());
  Value *Address = emitAddress(B, E.Where);
  Value *Swap = emitSwapResult(B, *S.Inst, E);
  if (isFastStrong(S))
    Fast->emitDone(Next->getPrevNode(), S.Site, S.SiteNumber, Address, Swap);
  else
    call(B, StrongDoneName, {S.Site, Address, Swap});
  // By then it has acquired what it acquires.
  if (isFollowedSwap(E))
    Swaps.emitAfter(Next, S.Inst->getDebugLoc(), S.Site, Address, Swap, E.Size,
                    place(B));
}

void MetadataInstrumenter::emitAfter(const Step &S) {
  if (S.Inst->isTerminator())
    return;
  IRBuilder<> B(S.Inst->getNextNode());
  B.SetCurrentDebugLocation(S.Inst->getDebugLoc());
  std::visit(
      makeVisitor([&](const Access &) { emitStrongDone(S); },
                  [&](const Fence &E) {
                    call(B, FenceName, B.getInt32(uint32_t(E.Scope)));
                  },
                  [&](const BlockBarrier &E) {
                    if (replacedBarrier(S))
                      return;
                    call(B, BlockDepartName, {siteOrNull(S), iterationOf(S)});
                    if (isCountedToo(E))
                      callWithLocation(B, CollectName, E.Number, E.Scope);
                  },
                  [&](const Wait &E) {
                    const bool IsRelaxed = E.Order == abi::MemoryOrder::Relaxed;
                    callWithLocation(B,
                                     IsRelaxed ? CollectLaterName : CollectName,
                                     E.Where, E.Scope);
                  },
                  [&](const ProxyFence &E) {
                    if (E.IsAmongOthers || isProductWait(*S.Inst))
                      call(B, ProxyFenceName);
                  },
                  [&](const AwaitCopies &E) {
                    if (isProductWait(*S.Inst))
                      emitAwait(B, E);
                  },
                  [&](const Unknown &) { call(B, UnknownName); },
                  [&](const Call &) { call(B, ReturnedName); },
                  [&](const Allocate &E) {
                    call(B, AllocatedName,
                         {emitAddress(B, E.Where),
                          B.CreateZExtOrTrunc(E.Length, B.getInt64Ty())});
                  },
                  [](const auto &) {}),
      S.What);
}

void MetadataInstrumenter::callCheck(IRBuilder<> &B, const Step &S) {
  const Access &E = *S.access();
  Value *Length = E.isWhole() ? B.getInt64(E.Size) : emitLength(B, E);
  call(B, AccessCheckName,
       {S.Site, emitAddress(B, E), Length, B.getInt64(0),
        B.getInt32(abi::CheckCounts)});
}

void MetadataInstrumenter::callWithLocation(IRBuilder<> &B, StringRef Name,
                                            const Location &Where,
                                            abi::Scope Scope) {
  call(B, Name, {emitAddress(B, Where), B.getInt32(uint32_t(Scope))});
}

} // namespace crsan
