// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions about the events of an instruction.

#include "Events/Event.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace crsan {

bool isOfSeveralWarps(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  const Value *Callee = Call->getCalledOperand();
  const auto *Asm = dyn_cast<InlineAsm>(Callee);
  const StringRef Name = Asm ? Asm->getAsmString() : Callee->getName();
  return any_of(ArrayRef({"wgmma", "setmaxnreg", "tcgen05"}),
                [&](StringRef Part) { return Name.contains(Part); });
}

bool isHarmless(const Function &F) {
  return is_contained({"vprintf", "malloc", "free", "__assertfail",
                       "__nv_aligned_device_malloc"},
                      F.getName());
}

HeapUse heapUseOf(const Function &F) {
  if (!F.isDeclaration())
    return HeapUse::None;
  // cudaMalloc and cudaFree of CUDA's device runtime use the same heap.
  return StringSwitch<HeapUse>(F.getName())
      .Cases({"malloc", "__nv_aligned_device_malloc", "cudaMalloc"},
             HeapUse::Takes)
      .Cases({"free", "cudaFree"}, HeapUse::Frees)
      .Default(HeapUse::None);
}

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

/// Gives an access of a tensor copy its box.
static void setBox(Access &A, TensorBox Box) {
  Box.InShared = isSharedSpace(A.Where.Space);
  A.Box = std::move(Box);
}

/// Gives an access of a copy `Size` bytes, a constant or not. PTX requires that
/// a copy's address is a multiple of its size, or of 16.
static void setSize(Access &A, Value *Size) {
  const auto *Constant = dyn_cast<ConstantInt>(Size);
  if (!Constant) {
    A.Length = Size;
    return;
  }
  A.Size = A.WholeSize = Constant->getZExtValue();
  A.Alignment = commonAlignment(Align(16), A.Size);
}

void addCopy(Events &To, const CopyOperands &C) {
  // First of all: no check of what came before may look at what it leaves.
  const uint32_t Roles = C.By == Completion::Barrier     ? abi::ByMbarrier
                         : C.By == Completion::BulkGroup ? abi::ByBulkGroup
                                                         : 0;
  AsyncAccess Write{{C.To}, C.By, C.Barrier};
  Access &W = Write.What;
  W.Roles = Roles;
  W.Flags = abi::WritesMemory | abi::IsCopy;
  if (C.IsUpdate) {
    W.Flags = abi::AtomicUpdate | abi::IsStrong | abi::IsCopy;
    W.Order = abi::MemoryOrder::Relaxed;
    W.Scope = abi::Scope::Device;
  }
  W.If = C.If;
  W.Blocks = C.Blocks;
  if (C.Tensor)
    setBox(W, *C.Tensor);
  else
    setSize(W, C.Size);
  if (W.Size || W.hasLength())
    To.add(Write);
  if (!C.From.Base)
    return;
  AsyncAccess Read{{C.From}, C.By, C.Barrier, C.Blocks != nullptr};
  Access &R = Read.What;
  R.Roles = Roles;
  R.Flags = abi::ReadsMemory | abi::IsCopy;
  R.If = C.IfRead.Operand ? C.IfRead : C.If;
  if (C.Tensor) {
    setBox(R, *C.Tensor);
    return To.add(Read);
  }
  setSize(R, C.Size);
  if (const auto *Part = dyn_cast_or_null<ConstantInt>(C.Read)) {
    R.Size = std::min(R.Size, Part->getZExtValue());
  } else if (C.Read) {
    R.Length = C.Read;
    R.Size = 0;
  }
  if (R.Size || R.Length)
    To.add(Read);
}

void addMatrix(Events &To, const ptx::InstructionClass &C, Location Pointer,
               Value *Stride) {
  Access A{Pointer};
  A.Flags = C.Flags;
  A.Size = A.WholeSize = C.Rows.Bytes;
  A.Alignment = Align(std::min(C.Rows.Bytes & (0u - C.Rows.Bytes), 8u));
  A.Rows.Lanes = C.Rows.Number;
  A.Roles = C.Rows.HaveOneAddress  ? abi::OpaqueRow
            : C.Rows.AreTransposed ? abi::TransposedRow
                                   : abi::MatrixRow;
  if (C.Rows.HaveOneAddress) {
    A.Rows.Scale = Stride ? C.Rows.ElementBits / 8 : C.Rows.Bytes;
    A.Rows.Stride =
        Stride
            ? Stride
            : ConstantInt::get(Type::getInt32Ty(Pointer.Base->getContext()), 1);
  }
  To.add(A);
}

void addOperand(Events &To, Value *Descriptor, uint32_t Shape) {
  constexpr unsigned BytesOfRow = 32;
  OperandRead Operand{{{Descriptor, NVPTXAS::ADDRESS_SPACE_SHARED}}, Shape};
  Access &A = Operand.What;
  A.Flags = abi::ReadsMemory;
  A.Roles = abi::ByWarpGroup;
  A.Size = A.WholeSize = (Shape & abi::RowsMask) * BytesOfRow;
  To.add(Operand);
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
  const Completion By = C.IsProduct ? Completion::Product
                        : C.IsBulk  ? Completion::BulkGroup
                                    : Completion::Group;
  if (C.IsProxyFence)
    To.add(ProxyFence());
  switch (C.Orders) {
  case Ordering::None:
    return C.IsProxyFence ? void() : To.add(Opaque());
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
    return To.add(CommitCopies{By});
  case Ordering::CopyWait:
    return To.add(AwaitCopies{By, Where.Base, C.OnlyReads});
  case Ordering::CopyArrival:
    // A thread that waits there waits for the copies, too.
    To.add(AwaitCopies());
    return To.add(Arrival);
  case Ordering::Other:
    return To.add(Unknown());
  }
}

void addUnfollowed(Events &To, const ptx::InstructionClass &C) {
  if (C.IsByAsyncProxy)
    return To.add(ProxyFence());
  To.add(Opaque());
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

bool keepsWindow(const Events &All) { return all_of(All.List, isWeakOrLater); }

SmallVector<Event, 2> checkedByCollider(const Instruction &I,
                                        const Events &All) {
  SmallVector<Event, 2> Checked;
  if (!isIgnored(I) && keepsWindow(All))
    copy_if(All.List, std::back_inserter(Checked), [](const Event &E) {
      const Access *A = anyAccess(E);
      return A && !A->isStrong() && !(A->Box && !A->Box->InShared);
    });
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
