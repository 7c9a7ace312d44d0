// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a module's functions do.

#include "Metadata/ModuleEvents.h"
#include "Events/Operands.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace crsan {

bool hasCallersElsewhere(const Function &F) {
  return !isKernel(F) && (!F.hasLocalLinkage() || F.hasAddressTaken());
}

uint16_t countedBarriers(const EventPlan &Plan, const DataLayout &DL) {
  uint16_t Counted = 0;
  for (const EventPlan::Step &S : Plan.steps())
    if (const Location *Number = countedBarrier(S.What))
      Counted |= barrierNumbers(*Number, DL);
  return Counted;
}

/// Whether the call finds an address in another block's shared memory, or
/// writes there by an address of the own block.
static bool mapsShared(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  if (const auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand())) {
    const StringRef Text = Asm->getAsmString();
    return Text.contains("mapa") || Text.contains("multicast");
  }
  const auto *Intrinsic = dyn_cast<IntrinsicInst>(Call);
  if (!Intrinsic)
    return false;
  const StringRef Name = Intrinsic::getBaseName(Intrinsic->getIntrinsicID());
  return Name.starts_with("llvm.nvvm.mapa") ||
         Name.starts_with("llvm.nvvm.tcgen05.commit.mc");
}

/// Whether the event may be a step of synchronisation with the host: such steps
/// are of system scope.
static bool maySynchroniseWithHost(const Event &E) {
  const auto IsWide = [](abi::Scope Scope, const Location &Where) {
    return Scope == abi::Scope::System &&
           knownSpace(Where) != unsigned(abi::Space::Shared);
  };
  if (const auto *F = std::get_if<Fence>(&E))
    return F->Scope == abi::Scope::System;
  // Strong accesses of functions that the user exempted are such steps, too.
  if (const auto *A = std::get_if<Arrive>(&E))
    return A->Where.Base && IsWide(A->Scope, A->Where);
  if (const auto *W = std::get_if<Wait>(&E))
    return W->Where.Base && IsWide(W->Scope, W->Where);
  if (isStrong(E))
    return IsWide(asAccess(E)->Scope, asAccess(E)->Where);
  return isOneOf<Learn>(E);
}

void ModuleEvents::add(const Function &F, const EventPlan &Plan) {
  HasClusters |= any_of(instructions(F), mapsShared);
  for (const EventPlan::Step &S : Plan.steps()) {
    const Event &E = S.What;
    const auto *Async = std::get_if<AsyncAccess>(&E);
    HasClusters |= Async && Async->What.Blocks;
    const Access *A = isStrong(E) ? asAccess(E) : nullptr;
    const bool IsCall = std::holds_alternative<Call>(E);
    const bool IsUnknown = std::holds_alternative<Unknown>(E);
    const bool IsBarrier = std::holds_alternative<BlockBarrier>(E);
    HasUnknown |= IsUnknown;
    HasFences |= isOneOf<Fence, Unknown, Learn, Call>(E) ||
                 (A && A->Order > abi::MemoryOrder::Relaxed);
    // An update whose result is not used waits for nothing.
    HasSignals |=
        IsCall || (A && knownSpace(A->Where) != unsigned(abi::Space::Shared) &&
                   !((A->Flags & abi::IsAtomic) && S.Inst->use_empty()));
    TellsHost |= IsCall || IsUnknown || maySynchroniseWithHost(E);
    HasVolatile |= IsCall || (A && (A->Roles & abi::IsVolatile));
    HasBarriers |= IsBarrier || IsCall || IsUnknown;
    HasForeignBarriers |=
        IsCall || IsUnknown ||
        (IsBarrier && (!isa<IntrinsicInst>(S.Inst) || hasCallersElsewhere(F)));
  }
  CountedBarriers |= countedBarriers(Plan, F.getDataLayout());
  HasForeignBarriers |= CountedBarriers & 1;
}

} // namespace crsan
