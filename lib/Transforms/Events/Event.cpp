// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions about the events of an instruction.

#include "Events/Event.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace crsan {

Location locationOf(Value *Pointer) {
  return {Pointer, Pointer->getType()->getPointerAddressSpace()};
}

Access strongAccess(Instruction &I, Value *Pointer, Type *T, uint8_t Flags) {
  Access A{locationOf(Pointer)};
  A.Flags = Flags | abi::IsStrong;
  A.Order = abi::MemoryOrder::Relaxed;
  A.Scope = abi::Scope::System;
  A.Size = A.WholeSize = I.getDataLayout().getTypeStoreSize(T);
  return A;
}

void addCopy(Events &To, const CopyOperands &C) {
  // First of all: no check of what came before may look at what it leaves.
  Copy Begun;
  Begun.To.Where = C.To;
  Begun.To.Flags = abi::WritesMemory | abi::IsCopy;
  Begun.To.Size = Begun.To.WholeSize = C.Size;
  Begun.To.If = C.If;
  To.add(Begun);
  Access From{C.From};
  From.Flags = abi::ReadsMemory;
  From.Size = From.WholeSize = C.Size;
  From.If = C.IfRead.Operand ? C.IfRead : C.If;
  if (const auto *Read = dyn_cast_or_null<ConstantInt>(C.Read)) {
    From.Size = std::min(From.Size, Read->getZExtValue());
  } else if (C.Read) {
    From.Length = C.Read;
    From.Size = 0;
  }
  if (From.Size || From.Length)
    To.add(From);
}

void addOrdering(Events &To, const ptx::InstructionClass &C,
                 std::optional<Location> Object) {
  using ptx::Ordering;
  /// What the cluster's barrier is known by, of which there is one.
  constexpr int64_t ClusterBarrier = 0x100;
  const bool NeedsObject =
      C.Orders == Ordering::WarpBarrier || C.Orders == Ordering::BlockBarrier ||
      C.Orders == Ordering::Arrival || C.Orders == Ordering::Wait ||
      C.Orders == Ordering::ArrivalAndWait || C.Orders == Ordering::CopyArrival;
  if (NeedsObject && !Object)
    return To.add(Unknown());
  const Location Where = Object.value_or(Location());
  const Arrive Arrival{Where, C.Scope, C.Order, C.IsNumbered};
  const Wait Awaited{Where, C.Scope, C.Order, C.IsNumbered};
  switch (C.Orders) {
  case Ordering::None:
    return To.add(Opaque());
  case Ordering::Fence:
    return To.add(Fence{C.Scope});
  case Ordering::WarpBarrier:
    return To.add(WarpBarrier{Where.Base});
  case Ordering::BlockBarrier:
    return To.add(BlockBarrier{Where, C.Scope});
  case Ordering::Arrival:
    return To.add(Arrival);
  case Ordering::Wait:
    return To.add(Awaited);
  case Ordering::ArrivalAndWait:
    To.add(Arrival);
    return To.add(Awaited);
  case Ordering::ClusterArrival:
    return To.add(Arrive{{nullptr, 0, ClusterBarrier}, C.Scope, C.Order});
  case Ordering::ClusterWait:
    return To.add(Wait{{nullptr, 0, ClusterBarrier}, C.Scope, C.Order});
  case Ordering::CopyCommit:
    return To.add(CommitCopies());
  case Ordering::CopyWait:
    return To.add(AwaitCopies{Where.Base});
  case Ordering::CopyArrival:
    // A thread that waits there waits for the copies, too.
    To.add(AwaitCopies());
    return To.add(Arrival);
  case Ordering::Other:
    return To.add(Unknown());
  }
}

Skip skipOf(ptx::Category What) {
  switch (What) {
  case ptx::Category::Harmless:
  case ptx::Category::Synchronisation:
  case ptx::Category::Convergent:
  case ptx::Category::ControlFlow:
    return Skip::None;
  case ptx::Category::WeakAccess:
    return Skip::Assembly;
  case ptx::Category::StrongAccess:
    return Skip::Strong;
  case ptx::Category::AsyncCopy:
    return Skip::Copy;
  case ptx::Category::MatrixAccess:
    return Skip::Matrix;
  case ptx::Category::TextureAccess:
    return Skip::Texture;
  case ptx::Category::Unknown:
    return Skip::Unknown;
  }
  llvm_unreachable("not a Category");
}

bool keepsWindow(const Events &All) { return all_of(All.List, isWeak); }

SmallVector<Access, 2> checkedByCollider(const Instruction &I,
                                         const Events &All) {
  SmallVector<Access, 2> Checked;
  const auto *Call = dyn_cast<CallBase>(&I);
  // The collider checks no access in inline PTX.
  if (isIgnored(I) || (Call && Call->isInlineAsm()))
    return Checked;
  for (const Event &E : All.List)
    if (isWeak(E))
      Checked.push_back(*asAccess(E));
  return Checked;
}

bool mayWait(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (Call && !Call->mayReadOrWriteMemory())
    return false;
  if (isa_and_nonnull<IntrinsicInst>(Call))
    return !Call->use_empty() && Call->mayWriteToMemory() &&
           !Call->onlyAccessesInaccessibleMemory();
  const Events All = eventsOf(I);
  if (Call)
    return !All.List.empty() || All.Unlisted != Skip::None;
  return any_of(All.List, [&](const Event &E) {
    const Access *A = asAccess(E);
    // An update whose result is unused waits for nothing.
    return A && A->isStrong() && A->reads() &&
           A->Where.Space != NVPTXAS::ADDRESS_SPACE_SHARED &&
           !(isa<AtomicRMWInst>(I) && I.use_empty());
  });
}

bool mayPoll(const Events &All) {
  return any_of(All.List, [](const Event &E) {
    if (const Access *A = asAccess(E))
      return A->Flags & abi::IsAtomic || (A->isStrong() && A->reads()) ||
             A->NamesCache;
    const auto *W = std::get_if<Wait>(&E);
    return (W && W->Where.Base && !W->IsCounted) ||
           std::holds_alternative<Unknown>(E);
  });
}

} // namespace crsan
