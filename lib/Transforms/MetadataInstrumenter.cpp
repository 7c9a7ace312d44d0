//===- MetadataInstrumenter.cpp - Following a function's events -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetadataInstrumenter.h"
#include "DeviceRuntime.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

STATISTIC(NumFollowedWeak, "Number of weak accesses that metadata follow");
STATISTIC(NumFollowedStrong, "Number of strong accesses that metadata follow");
STATISTIC(NumUnknown, "Number of instructions that may synchronise anyhow");

namespace crsan {

static bool isKernel(const Function &F) {
  return F.getCallingConv() == CallingConv::PTX_Kernel;
}

MetadataInstrumenter::MetadataInstrumenter(Function &F, SiteTable &Table,
                                           StringRef Kernel)
    : F(F), Table(Table), Kernel(Kernel) {
  for (Instruction &I : instructions(F)) {
    for (const Event &E : eventsOf(I).List)
      Steps.push_back({&I, E});
    if (isKernel(F) && isa<ReturnInst>(I))
      Steps.push_back({&I, {Event::Kind::Leave}});
  }
}

void MetadataInstrumenter::run(bool IsLeaky) {
  for (Step &S : Steps)
    if (S.What.What == Event::Kind::Weak || S.What.What == Event::Kind::Strong)
      S.Site = siteOf(S);
  for (const Step &S : Steps)
    emitBefore(S);
  // Each just behind its instruction, so the last one first.
  for (const Step &S : reverse(Steps))
    emitAfter(S);

  IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  if (isKernel(F))
    call(B, EnterName, B.getInt32(IsLeaky ? abi::EnterLeaky : 0));
  else if (!F.hasLocalLinkage() || F.hasAddressTaken())
    call(B, CalledName, {});
}

Constant *MetadataInstrumenter::siteOf(const Step &S) {
  const Event &E = S.What;
  abi::AccessSite Site = {};
  Site.Size = E.Size;
  Site.Flags = E.Flags;
  Site.Scope = E.Scope;
  Site.Order = E.Order;
  Site.MemorySpace = uint8_t(spaceOf(E.Where.Space));
  ++(E.What == Event::Kind::Weak ? NumFollowedWeak : NumFollowedStrong);
  return ConstantExpr::getAddrSpaceCast(
      Table.addAccess(*S.Inst, Kernel, Site, E.WholeSize),
      PointerType::get(F.getContext(), 0));
}

void MetadataInstrumenter::emitBefore(const Step &S) {
  IRBuilder<> B(S.Inst);
  const Event &E = S.What;
  switch (E.What) {
  case Event::Kind::Weak:
    if (E.Length)
      return call(B, RangeName,
                  {S.Site, emitAddress(B, E.Where),
                   B.CreateZExtOrTrunc(E.Length, B.getInt64Ty())});
    return call(B, AccessName, {S.Site, emitAddress(B, E.Where)});
  case Event::Kind::Strong:
    return call(B, StrongName, {S.Site, emitAddress(B, E.Where)});
  case Event::Kind::WarpBarrier:
    return call(B, WarpBarrierName,
                B.CreateZExtOrTrunc(E.Mask, B.getInt32Ty()));
  case Event::Kind::BlockBarrier:
    return call(B, BlockArriveName, {});
  case Event::Kind::Publish:
    return call(B, PublishName,
                {emitAddress(B, E.Where), B.getInt32(uint32_t(E.Scope))});
  case Event::Kind::Call:
    return call(B, CallingName, {});
  case Event::Kind::Leave:
    return call(B, LeaveName, {});
  case Event::Kind::Fence:
  case Event::Kind::Collect:
  case Event::Kind::Unknown:
    return;
  }
}

void MetadataInstrumenter::emitAfter(const Step &S) {
  if (S.Inst->isTerminator())
    return;
  IRBuilder<> B(S.Inst->getNextNode());
  B.SetCurrentDebugLocation(S.Inst->getDebugLoc());
  const Event &E = S.What;
  switch (E.What) {
  case Event::Kind::Strong:
    return call(B, StrongDoneName,
                {S.Site, emitAddress(B, E.Where), emitSwapResult(B, S)});
  case Event::Kind::Fence:
    return call(B, FenceName, B.getInt32(uint32_t(E.Scope)));
  case Event::Kind::BlockBarrier:
    return call(B, BlockDepartName, {});
  case Event::Kind::Collect:
    return call(B, CollectName,
                {emitAddress(B, E.Where), B.getInt32(uint32_t(E.Scope))});
  case Event::Kind::Unknown:
    ++NumUnknown;
    return call(B, UnknownName, {});
  case Event::Kind::Call:
    return call(B, ReturnedName, {});
  case Event::Kind::Weak:
  case Event::Kind::WarpBarrier:
  case Event::Kind::Publish:
  case Event::Kind::Leave:
    return;
  }
}

/// The generic address of a place, as an integer.
Value *MetadataInstrumenter::emitAddress(IRBuilder<> &B, const Place &Where) {
  Type *I64 = B.getInt64Ty();
  Value *Base = Where.Base;
  if (!Base)
    return B.getInt64(Where.Offset);
  if (Base->getType()->isIntegerTy() &&
      Where.Space == NVPTXAS::ADDRESS_SPACE_GENERIC)
    Base = B.CreateZExtOrTrunc(Base, I64);
  else {
    // Assembly may name the space of what C++ has as a generic pointer or as an
    // integer.
    if (Base->getType()->isPointerTy() &&
        Base->getType()->getPointerAddressSpace() != Where.Space)
      Base = B.CreatePtrToInt(Base, I64);
    if (Base->getType()->isIntegerTy())
      Base = B.CreateIntToPtr(Base, B.getPtrTy(Where.Space));
    if (Where.Space != NVPTXAS::ADDRESS_SPACE_GENERIC)
      Base = B.CreateAddrSpaceCast(Base, B.getPtrTy());
    Base = B.CreatePtrToInt(Base, I64);
  }
  return Where.Offset ? B.CreateAdd(Base, B.getInt64(Where.Offset)) : Base;
}

/// 0: no compare-and-swap, or nobody knows; 1: it failed; 2: it succeeded.
Value *MetadataInstrumenter::emitSwapResult(IRBuilder<> &B, const Step &S) {
  Value *Expected = S.What.Expected;
  if (!Expected)
    return B.getInt32(0);
  Value *Succeeded;
  if (isa<AtomicCmpXchgInst>(S.Inst))
    Succeeded = B.CreateExtractValue(S.Inst, 1);
  else {
    Value *Found = S.Inst;
    if (S.What.Result >= 0)
      Found = B.CreateExtractValue(Found, S.What.Result);
    if (Found->getType() != Expected->getType() ||
        !Found->getType()->isIntOrPtrTy())
      return B.getInt32(0);
    Succeeded = B.CreateICmpEQ(Found, Expected);
  }
  return B.CreateSelect(Succeeded, B.getInt32(2), B.getInt32(1));
}

void MetadataInstrumenter::call(IRBuilder<> &B, StringRef Name,
                                ArrayRef<Value *> Arguments) {
  SmallVector<Type *, 3> Types;
  for (Value *Argument : Arguments)
    Types.push_back(Argument->getType());
  FunctionCallee Callee = F.getParent()->getOrInsertFunction(
      Name, FunctionType::get(B.getVoidTy(), Types, /*isVarArg=*/false));
  if (auto *Entry = dyn_cast<Function>(Callee.getCallee()))
    Entry->setConvergent();
  B.CreateCall(Callee, Arguments)->setConvergent();
}

bool mayLeaveUnnoticed(Module &M) {
  for (Function &F : M) {
    if (F.getName().starts_with("cudaLaunchDevice") ||
        F.getName().starts_with("cudaGetParameterBuffer"))
      return true;
    for (Instruction &I : instructions(F))
      if (eventsOf(I).MayLeave)
        return true;
  }
  return false;
}

} // namespace crsan
