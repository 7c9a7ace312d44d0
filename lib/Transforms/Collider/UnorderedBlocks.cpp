// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose blocks nothing orders.

#include "Collider/UnorderedBlocks.h"
#include "Events/Event.h"
#include "Events/Operands.h"
#include "Polls.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace crsan {

/// Whether the instruction calls a function that is known, and that takes and
/// frees no memory of the heap. The bodies of this module's functions are
/// examined as well (hasUnorderedBlocks).
static bool callsKnown(const Instruction &I, const Call &Event) {
  const Function *Callee = cast<CallBase>(I).getCalledFunction();
  return Event.IsKnown && Callee && heapUseOf(*Callee) == HeapUse::None;
}

/// A relaxed operation orders other accesses only together with a fence, and a
/// fence excludes the kernel.
static bool isRelaxed(const Event &E) {
  const Access *A = asAccess(E);
  return A && A->isStrong() && A->Order == abi::MemoryOrder::Relaxed &&
         !(A->Roles & abi::IsVolatile);
}

/// Whether the instruction cannot order two warps, unless it is a barrier of
/// all threads of the block.
static bool isWithoutOrder(const Instruction &I) {
  const Events All = eventsOf(I);
  const bool IsListed = All.Unlisted == Skip::None ||
                        All.Unlisted == Skip::Private ||
                        All.Unlisted == Skip::Speculated;
  return IsListed && !All.Branches && all_of(All.List, [&](const Event &E) {
           const auto *C = std::get_if<Call>(&E);
           return C ? callsKnown(I, *C)
                    : isRelaxed(E) || !mayOrderBeyondBarriers(E);
         });
}

bool hasUnorderedBlocks(Function &Kernel) {
  return isKernel(Kernel) && all_of(reachableFrom(Kernel), [](Function *F) {
           return all_of(instructions(*F), isWithoutOrder);
         });
}

bool isBlockBarrier(const Instruction &I) {
  return eventsOf(I).has<BlockBarrier>();
}

bool hasOwnBarriers(Function &Kernel) {
  return all_of(reachableFrom(Kernel), [&](Function *F) {
    return F == &Kernel || none_of(instructions(*F), isBlockBarrier);
  });
}

} // namespace crsan
