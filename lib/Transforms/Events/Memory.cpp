// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which memory an access is of, and whose it is.

#include "Events/Memory.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Regex.h"

#include <optional>

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

} // namespace

bool isMarked(const Instruction &I) {
  const MDNode *Group = I.getMetadata(LLVMContext::MD_access_group);
  const MDNode *Mark = findMark(*I.getModule());
  return Group && Mark &&
         (Group == Mark || is_contained(Group->operands(), Mark));
}

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

bool isIgnored(const Instruction &I) {
  return I.hasMetadata(LLVMContext::MD_nosanitize);
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

/// The scope that the programming guide gives to CUDA's atomic function `F`, as
/// clang's __clang_cuda_device_functions.h defines it. Nothing: it is none.
static std::optional<SyncScope::ID> scopeOfLegacyAtomic(const Function &F) {
  static const Regex Name("^_ZL[0-9]+__[a-z]+Atomic[A-Z][A-Za-z]*(_system)?P");
  SmallVector<StringRef, 2> Groups;
  if (!Name.match(F.getName(), &Groups))
    return std::nullopt;
  return Groups[1].empty() ? F.getContext().getOrInsertSyncScopeID("device")
                           : SyncScope::System;
}

/// Whether clang's builtins, which CUDA's atomic functions call, give an
/// instruction this order and scope. A function of the user's that has such a
/// name may give it others.
static bool isAsBuiltin(AtomicOrdering Order, SyncScope::ID Scope) {
  return Order == AtomicOrdering::SequentiallyConsistent &&
         Scope == SyncScope::System;
}
static bool isAsBuiltin(const AtomicRMWInst &I) {
  return isAsBuiltin(I.getOrdering(), I.getSyncScopeID());
}
static bool isAsBuiltin(const AtomicCmpXchgInst &I) {
  return isAsBuiltin(I.getSuccessOrdering(), I.getSyncScopeID());
}

static constexpr StringLiteral RelaxedUpdate = "crsan.relaxed_update";

void markLegacyUpdates(Function &F) {
  if (!scopeOfLegacyAtomic(F))
    return;
  MDNode *None = MDNode::get(F.getContext(), {});
  for (Instruction &I : instructions(F))
    if (auto *Update = dyn_cast<AtomicRMWInst>(&I);
        Update && isAsBuiltin(*Update))
      Update->setMetadata(RelaxedUpdate, None);
}

bool isLegacyUpdate(const Instruction &I) {
  return I.hasMetadata(RelaxedUpdate);
}

void relaxLegacyAtomics(Function &F) {
  const std::optional<SyncScope::ID> Scope = scopeOfLegacyAtomic(F);
  if (!Scope)
    return;
  for (Instruction &I : instructions(F)) {
    if (auto *Update = dyn_cast<AtomicRMWInst>(&I);
        Update && isAsBuiltin(*Update)) {
      Update->setOrdering(AtomicOrdering::Monotonic);
      Update->setSyncScopeID(*Scope);
    } else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I);
               Swap && isAsBuiltin(*Swap)) {
      Swap->setSuccessOrdering(AtomicOrdering::Monotonic);
      Swap->setFailureOrdering(AtomicOrdering::Monotonic);
      Swap->setSyncScopeID(*Scope);
    }
  }
}

} // namespace crsan
