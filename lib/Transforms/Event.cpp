//===- Event.cpp - What an instruction does between threads -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Event.h"
#include "HeapReuse.h"
#include "Omission.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace crsan {

namespace {

using abi::SyncOrder;
using Scope = abi::SyncScope;

/// What the cluster's barrier is known by, of which there is one.
constexpr uint64_t ClusterBarrier = 0x100;

Place placeOf(Value *Pointer) {
  return {Pointer, Pointer->getType()->getPointerAddressSpace()};
}

SyncOrder orderOf(AtomicOrdering Order, uint8_t Flags) {
  switch (Order) {
  case AtomicOrdering::NotAtomic: // Volatile.
  case AtomicOrdering::Unordered:
  case AtomicOrdering::Monotonic:
    return SyncOrder::Relaxed;
  case AtomicOrdering::Acquire:
    return SyncOrder::Acquire;
  case AtomicOrdering::Release:
    return SyncOrder::Release;
  case AtomicOrdering::AcquireRelease:
  case AtomicOrdering::SequentiallyConsistent:
    if (!(Flags & abi::WritesMemory))
      return SyncOrder::Acquire;
    if (!(Flags & abi::ReadsMemory))
      return SyncOrder::Release;
    return SyncOrder::AcquireRelease;
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

Event strong(Instruction &I, Value *Pointer, Type *T, uint8_t Flags) {
  Event E{Event::Kind::Strong, placeOf(Pointer)};
  E.Flags = Flags | abi::IsStrong;
  E.Order = SyncOrder::Relaxed;
  E.Scope = Scope::System;
  E.Size = E.WholeSize = I.getDataLayout().getTypeStoreSize(T);
  return E;
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
  if (isPrivate(Pointer)) {
    To.Skipped = Skip::Private;
    return;
  }
  Event E = strong(I, Pointer, T, Flags);
  E.Order = orderOf(Order, Flags);
  if (Order != AtomicOrdering::NotAtomic)
    E.Scope = scopeOf(I, *getAtomicSyncScopeID(&I)).value_or(Scope::Block);
  else
    E.Roles = abi::IsVolatile;
  E.Expected = Expected;
  E.Written = writtenBy(I);
  To.List.push_back(E);
}

/// Volatile fills and copies.
void addStrong(Events &To, MemIntrinsic &M) {
  const auto *Length = dyn_cast<ConstantInt>(M.getLength());
  if (!Length) {
    To.List.push_back({Event::Kind::Unknown});
    To.Skipped = Skip::Unsupported;
    return;
  }
  Type *T =
      ArrayType::get(Type::getInt8Ty(M.getContext()), Length->getZExtValue());
  if (auto *Copy = dyn_cast<MemTransferInst>(&M))
    addStrong(To, M, Copy->getRawSource(), T, abi::ReadsMemory,
              AtomicOrdering::NotAtomic);
  addStrong(To, M, M.getRawDest(), T, abi::WritesMemory,
            AtomicOrdering::NotAtomic);
}

constexpr uint8_t Updates =
    abi::ReadsMemory | abi::WritesMemory | abi::IsAtomic;

/// llvm.nvvm.atomic.<operation>.gen.<i or f>.<cta or sys>: the functions with
/// _block and _system in their names, which are relaxed.
void addAtomicIntrinsic(Events &To, IntrinsicInst &Call,
                        ArrayRef<std::string_view> Words) {
  Value *Pointer = Call.getArgOperand(0);
  if (isPrivate(Pointer)) {
    To.Skipped = Skip::Private;
    return;
  }
  Event E = strong(Call, Pointer, Call.getType(), Updates);
  E.Scope = is_contained(Words, "cta") ? Scope::Block : Scope::System;
  if (is_contained(Words, "cas")) {
    E.Expected = Call.getArgOperand(1);
    E.Written = Call.getArgOperand(2);
  } else if (is_contained(Words, "exch")) {
    E.Written = Call.getArgOperand(1);
  }
  To.List.push_back(E);
}

/// What an intrinsic synchronises by: its first pointer, else its first
/// operand.
std::optional<Place> objectOf(const IntrinsicInst &Call) {
  for (Value *Arg : Call.args())
    if (Arg->getType()->isPointerTy())
      return placeOf(Arg);
  if (Call.arg_empty())
    return std::nullopt;
  return Place{Call.getArgOperand(0)};
}

/// llvm.nvvm.cp.async.<ca or cg>.shared.global.<size>, and .s with how much is
/// read.
void addCopyIntrinsic(Events &To, IntrinsicInst &Call,
                      ArrayRef<std::string_view> Words) {
  uint64_t Size;
  if (Words.size() < 5 || StringRef(Words[0]) != "async" ||
      !is_contained({"ca", "cg"}, StringRef(Words[1])) ||
      StringRef(Words[4]).getAsInteger(10, Size) || Call.arg_size() < 2) {
    To.Skipped = Skip::Copy;
    return;
  }
  addCopy(To, {placeOf(Call.getArgOperand(0)), placeOf(Call.getArgOperand(1)),
               Size, Call.arg_size() > 2 ? Call.getArgOperand(2) : nullptr});
}

void addIntrinsic(Events &To, IntrinsicInst &Call) {
  const auto I = asInstruction(Call.getCalledFunction()->getName());
  if (I && I->Opcode == "atomic")
    return addAtomicIntrinsic(To, Call, I->Modifiers);
  To.Skipped = skipOf(Call);
  if (!I)
    return;
  const ptx::InstructionClass C = ptx::classify(*I);
  switch (C.What) {
  case ptx::Category::Harmless:
  case ptx::Category::Convergent:
  case ptx::Category::MatrixAccess:
  case ptx::Category::TextureAccess:
    return;
  case ptx::Category::Synchronisation:
    return addOrdering(To, C, objectOf(Call));
  case ptx::Category::ControlFlow:
    if (I->Opcode == "exit")
      To.List.push_back({Event::Kind::Leave});
    return;
  case ptx::Category::AsyncCopy:
    To.Skipped = Skip::None;
    return addCopyIntrinsic(To, Call, I->Modifiers);
  case ptx::Category::WeakAccess:
  case ptx::Category::StrongAccess:
  case ptx::Category::Unknown:
    break;
  }
  // What accesses no more than it points to orders nothing.
  if (To.Skipped != Skip::None && !Call.onlyAccessesArgMemory() &&
      !Call.onlyReadsMemory())
    To.List.push_back({Event::Kind::Unknown});
}

/// Functions of CUDA's that neither wait for another thread nor tell one
/// anything.
bool isHarmless(const Function &F) {
  const StringRef Name = F.getName();
  return is_contained({"vprintf", "malloc", "free", "__assertfail"}, Name) ||
         Name.starts_with("__nv_");
}

/// A callee that is seen here is instrumented like any other function. One that
/// is not may be instrumented elsewhere, or may do anything: at run time, it
/// tells.
void addCall(Events &To, CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (isAllocation(Call)) {
    To.List.push_back({Event::Kind::Allocate, placeOf(&Call)});
    To.List.back().Length = Call.getArgOperand(0);
    return;
  }
  if (Callee && (Callee->isIntrinsic() || isHarmless(*Callee) ||
                 (!Callee->isDeclaration() && !Callee->isInterposable())))
    return;
  To.List.push_back({Event::Kind::Call});
}

void addWeak(Events &To, Instruction &I) {
  const Effect Effect = effectOf(I);
  To.Skipped = Effect.Skipped;
  for (const Access &A : Effect.Accesses) {
    Event E{Event::Kind::Weak, placeOf(A.Pointer)};
    E.Where.Offset = A.Offset;
    E.Flags = flagsOf(A.Kind);
    E.Size = A.Length ? 0 : A.Size;
    E.WholeSize = A.WholeSize;
    E.Length = A.Length;
    To.List.push_back(E);
  }
}

/// An access that the user does not want to hear of orders memory all the same.
void forgetAccesses(Events &E) {
  if (isOmission(E.Skipped))
    E.Skipped = Skip::Ignored;
  SmallVector<Event, 2> Kept;
  for (const Event &Old : E.List) {
    if (Old.What == Event::Kind::Strong) {
      Kept.push_back({Event::Kind::Publish, Old.Where, Old.Scope});
      Kept.push_back({Event::Kind::Collect, Old.Where, Old.Scope});
      E.Skipped = Skip::Ignored;
    } else if (Old.What == Event::Kind::Weak || Old.What == Event::Kind::Copy)
      E.Skipped = Skip::Ignored;
    else
      Kept.push_back(Old);
  }
  E.List = std::move(Kept);
}

Events eventsOfUsers(Instruction &I) {
  Events E;
  if (auto *Load = dyn_cast<LoadInst>(&I); Load && !Load->isSimple())
    addStrong(E, I, Load->getPointerOperand(), I.getType(), abi::ReadsMemory,
              Load->getOrdering());
  else if (auto *Store = dyn_cast<StoreInst>(&I); Store && !Store->isSimple())
    addStrong(E, I, Store->getPointerOperand(),
              Store->getValueOperand()->getType(), abi::WritesMemory,
              Store->getOrdering());
  else if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    addStrong(E, I, Update->getPointerOperand(), I.getType(), Updates,
              Update->getOrdering());
  else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    addStrong(E, I, Swap->getPointerOperand(),
              Swap->getNewValOperand()->getType(), Updates,
              Swap->getMergedOrdering(), Swap->getCompareOperand());
  else if (auto *Fence = dyn_cast<FenceInst>(&I)) {
    if (auto Of = scopeOf(I, Fence->getSyncScopeID()))
      E.List.push_back({Event::Kind::Fence, {}, *Of});
  } else if (auto *M = dyn_cast<MemIntrinsic>(&I); M && M->isVolatile())
    addStrong(E, *M);
  else if (isa<LoadInst, StoreInst, MemIntrinsic>(I))
    addWeak(E, I);
  else if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
    addIntrinsic(E, *Intrinsic);
  else if (auto *Call = dyn_cast<CallBase>(&I)) {
    if (Call->isInlineAsm())
      return eventsOfAssembly(*Call);
    addCall(E, *Call);
  }
  return E;
}

} // namespace

Events eventsOf(Instruction &I) {
  Events E = eventsOfUsers(I);
  if (isIgnored(I))
    forgetAccesses(E);
  return E;
}

void addCopy(Events &To, const Copy &C) {
  // First of all: no check of what came before may look at what it leaves.
  Event E{Event::Kind::Copy, C.To};
  E.Flags = abi::WritesMemory | abi::IsCopy;
  E.Size = E.WholeSize = C.Size;
  E.If = C.If;
  To.List.push_back(E);
  E = {Event::Kind::Weak, C.From};
  E.Flags = abi::ReadsMemory;
  E.Size = E.WholeSize = C.Size;
  E.If = C.IfRead.Operand ? C.IfRead : C.If;
  const auto *Read = dyn_cast_or_null<ConstantInt>(C.Read);
  if (Read) {
    E.Size = std::min(E.Size, Read->getZExtValue());
  } else if (C.Read) {
    E.Length = C.Read;
    E.Size = 0;
  }
  if (E.Size || E.Length)
    To.List.push_back(E);
}

void addOrdering(Events &To, const ptx::InstructionClass &C,
                 std::optional<Place> Object) {
  using ptx::Ordering;
  const bool NeedsObject =
      C.Orders == Ordering::WarpBarrier || C.Orders == Ordering::BlockBarrier ||
      C.Orders == Ordering::Arrival || C.Orders == Ordering::Wait ||
      C.Orders == Ordering::ArrivalAndWait || C.Orders == Ordering::CopyArrival;
  if (NeedsObject && !Object) {
    To.List.push_back({Event::Kind::Unknown});
    return;
  }
  Place Where = Object.value_or(Place());
  auto Add = [&](Event::Kind What) {
    To.List.push_back({What, Where, C.Scope});
    To.List.back().Order = C.Order;
    To.List.back().IsCounted =
        C.IsNumbered && What != Event::Kind::BlockBarrier;
  };
  switch (C.Orders) {
  case Ordering::None:
    return;
  case Ordering::Fence:
    return Add(Event::Kind::Fence);
  case Ordering::WarpBarrier:
    Add(Event::Kind::WarpBarrier);
    To.List.back().Mask = Where.Base;
    return;
  case Ordering::BlockBarrier:
    return Add(Event::Kind::BlockBarrier);
  case Ordering::Arrival:
    return Add(Event::Kind::Publish);
  case Ordering::Wait:
    return Add(Event::Kind::Collect);
  case Ordering::ArrivalAndWait:
    Add(Event::Kind::Publish);
    return Add(Event::Kind::Collect);
  case Ordering::ClusterArrival:
  case Ordering::ClusterWait:
    Where = Place();
    Where.Offset = ClusterBarrier;
    return Add(C.Orders == Ordering::ClusterWait ? Event::Kind::Collect
                                                 : Event::Kind::Publish);
  case Ordering::CopyCommit:
    To.List.push_back({Event::Kind::CommitCopies});
    return;
  case Ordering::CopyWait:
    To.List.push_back({Event::Kind::AwaitCopies});
    To.List.back().Length = Where.Base;
    return;
  case Ordering::CopyArrival:
    // Who waits there waits for the copies, too.
    To.List.push_back({Event::Kind::AwaitCopies});
    return Add(Event::Kind::Publish);
  case Ordering::Other:
    return Add(Event::Kind::Unknown);
  }
}

void relaxLegacyAtomics(Function &F) {
  // As clang's __clang_cuda_device_functions.h has them.
  static const Regex Name("^_ZL[0-9]+__[a-z]+Atomic[A-Z][A-Za-z]*(_system)?P");
  SmallVector<StringRef, 2> Groups;
  if (!Name.match(F.getName(), &Groups))
    return;
  const llvm::SyncScope::ID Id =
      Groups[1].empty() ? F.getContext().getOrInsertSyncScopeID("device")
                        : llvm::SyncScope::System;
  for (Instruction &I : instructions(F)) {
    if (auto *Update = dyn_cast<AtomicRMWInst>(&I)) {
      Update->setOrdering(AtomicOrdering::Monotonic);
      Update->setSyncScopeID(Id);
    } else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I)) {
      Swap->setSuccessOrdering(AtomicOrdering::Monotonic);
      Swap->setFailureOrdering(AtomicOrdering::Monotonic);
      Swap->setSyncScopeID(Id);
    }
  }
}

} // namespace crsan
