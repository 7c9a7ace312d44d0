// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of intrinsics.

#include "Events/Event.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace crsan {

namespace {

/// Intrinsics of LLVM's own that access nothing that threads share, though
/// their attributes do not say so.
bool isHarmless(Intrinsic::ID Id) {
  switch (Id) {
  case Intrinsic::clear_cache:
  case Intrinsic::debugtrap:
  case Intrinsic::fake_use:
  case Intrinsic::get_dynamic_area_offset:
  case Intrinsic::invariant_end:
  case Intrinsic::invariant_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::lifetime_start:
  case Intrinsic::pcmarker:
  case Intrinsic::prefetch:
  case Intrinsic::pseudoprobe:
  case Intrinsic::read_register:
  case Intrinsic::read_volatile_register:
  case Intrinsic::readcyclecounter:
  case Intrinsic::readsteadycounter:
  case Intrinsic::stackaddress:
  case Intrinsic::stackrestore:
  case Intrinsic::stacksave:
  case Intrinsic::trap:
  case Intrinsic::ubsantrap:
  case Intrinsic::vacopy:
  case Intrinsic::vaend:
  case Intrinsic::vastart:
  case Intrinsic::write_register:
  // Of NVVM's, those that stand for no PTX instruction of their name.
  case Intrinsic::nvvm_compiler_error:
  case Intrinsic::nvvm_compiler_warn:
  case Intrinsic::nvvm_pm_event_mask:
    return true;
  default:
    return false;
  }
}

/// Whether an intrinsic accesses memory by its operands alone, and none of
/// these points to memory that threads share.
bool isOfPrivateMemory(const IntrinsicInst &Intrinsic) {
  bool HasPointer = false;
  for (const Value *Arg : Intrinsic.args()) {
    if (!Arg->getType()->isPtrOrPtrVectorTy())
      continue;
    if (!Arg->getType()->isPointerTy() || !isPrivate(Arg))
      return false;
    HasPointer = true;
  }
  return HasPointer && Intrinsic.onlyAccessesArgMemory();
}

/// An intrinsic of NVVM's as the PTX instruction that it stands for, whose name
/// has underscores and colons where the intrinsic's has dots; nothing for any
/// other intrinsic. Valid as long as `Name`.
std::optional<ptx::Instruction> asInstruction(StringRef Name) {
  if (!Name.consume_front("llvm.nvvm."))
    return std::nullopt;
  SmallVector<StringRef, 8> Parts;
  Name.split(Parts, '.');
  ptx::Instruction I;
  I.Opcode = Parts[0];
  I.Modifiers.assign(Parts.begin() + 1, Parts.end());
  return I;
}

} // namespace

Skip skipOf(const IntrinsicInst &Intrinsic) {
  if (isOfPrivateMemory(Intrinsic))
    return Skip::None;
  return skipOf(Intrinsic.getIntrinsicID(),
                Intrinsic.getCalledFunction()->getName(),
                Intrinsic.getMemoryEffects());
}

Skip skipOf(Intrinsic::ID Id, StringRef Name, MemoryEffects Effects) {
  if (isHarmless(Id))
    return Skip::None;
  const bool MayAccess =
      !Effects.doesNotAccessMemory() && !Effects.onlyAccessesInaccessibleMem();
  const auto I = asInstruction(Name);
  if (!I)
    return MayAccess ? Skip::Unsupported : Skip::None;
  if (I->Opcode == "atomic")
    return Skip::Strong;
  switch (const ptx::Category What = ptx::classify(*I).What) {
  case ptx::Category::WeakAccess: // Of the compiler's own, such as ldu.
    return Skip::Unsupported;
  case ptx::Category::Unknown: // Some are functions, not instructions.
    return MayAccess ? Skip::Unknown : Skip::None;
  default:
    return skipOf(What);
  }
}

namespace {

/// llvm.nvvm.atomic.<operation>.gen.<i or f>.<cta or sys>: the functions with
/// _block and _system in their names, which are relaxed.
void addAtomic(Events &To, IntrinsicInst &Call,
               ArrayRef<std::string_view> Words) {
  Value *Pointer = Call.getArgOperand(0);
  if (isPrivate(Pointer)) {
    To.Unlisted = Skip::Private;
    return;
  }
  Access A = strongAccess(Call, Pointer, Call.getType(), abi::AtomicUpdate);
  A.Scope = is_contained(Words, "cta") ? abi::Scope::Block : abi::Scope::System;
  if (is_contained(Words, "cas")) {
    A.Expected = Call.getArgOperand(1);
    A.Written = Call.getArgOperand(2);
  } else if (is_contained(Words, "exch")) {
    A.Written = Call.getArgOperand(1);
  }
  To.add(A);
}

/// What an intrinsic synchronises by: its first pointer, else its first
/// operand.
std::optional<Location> objectOf(const IntrinsicInst &Call) {
  for (Value *Arg : Call.args())
    if (Arg->getType()->isPointerTy())
      return locationOf(Arg);
  if (Call.arg_empty())
    return std::nullopt;
  return Location{Call.getArgOperand(0)};
}

/// llvm.nvvm.cp.async.<ca or cg>.shared.global.<size>, and .s with how much is
/// read.
std::optional<CopyOperands> smallCopyOf(IntrinsicInst &Call,
                                        ArrayRef<std::string_view> Words) {
  uint64_t Size;
  if (Words.size() < 5 || !is_contained({"ca", "cg"}, StringRef(Words[1])) ||
      StringRef(Words[4]).getAsInteger(10, Size) || Call.arg_size() < 2)
    return std::nullopt;
  return CopyOperands{
      locationOf(Call.getArgOperand(0)), locationOf(Call.getArgOperand(1)),
      ConstantInt::get(Type::getInt32Ty(Call.getContext()), Size),
      Call.arg_size() > 2 ? Call.getArgOperand(2) : nullptr};
}

/// llvm.nvvm.cp.async.bulk.<from>.to.<to>(to, mbarrier, from, size, ...),
/// without an mbarrier if the copy is to global memory.
std::optional<CopyOperands> bulkCopyOf(IntrinsicInst &Call) {
  const bool ToGlobal = Call.getIntrinsicID() ==
                        Intrinsic::nvvm_cp_async_bulk_shared_cta_to_global;
  bool IsMulticast = false;
  switch (Call.getIntrinsicID()) {
  case Intrinsic::nvvm_cp_async_bulk_global_to_shared_cluster:
    // Whether there is a mask of blocks: each of them is written.
    if (!isa<ConstantInt>(Call.getArgOperand(6)))
      return std::nullopt;
    IsMulticast = cast<ConstantInt>(Call.getArgOperand(6))->isOne();
    break;
  case Intrinsic::nvvm_cp_async_bulk_global_to_shared_cta:
  case Intrinsic::nvvm_cp_async_bulk_shared_cta_to_cluster:
  case Intrinsic::nvvm_cp_async_bulk_shared_cta_to_global:
    break;
  default:
    return std::nullopt;
  }
  CopyOperands Result = {locationOf(Call.getArgOperand(0)),
                         locationOf(Call.getArgOperand(ToGlobal ? 1 : 2)),
                         Call.getArgOperand(ToGlobal ? 2 : 3)};
  Result.By = ToGlobal ? Completion::BulkGroup : Completion::Barrier;
  if (!ToGlobal)
    Result.Barrier = locationOf(Call.getArgOperand(1));
  if (IsMulticast)
    Result.Blocks = Call.getArgOperand(4);
  return Result;
}

void addAsyncCopy(Events &To, IntrinsicInst &Call, const ptx::Instruction &I,
                  const ptx::InstructionClass &C) {
  const auto Of =
      I.has("bulk") ? bulkCopyOf(Call) : smallCopyOf(Call, I.Modifiers);
  if (Of)
    return addCopy(To, *Of);
  To.Unlisted = To.ByCollider = Skip::Copy;
  addUnfollowed(To, C);
}

/// llvm.nvvm.ldmatrix...(from), llvm.nvvm.wmma...load...(from, stride) and
/// their stores, whose stride is the last operand.
void addMatrixAccess(Events &To, IntrinsicInst &Call, const ptx::Instruction &I,
                     const ptx::InstructionClass &C) {
  const bool HasStride = I.has("stride");
  if (!C.Rows.Number || (HasStride && C.Rows.ElementBits % 8 != 0)) {
    To.Unlisted = To.ByCollider = Skip::Matrix;
    return To.add(Opaque());
  }
  addMatrix(To, C, locationOf(Call.getArgOperand(0)),
            HasStride ? Call.getArgOperand(Call.arg_size() - 1) : nullptr);
}

/// An intrinsic of NVVM's, by the PTX instruction that it stands for.
void addInstruction(Events &To, IntrinsicInst &Call,
                    const ptx::Instruction &I) {
  if (I.Opcode == "atomic")
    return addAtomic(To, Call, I.Modifiers);
  To.Unlisted = To.ByCollider;
  const ptx::InstructionClass C = ptx::classify(I);
  switch (C.What) {
  case ptx::Category::Harmless:
    return;
  case ptx::Category::Convergent:
    return To.add(Collective());
  case ptx::Category::MatrixAccess:
    To.Unlisted = To.ByCollider = Skip::None;
    return addMatrixAccess(To, Call, I, C);
  case ptx::Category::TextureAccess:
    return To.add(Opaque());
  case ptx::Category::Synchronisation:
    return addOrdering(To, C, objectOf(Call));
  case ptx::Category::ControlFlow:
    if (I.Opcode == "exit")
      return To.add(Leave());
  case ptx::Category::AsyncCopy:
    To.Unlisted = To.ByCollider = Skip::None;
    return addAsyncCopy(To, Call, I, C);
  case ptx::Category::WeakAccess:
  case ptx::Category::StrongAccess:
  case ptx::Category::Unknown:
    break;
  }
  // What accesses no more than it points to orders nothing.
  if (To.Unlisted != Skip::None && !Call.onlyAccessesArgMemory() &&
      !Call.onlyReadsMemory())
    To.add(Unknown());
}

/// Rule 3: an intrinsic that is not known to be harmless ends a window.
bool endsWindow(const IntrinsicInst &Call) {
  if (isa<DbgInfoIntrinsic, AssumeInst>(Call) || Call.isLifetimeStartOrEnd())
    return false;
  const bool NoMemory =
      Call.doesNotAccessMemory() || Call.onlyAccessesInaccessibleMemory();
  return !NoMemory || Call.isConvergent() || !Call.willReturn();
}

} // namespace

bool isSyncThreads(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call || Call->hasFnAttr(FromPTX))
    return false;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::nvvm_barrier_cta_sync_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_and_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_or_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_popc_aligned_all:
    return PatternMatch::match(Call->getArgOperand(0), PatternMatch::m_Zero());
  default:
    return false;
  }
}

Events eventsOfIntrinsic(IntrinsicInst &Call) {
  Events All;
  All.ByCollider = skipOf(Call);
  if (const auto I = asInstruction(Call.getCalledFunction()->getName()))
    addInstruction(All, Call, *I);
  else
    All.Unlisted = All.ByCollider;
  if (All.List.empty() && endsWindow(Call))
    All.add(Opaque());
  return All;
}

} // namespace crsan
