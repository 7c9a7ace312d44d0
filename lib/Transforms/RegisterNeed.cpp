// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many registers a kernel needs without checks.

#include "RegisterNeed.h"
#include "Events/Operands.h"
#include "PTX/RegisterLimits.h"
#include "Polls.h"
#include "crsan/abi/Names.h"
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
/// at no cost: constant offsets of addresses, and casts of pointers. Arguments
/// are none: they are in constant memory.
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
    const SmallVector<const BasicBlock *> Order(post_order(&F.getEntryBlock()));
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

/// Attributes of kernels whose registers the user has limited.
constexpr StringLiteral Bounds[] = {"nvvm.maxnreg", "nvvm.maxntid",
                                    "nvvm.reqntid", "nvvm.minctasm"};

/// Whether functions are called.
bool calls(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    return Call && !isa<IntrinsicInst>(Call) && !Call->isInlineAsm();
  });
}

} // namespace

std::optional<unsigned> liveRegisters(const Function &F) {
  constexpr unsigned MostInstructions = 20000;
  if (F.getInstructionCount() > MostInstructions)
    return std::nullopt;
  return Liveness(F).most();
}

SmallPtrSet<const Function *, 4> tellRegisterNeeds(Module &M, bool OfFew) {
  // Kernels with up to 31 live registers fit into ptx::FullResidency without
  // checks (80 kernels of the benchmark suite). With checks, those with more
  // than 22 spill, which costs as much as the additional warps save.
  constexpr unsigned Few = 22;
  SmallPtrSet<const Function *, 4> Large;
  for (Function &F : M) {
    if (F.isDeclaration() || !isKernel(F) || F.hasOptNone() ||
        F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
      continue;
    const std::optional<unsigned> Live = liveRegisters(F);
    if (!Live)
      continue;
    auto Tell = [&](StringRef Comment) {
      M.appendModuleInlineAsm((Comment + F.getName()).str());
    };
    // Called functions take registers, too.
    if (*Live <= Few && OfFew && !calls(F))
      Tell(abi::FewRegistersComment);
    // One that may wait for other blocks may use no more than its twin.
    if (*Live <= ptx::LargestBlock || mayWait(reachableFrom(F)) ||
        any_of(Bounds, [&](StringRef B) { return F.hasFnAttribute(B); }))
      continue;
    Tell(abi::ManyRegistersComment);
    Large.insert(&F);
  }
  return Large;
}

} // namespace crsan
