// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters whose size the source says.

#include "ClusterDims.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"

using namespace llvm;

namespace crsan {

/// The value of the constant that a field of an annotation points to.
static const Constant *pointee(const Value *Field) {
  const auto *GV = dyn_cast<GlobalVariable>(Field->stripPointerCasts());
  return GV && GV->hasInitializer() ? GV->getInitializer() : nullptr;
}

void setClusterDims(Module &M) {
  const GlobalVariable *All = M.getNamedGlobal("llvm.global.annotations");
  if (!All || !All->hasInitializer())
    return;
  for (const Use &Entry : All->getInitializer()->operands()) {
    // What is annotated, the annotation, file, line, arguments.
    const auto *E = dyn_cast<ConstantStruct>(Entry);
    if (!E || E->getNumOperands() != 5)
      continue;
    auto *F = dyn_cast<Function>(E->getOperand(0)->stripPointerCasts());
    const auto *Name =
        dyn_cast_or_null<ConstantDataSequential>(pointee(E->getOperand(1)));
    const Constant *Arguments = pointee(E->getOperand(4));
    if (!F || !Name || !Name->isCString() || !Arguments ||
        Name->getAsCString() != "crsan.cluster_dims")
      continue;
    // Dimensions that are not named are 1.
    SmallVector<std::string, 3> Dimensions(3, "1");
    for (unsigned I = 0; I < 3; ++I)
      if (const auto *Size =
              dyn_cast_or_null<ConstantInt>(Arguments->getAggregateElement(I)))
        Dimensions[I] = utostr(Size->getZExtValue());
    F->addFnAttr("nvvm.cluster_dim", join(Dimensions, ","));
  }
}

} // namespace crsan
