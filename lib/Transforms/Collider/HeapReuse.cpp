// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that a kernel allocates and frees.

#include "Collider/HeapReuse.h"
#include "DeviceRuntime.h"
#include "Events/Event.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace crsan {

void orderHeapReuse(Function &F) {
  SmallVector<CallInst *, 8> Allocations, Frees;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I)) {
      const Function *Callee = Call->getCalledFunction();
      const HeapUse Use = Callee ? heapUseOf(*Callee) : HeapUse::None;
      if (Use == HeapUse::Takes)
        Allocations.push_back(Call);
      else if (Use == HeapUse::Frees)
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
