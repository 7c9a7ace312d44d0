// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of LLVM's own instructions.

#include "Events/Event.h"
#include "Sites/Omission.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace crsan {

namespace {

using abi::MemoryOrder;
using abi::Scope;

MemoryOrder orderOf(AtomicOrdering Order, uint8_t Flags) {
  switch (Order) {
  case AtomicOrdering::NotAtomic: // Volatile.
  case AtomicOrdering::Unordered:
  case AtomicOrdering::Monotonic:
    return MemoryOrder::Relaxed;
  case AtomicOrdering::Acquire:
    return MemoryOrder::Acquire;
  case AtomicOrdering::Release:
    return MemoryOrder::Release;
  case AtomicOrdering::AcquireRelease:
  case AtomicOrdering::SequentiallyConsistent:
    if (!(Flags & abi::WritesMemory))
      return MemoryOrder::Acquire;
    if (!(Flags & abi::ReadsMemory))
      return MemoryOrder::Release;
    return MemoryOrder::AcquireRelease;
  }
  llvm_unreachable("not an AtomicOrdering");
}

/// Nothing for a scope of one thread.
std::optional<Scope> scopeOf(const Instruction &I, llvm::SyncScope::ID Id) {
  const StringRef Name = I.getContext().getSyncScopeName(Id).value_or("");
  return StringSwitch<std::optional<Scope>>(Name)
      .Case("singlethread", std::nullopt)
      .Case("block", Scope::Block)
      .Case("cluster", Scope::Cluster)
      .Case("device", Scope::Device)
      .Default(Scope::System);
}

/// What an instruction writes that only writes, or exchanges.
Value *writtenBy(Instruction &I) {
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Store->getValueOperand();
  if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    return Swap->getNewValOperand();
  auto *Update = dyn_cast<AtomicRMWInst>(&I);
  return Update && Update->getOperation() == AtomicRMWInst::Xchg
             ? Update->getValOperand()
             : nullptr;
}

/// An access of LLVM's, atomic or volatile. A volatile one is a relaxed one of
/// system scope; an atomic one of no other thread's scope is that of PTX
/// anyway.
void addStrong(Events &To, Instruction &I, Value *Pointer, Type *T,
               uint8_t Flags, AtomicOrdering Order, Value *Expected = nullptr) {
  To.ByCollider = Skip::Strong;
  if (isPrivate(Pointer)) {
    To.Unlisted = Skip::Private;
    return;
  }
  Access A = strongAccess(I, Pointer, T, Flags);
  A.Order = isLegacyUpdate(I) ? MemoryOrder::Relaxed : orderOf(Order, Flags);
  if (Order != AtomicOrdering::NotAtomic)
    A.Scope = scopeOf(I, *getAtomicSyncScopeID(&I)).value_or(Scope::Block);
  else
    A.Roles = abi::IsVolatile;
  A.Expected = Expected;
  A.Written = writtenBy(I);
  To.add(A);
}

/// A typed access of memory that is not private, and weak.
void addTyped(Events &To, const Instruction &I, Value *Pointer, Align Alignment,
              Type *T, Value *Written, uint8_t Flags) {
  const DataLayout &DL = I.getDataLayout();
  SmallVector<std::pair<uint64_t, uint64_t>, 4> Runs;
  if (!collectRuns(DL, T, 0, Runs)) {
    To.Unlisted = To.ByCollider = Skip::Unsupported;
    return;
  }
  for (auto [Offset, Size] : Runs) {
    Access A{locationOf(Pointer), Flags, Size, DL.getTypeStoreSize(T)};
    A.Where.Offset = Offset;
    A.Alignment = Alignment;
    A.Written = std::exchange(Written, nullptr);
    To.add(A);
  }
}

/// A load or a store of type `T`; `Stored` is null for a load.
template <typename Inst>
void addLoadOrStore(Events &To, Inst &I, Type *T, Value *Stored,
                    uint8_t Flags) {
  Value *Pointer = I.getPointerOperand();
  if (isPrivate(Pointer))
    To.Unlisted = To.ByCollider = Skip::Private;
  else if (!I.isSimple())
    addStrong(To, I, Pointer, T, Flags, I.getOrdering());
  else if (!Stored && !isMarked(I))
    To.Unlisted = To.ByCollider = Skip::Speculated;
  else
    addTyped(To, I, Pointer, I.getAlign(), T, Stored, Flags);
}

/// Volatile fills and copies.
void addStrongMemory(Events &To, MemIntrinsic &M) {
  To.ByCollider = Skip::Strong;
  const auto *Length = dyn_cast<ConstantInt>(M.getLength());
  if (!Length) {
    To.add(Unknown());
    To.Unlisted = Skip::Unsupported;
    return;
  }
  Type *T =
      ArrayType::get(Type::getInt8Ty(M.getContext()), Length->getZExtValue());
  if (auto *Copied = dyn_cast<MemTransferInst>(&M))
    addStrong(To, M, Copied->getRawSource(), T, abi::ReadsMemory,
              AtomicOrdering::NotAtomic);
  addStrong(To, M, M.getRawDest(), T, abi::WritesMemory,
            AtomicOrdering::NotAtomic);
}

void addMemory(Events &To, MemIntrinsic &M) {
  if (M.isVolatile())
    return addStrongMemory(To, M);
  const auto *Length = dyn_cast<ConstantInt>(M.getLength());
  const uint64_t Size = Length ? Length->getZExtValue() : 0;
  auto Add = [&](Value *Pointer, MaybeAlign Alignment, Value *Written,
                 uint8_t Flags) {
    if (isPrivate(Pointer) || (Length && Size == 0))
      return;
    Access A{locationOf(Pointer), Flags, Size, Size};
    A.Alignment = Alignment.valueOrOne();
    // Of a length that is not known, it is not even known that there is a
    // value.
    if (Length)
      A.Written = Written;
    else
      A.Length = M.getLength();
    To.add(A);
  };
  auto *Set = dyn_cast<MemSetInst>(&M);
  Add(M.getRawDest(), M.getDestAlign(), Set ? Set->getValue() : nullptr,
      abi::WritesMemory);
  // A copy needs no mark: LLVM executes no call ahead of its condition that
  // writes memory. MemCpyOpt makes one of two copies, without a mark.
  if (auto *Copied = dyn_cast<MemTransferInst>(&M))
    Add(Copied->getRawSource(), Copied->getSourceAlign(), nullptr,
        abi::ReadsMemory);
  if (To.List.empty() && To.Unlisted == Skip::None)
    To.Unlisted = To.ByCollider = Skip::Private;
}

/// Functions of CUDA's that take memory from the device's heap; their first
/// argument is its size. `new` calls the first.
bool isAllocation(const CallBase &I) {
  const Function *Callee = I.getCalledFunction();
  return Callee && heapUseOf(*Callee) == HeapUse::Takes &&
         I.getType()->isPointerTy() && I.arg_size() > 0 &&
         I.getArgOperand(0)->getType()->isIntegerTy();
}

/// A callee that is seen here is instrumented like any other function. One that
/// is not may be instrumented elsewhere, or may do anything: at run time, it
/// tells.
void addCall(Events &To, CallBase &I) {
  const Function *Callee = I.getCalledFunction();
  const bool IsAllocation = isAllocation(I);
  To.add(Call{IsAllocation || (Callee && (isHarmless(*Callee) ||
                                          (!Callee->isDeclaration() &&
                                           !Callee->isInterposable())))});
  if (IsAllocation)
    To.add(Allocate{locationOf(&I), I.getArgOperand(0)});
}

/// The accesses of a function that the user exempted order memory all the same.
void forgetAccesses(Events &All) {
  if (isOmission(All.Unlisted))
    All.Unlisted = Skip::Ignored;
  if (isOmission(All.ByCollider) || any_of(All.List, isWeakOrLater))
    All.ByCollider = Skip::Ignored;
  SmallVector<Event, 2> Kept;
  for (const Event &E : All.List) {
    const Access *A = asAccess(E);
    if (A && A->isStrong()) {
      Kept.push_back(Arrive{A->Where, A->Scope});
      Kept.push_back(
          Wait{.Where = A->Where, .Scope = A->Scope, .IsByAccess = true});
    }
    if (anyAccess(E))
      All.Unlisted = Skip::Ignored;
    else
      Kept.push_back(E);
  }
  All.List = std::move(Kept);
}

Events eventsOfUsers(Instruction &I) {
  Events All;
  if (auto *Load = dyn_cast<LoadInst>(&I))
    addLoadOrStore(All, *Load, I.getType(), nullptr, abi::ReadsMemory);
  else if (auto *Store = dyn_cast<StoreInst>(&I))
    addLoadOrStore(All, *Store, Store->getValueOperand()->getType(),
                   Store->getValueOperand(), abi::WritesMemory);
  else if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    addStrong(All, I, Update->getPointerOperand(), I.getType(),
              abi::AtomicUpdate, Update->getOrdering());
  else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    addStrong(All, I, Swap->getPointerOperand(),
              Swap->getNewValOperand()->getType(), abi::AtomicUpdate,
              Swap->getMergedOrdering(), Swap->getCompareOperand());
  else if (auto *F = dyn_cast<FenceInst>(&I)) {
    All.ByCollider = Skip::Strong;
    if (auto Of = scopeOf(I, F->getSyncScopeID()))
      All.add(Fence{*Of});
  } else if (auto *M = dyn_cast<MemIntrinsic>(&I))
    addMemory(All, *M);
  else if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
    return eventsOfIntrinsic(*Intrinsic);
  else if (auto *Called = dyn_cast<CallBase>(&I)) {
    if (Called->isInlineAsm())
      return eventsOfAssembly(*Called);
    addCall(All, *Called);
  } else if (I.mayReadOrWriteMemory())
    All.add(Opaque());
  return All;
}

} // namespace

Events eventsOf(const Instruction &I) {
  // What an event names may be used in new instructions.
  auto &Mutable = const_cast<Instruction &>(I);
  Events All = eventsOfUsers(Mutable);
  if (isIgnored(I))
    forgetAccesses(All);
  return All;
}

} // namespace crsan
