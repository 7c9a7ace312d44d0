// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses that a compiler can know to be valid.

#include "Proofs/KnownAddresses.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace crsan {

namespace {

/// The number that has been converted to a pointer; null: none has.
const Value *convertedNumber(const Value &Pointer) {
  const auto *Cast = dyn_cast<Operator>(&Pointer);
  return Cast && Cast->getOpcode() == Instruction::IntToPtr
             ? Cast->getOperand(0)
             : nullptr;
}

} // namespace

KnownAddresses::KnownAddresses(Function &F, ScalarEvolution &SE,
                               const DominatorTree &Dominators)
    : SE(SE), Dominators(Dominators), Layout(F.getDataLayout()) {
  for (const Instruction &I : instructions(F)) {
    if (isa<CallBase>(I) && I.mayWriteToMemory())
      Calls[I.getParent()].push_back(&I);
    const auto Location = MemoryLocation::getOrNone(&I);
    if (Location && Location->Size.isPrecise()) {
      const auto [From, Begin] = placeOf(*Location->Ptr);
      const int64_t Size = Location->Size.getValue().getFixedValue();
      Accesses[From].push_back({&I, Begin, Begin + Size});
    }
  }
}

/// Two conversions of one number are one address.
const SCEV *KnownAddresses::addressOf(const Value &Pointer) {
  const SCEV *Address = SE.getSCEV(const_cast<Value *>(&Pointer));
  const auto *Base = dyn_cast<SCEVUnknown>(SE.getPointerBase(Address));
  const Value *Number = Base ? convertedNumber(*Base->getValue()) : nullptr;
  if (!Number)
    return Address;
  const SCEV *Distance = SE.getMinusSCEV(Address, Base);
  return SE.getAddExpr(SE.getSCEV(const_cast<Value *>(Number)),
                       SE.getTruncateOrZeroExtend(Distance, Number->getType()));
}

KnownAddresses::Place KnownAddresses::placeOf(const Value &Pointer) {
  const SCEV *Address = addressOf(Pointer);
  const auto *Sum = dyn_cast<SCEVAddExpr>(Address);
  const auto *First =
      Sum ? dyn_cast<SCEVConstant>(Sum->getOperand(0)) : nullptr;
  if (!First)
    return {Address, 0};
  return {SE.getMinusSCEV(Address, First), First->getAPInt().getSExtValue()};
}

/// A variable whose size is known, at an index that cannot lie outside.
bool KnownAddresses::isWithinVariable(const LoadInst &Load) {
  const SCEV *Address =
      SE.getSCEV(const_cast<Value *>(Load.getPointerOperand()));
  const auto *Base = dyn_cast<SCEVUnknown>(SE.getPointerBase(Address));
  const auto *Variable =
      Base ? dyn_cast<GlobalVariable>(Base->getValue()) : nullptr;
  if (!Variable)
    return Base && isa<AllocaInst>(Base->getValue());
  const APInt Most = SE.getUnsignedRangeMax(SE.getMinusSCEV(Address, Base));
  const uint64_t Size = Layout.getTypeAllocSize(Variable->getValueType());
  const uint64_t Read = Layout.getTypeStoreSize(Load.getType());
  return Most.ule(Size) && Most.getZExtValue() + Read <= Size;
}

/// On each path from one to the other, which the first dominates. False if that
/// is not obvious.
bool KnownAddresses::isCallBetween(const Instruction &From,
                                   const Instruction &To) const {
  const auto InFirst = Calls.lookup(From.getParent());
  const auto *Next = partition_point(InFirst, [&](const Instruction *Call) {
    return Call->comesBefore(&From);
  });
  if (From.getParent() == To.getParent())
    return Next != InFirst.end() && (*Next)->comesBefore(&To);
  const auto InLast = Calls.lookup(To.getParent());
  return Next != InFirst.end() ||
         (!InLast.empty() && InLast.front()->comesBefore(&To));
}

bool KnownAddresses::isKnown(const LoadInst &Load) {
  const auto [From, Begin] = placeOf(*Load.getPointerOperand());
  // A fixed place of an object, however the object was found.
  if (isa<SCEVUnknown, SCEVConstant>(From) || isWithinVariable(Load))
    return true;
  const int64_t End =
      Begin + Layout.getTypeStoreSize(Load.getType()).getFixedValue();
  return any_of(Accesses.lookup(From), [&, Begin = Begin](const Access &Other) {
    return Other.By != &Load && Other.Begin <= Begin && Other.End >= End &&
           Dominators.dominates(Other.By, &Load) &&
           !isCallBetween(*Other.By, Load);
  });
}

} // namespace crsan
