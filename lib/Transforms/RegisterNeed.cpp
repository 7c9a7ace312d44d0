// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many registers a kernel needs without checks.

#include "RegisterNeed.h"
#include "Events/Operands.h"
#include "NativeTwin.h"
#include "PTX/RegisterLimits.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetOperations.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace crsan {

namespace {

using Values = SmallPtrSet<const Instruction *, 32>;

/// The instruction whose result `V` is, up to what a machine instruction does
/// by the way: constant offsets of addresses, and casts of pointers.
const Instruction *valueOf(const Value *V) {
  while (true) {
    if (const auto *Gep = dyn_cast<GEPOperator>(V);
        Gep && Gep->hasAllConstantIndices())
      V = Gep->getPointerOperand();
    else if (isa<BitCastOperator, AddrSpaceCastOperator>(V))
      V = cast<Operator>(V)->getOperand(0);
    else
      return dyn_cast<Instruction>(V);
  }
}

class Liveness {
public:
  explicit Liveness(const Function &F) : DL(F.getDataLayout()) {
    const auto Order = post_order(&F.getEntryBlock());
    for (bool Changes = true; Changes;) {
      Changes = false;
      for (const BasicBlock *BB : Order) {
        Values Live = behind(*BB);
        visit(*BB, Live);
        Changes |= set_union(Before[BB], Live);
      }
    }
  }
  unsigned most() const { return Most; }

private:
  /// Those that are live behind a block.
  Values behind(const BasicBlock &BB) {
    Values Live;
    for (const BasicBlock *Next : successors(&BB)) {
      set_union(Live, Before[Next]);
      for (const PHINode &Phi : Next->phis())
        if (const Instruction *I = valueOf(Phi.getIncomingValueForBlock(&BB)))
          Live.insert(I);
    }
    return Live;
  }
  /// Goes through a block from its end, with those that are live there.
  void visit(const BasicBlock &BB, Values &Live) {
    unsigned Now = 0;
    for (const Instruction *I : Live)
      Now += registersOf(*I);
    auto Add = [&](const Value *V) {
      if (const Instruction *I = valueOf(V); I && Live.insert(I).second)
        Now += registersOf(*I);
    };
    for (const Instruction &I : reverse(BB)) {
      Most = std::max(Most, Now);
      if (Live.erase(&I))
        Now -= registersOf(I);
      if (!isa<PHINode>(I) && valueOf(&I) == &I)
        for (const Value *V : I.operands())
          Add(V);
    }
  }
  unsigned registersOf(const Instruction &I) const {
    // Predicates have registers of their own, and addresses of variables are
    // constants.
    if (I.getType()->isIntegerTy(1) || !I.getType()->isSized() ||
        isa<AllocaInst>(I))
      return 0;
    return divideCeil(DL.getTypeSizeInBits(I.getType()).getFixedValue(), 32);
  }

  const DataLayout &DL;
  DenseMap<const BasicBlock *, Values> Before;
  unsigned Most = 0;
};

/// Whether functions are called.
bool calls(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    return Call && !isa<IntrinsicInst>(Call) && !Call->isInlineAsm();
  });
}

} // namespace

unsigned liveRegisters(const Function &F) {
  constexpr unsigned MostInstructions = 20000;
  return F.getInstructionCount() < MostInstructions ? Liveness(F).most()
                                                    : UnknownRegisters;
}

void limitRegisters(Module &M) {
  // None of 80 kernels with at most 31 took more than FullResidency without
  // checks. Above 22, what is spilt costs as much as the warps save.
  constexpr unsigned MostLive = 22;
  for (Function &F : M)
    if (!F.isDeclaration() && isKernel(F) && !isNativeTwin(F) &&
        !F.hasOptNone() && !F.hasFnAttribute("nvvm.maxnreg") &&
        !F.hasFnAttribute("nvvm.minctasm") && !calls(F) &&
        liveRegisters(F) <= MostLive)
      F.addFnAttr("nvvm.maxnreg", utostr(ptx::FullResidency));
}

} // namespace crsan
