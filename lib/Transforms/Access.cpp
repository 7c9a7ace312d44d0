//===- Access.cpp - What an instruction does to memory -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Omission.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace crsan {

namespace {

constexpr StringLiteral MarkName = "crsan.access";

/// The access group of the user's own accesses. An access group is the one kind
/// of metadata that says "this very access" to LLVM: intersected where accesses
/// merge, lost where one is speculated, kept where it is cloned.
MDNode *findMark(const Module &M) {
  const NamedMDNode *Named = M.getNamedMetadata(MarkName);
  return Named && Named->getNumOperands() ? Named->getOperand(0) : nullptr;
}

MDNode *getOrCreateMark(Module &M) {
  if (MDNode *Mark = findMark(M))
    return Mark;
  MDNode *Mark = MDNode::getDistinct(M.getContext(), {});
  M.getOrInsertNamedMetadata(MarkName)->addOperand(Mark);
  return Mark;
}

bool isMarked(const Instruction &I) {
  const MDNode *Group = I.getMetadata(LLVMContext::MD_access_group);
  const MDNode *Mark = findMark(*I.getModule());
  return Group && Mark &&
         (Group == Mark || is_contained(Group->operands(), Mark));
}

/// The bytes of a value of type `T`, without its padding (another thread may
/// own what lies there), as runs of (offset, size). False: cannot say.
bool collectRuns(const DataLayout &DL, Type *T, uint64_t Offset,
                 SmallVectorImpl<std::pair<uint64_t, uint64_t>> &Runs) {
  if (auto *S = dyn_cast<StructType>(T)) {
    const StructLayout *Layout = DL.getStructLayout(S);
    for (unsigned I = 0; I < S->getNumElements(); ++I)
      if (!collectRuns(DL, S->getElementType(I),
                       Offset + Layout->getElementOffset(I), Runs))
        return false;
    return true;
  }
  if (auto *A = dyn_cast<ArrayType>(T)) {
    const uint64_t Stride = DL.getTypeAllocSize(A->getElementType());
    if (A->getNumElements() > 64)
      return false;
    for (uint64_t I = 0; I < A->getNumElements(); ++I)
      if (!collectRuns(DL, A->getElementType(), Offset + I * Stride, Runs))
        return false;
    return true;
  }
  const TypeSize Bits = DL.getTypeSizeInBits(T);
  if (Bits.isScalable() || (isa<VectorType>(T) && Bits.getFixedValue() % 8))
    return false;
  const uint64_t Size = DL.getTypeStoreSize(T);
  if (!Runs.empty() && Runs.back().first + Runs.back().second == Offset)
    Runs.back().second += Size;
  else
    Runs.push_back({Offset, Size});
  return true;
}

void addTyped(Effect &E, Instruction &I, Value *Pointer, Align Alignment,
              Type *T, Value *Stored, abi::AccessKind Kind) {
  const DataLayout &DL = I.getDataLayout();
  SmallVector<std::pair<uint64_t, uint64_t>, 4> Runs;
  if (!collectRuns(DL, T, 0, Runs)) {
    E.Skipped = Skip::Unsupported;
    return;
  }
  const uint64_t WholeSize = DL.getTypeStoreSize(T);
  for (auto [Offset, Size] : Runs) {
    E.Accesses.push_back(
        {&I, Pointer, Alignment, Offset, Size, WholeSize, Stored, Kind});
    Stored = nullptr;
  }
}

Effect effectOfMemory(MemIntrinsic &M) {
  Effect E;
  if (M.isVolatile()) {
    E.Skipped = Skip::Strong;
    E.Synchronises = true;
    return E;
  }
  const auto *Length = dyn_cast<ConstantInt>(M.getLength());
  const uint64_t Size = Length ? Length->getZExtValue() : 0;
  auto Add = [&](Value *Pointer, MaybeAlign Alignment, Value *Stored,
                 abi::AccessKind Kind) {
    if (isPrivate(Pointer) || (Length && Size == 0))
      return;
    E.Accesses.push_back(
        {&M, Pointer, Alignment.valueOrOne(), 0, Size, Size, Stored, Kind});
    if (!Length) {
      // Nothing is known of the value, not even that there is one.
      E.Accesses.back().Stored = nullptr;
      E.Accesses.back().Length = M.getLength();
    }
  };
  Value *Stored = nullptr;
  if (auto *Set = dyn_cast<MemSetInst>(&M))
    Stored = Set->getValue();
  Add(M.getRawDest(), M.getDestAlign(), Stored, abi::AccessKind::Store);
  if (auto *Copy = dyn_cast<MemTransferInst>(&M)) {
    if (isMarked(M))
      Add(Copy->getRawSource(), Copy->getSourceAlign(), nullptr,
          abi::AccessKind::Load);
    else if (!isPrivate(Copy->getRawSource()))
      E.Skipped = Skip::Speculated;
  }
  if (E.Accesses.empty() && E.Skipped == Skip::None)
    E.Skipped = Skip::Private;
  return E;
}

/// Rule 3: everything that is not known to be harmless may synchronise.
bool callSynchronises(const CallBase &Call) {
  if (isa<DbgInfoIntrinsic>(Call) || Call.isLifetimeStartOrEnd())
    return false;
  const auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call);
  if (!Intrinsic)
    return true;
  if (isa<AssumeInst>(Call))
    return false;
  const bool NoMemory =
      Call.doesNotAccessMemory() || Call.onlyAccessesInaccessibleMemory();
  return !NoMemory || Call.isConvergent() || !Call.willReturn();
}

/// Rule 6: what inline PTX does is read from its text.
Effect effectOfAssembly(const InlineAsm &Asm) {
  const ptx::BodyClass Body = ptx::classifyInline(Asm.getAsmString());
  Effect E;
  E.Synchronises = !Body.KeepsWindow;
  if (Body.Unchecked)
    E.Skipped = skipOf(*Body.Unchecked);
  return E;
}

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

} // namespace

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

bool isPrivateSpace(unsigned AddressSpace) {
  return AddressSpace == NVPTXAS::ADDRESS_SPACE_LOCAL ||
         AddressSpace == NVPTXAS::ADDRESS_SPACE_CONST ||
         AddressSpace == NVPTXAS::ADDRESS_SPACE_PARAM;
}

bool isPrivate(const Value *Pointer) {
  auto Space = [](const Value *V) {
    return V->getType()->getPointerAddressSpace();
  };
  auto Spaced = [&](const Value *V) { return isPrivateSpace(Space(V)); };
  if (Spaced(Pointer))
    return true;
  const Value *Object = getUnderlyingObject(Pointer, /*MaxLookup=*/0);
  if (isa<AllocaInst>(Object) || Spaced(Object))
    return true;
  if (const auto *Arg = dyn_cast<Argument>(Object))
    return Arg->hasByValAttr();
  if (const auto *G = dyn_cast<GlobalVariable>(Object))
    return G->isConstant();
  return false;
}

abi::Space spaceOf(unsigned AddressSpace) {
  switch (AddressSpace) {
  case NVPTXAS::ADDRESS_SPACE_GLOBAL:
    return abi::Space::Global;
  case NVPTXAS::ADDRESS_SPACE_SHARED:
    return abi::Space::Shared;
  case NVPTXAS::ADDRESS_SPACE_SHARED_CLUSTER:
    return abi::Space::Cluster;
  default:
    return abi::Space::Generic;
  }
}

uint8_t flagsOf(abi::AccessKind Kind) {
  switch (Kind) {
  case abi::AccessKind::Load:
    return abi::ReadsMemory;
  case abi::AccessKind::Store:
    return abi::WritesMemory;
  case abi::AccessKind::Update:
    return abi::ReadsMemory | abi::WritesMemory;
  }
  llvm_unreachable("not an AccessKind");
}

bool isIgnored(const Instruction &I) {
  return I.hasMetadata(LLVMContext::MD_nosanitize);
}

static Effect effectOfUsers(Instruction &I) {
  Effect E;
  if (auto *Load = dyn_cast<LoadInst>(&I)) {
    if (isPrivate(Load->getPointerOperand()))
      E.Skipped = Skip::Private;
    else if (!Load->isSimple()) {
      E.Skipped = Skip::Strong;
      E.Synchronises = true;
    } else if (!isMarked(I))
      E.Skipped = Skip::Speculated;
    else
      addTyped(E, I, Load->getPointerOperand(), Load->getAlign(),
               Load->getType(), nullptr, abi::AccessKind::Load);
    return E;
  }
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    if (isPrivate(Store->getPointerOperand()))
      E.Skipped = Skip::Private;
    else if (!Store->isSimple()) {
      E.Skipped = Skip::Strong;
      E.Synchronises = true;
    } else
      addTyped(E, I, Store->getPointerOperand(), Store->getAlign(),
               Store->getValueOperand()->getType(), Store->getValueOperand(),
               abi::AccessKind::Store);
    return E;
  }
  if (auto *Memory = dyn_cast<MemIntrinsic>(&I))
    return effectOfMemory(*Memory);
  if (isa<AtomicRMWInst, AtomicCmpXchgInst, FenceInst>(I)) {
    E.Skipped = Skip::Strong;
    E.Synchronises = true;
  } else if (auto *Call = dyn_cast<CallBase>(&I)) {
    if (const auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
      return effectOfAssembly(*Asm);
    E.Synchronises = callSynchronises(*Call);
    if (const auto *Intrinsic = dyn_cast<IntrinsicInst>(Call))
      E.Skipped = skipOf(*Intrinsic);
  } else
    E.Synchronises = I.mayReadOrWriteMemory();
  return E;
}

Effect effectOf(Instruction &I) {
  Effect E = effectOfUsers(I);
  if (isIgnored(I) && (isOmission(E.Skipped) || !E.Accesses.empty())) {
    E.Accesses.clear();
    E.Skipped = Skip::Ignored;
  }
  return E;
}

void ignoreAccesses(Function &F) {
  MDNode *None = MDNode::get(F.getContext(), {});
  for (Instruction &I : instructions(F))
    if (I.mayReadOrWriteMemory())
      I.setMetadata(LLVMContext::MD_nosanitize, None);
}

void markAccesses(Function &F) {
  MDNode *Mark = getOrCreateMark(*F.getParent());
  for (Instruction &I : instructions(F))
    if (isa<LoadInst, StoreInst, MemIntrinsic>(I))
      I.setMetadata(
          LLVMContext::MD_access_group,
          uniteAccessGroups(I.getMetadata(LLVMContext::MD_access_group), Mark));
}

bool mayWait(const Instruction &I) {
  auto InShared = [](const Value *Pointer) {
    return Pointer->getType()->getPointerAddressSpace() ==
           NVPTXAS::ADDRESS_SPACE_SHARED;
  };
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return !Load->isSimple() && !InShared(Load->getPointerOperand()) &&
           !isPrivate(Load->getPointerOperand());
  if (const auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    return !InShared(Swap->getPointerOperand());
  if (const auto *Update = dyn_cast<AtomicRMWInst>(&I))
    return !Update->use_empty() && !InShared(Update->getPointerOperand());
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<IntrinsicInst>(Call))
    return Call && !Call->use_empty() && Call->mayWriteToMemory() &&
           !Call->onlyAccessesInaccessibleMemory();
  if (const auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand())) {
    const ptx::BodyClass Body = ptx::classifyInline(Asm->getAsmString());
    if (Body.KeepsWindow && !Body.AccessesMemory)
      return false;
  }
  return Call->mayReadOrWriteMemory();
}

} // namespace crsan
