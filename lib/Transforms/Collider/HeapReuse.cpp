// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that a kernel allocates and frees.

#include "Collider/HeapReuse.h"
#include "DeviceRuntime.h"
#include "Events/Event.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace crsan {

/// The name of the function of CUDA's that is called, or nothing.
static StringRef externalCallee(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->isDeclaration() ? Callee->getName() : "";
}

void orderHeapReuse(Function &F) {
  SmallVector<CallInst *, 8> Allocations, Frees;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I)) {
      // Those of CUDA's device runtime use the same heap.
      if (eventsOf(*Call).has<Allocate>() ||
          externalCallee(*Call) == "cudaMalloc")
        Allocations.push_back(Call);
      else if (is_contained({"free", "cudaFree"}, externalCallee(*Call)))
        Frees.push_back(Call);
    }
  auto Fence = [](Instruction *Where, const DebugLoc &Line) {
    IRBuilder<> B(Where);
    B.SetCurrentDebugLocation(Line);
    callRuntime(B, HeapFenceName, {});
  };
  for (CallInst *Call : Allocations)
    Fence(Call->getNextNode(), Call->getDebugLoc());
  for (CallInst *Call : Frees)
    Fence(Call, Call->getDebugLoc());
}

} // namespace crsan
