// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain read-modify-writes.

#include "Sites/PlainUpdate.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace crsan {

/// Values looked at on the way from one access to the other.
static constexpr unsigned MaxSteps = 24;

/// Whether a value is made of nothing but its operands.
static bool isComputed(const Instruction &I) {
  return !I.mayReadOrWriteMemory() && !I.isTerminator();
}

static bool areOfOneLocation(const LoadInst &L, const StoreInst &S) {
  return L.getPointerOperand()->stripPointerCasts() ==
             S.getPointerOperand()->stripPointerCasts() &&
         L.isSimple() && S.isSimple();
}

/// Whether the store writes what is made of a load of the same place.
static bool storesUpdate(const StoreInst &S) {
  SmallVector<const Value *, 8> Todo = {S.getValueOperand()};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Todo.empty() && Seen.size() < MaxSteps) {
    const auto *I = dyn_cast<Instruction>(Todo.pop_back_val());
    if (!I || !Seen.insert(I).second)
      continue;
    if (const auto *L = dyn_cast<LoadInst>(I)) {
      if (areOfOneLocation(*L, S))
        return true;
    } else if (isComputed(*I)) {
      append_range(Todo, I->operand_values());
    }
  }
  return false;
}

/// Whether a store of the same place writes what is made of the load.
static bool loadsForUpdate(const LoadInst &L) {
  SmallVector<const Instruction *, 8> Todo = {&L};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Todo.empty() && Seen.size() < MaxSteps) {
    const Instruction *I = Todo.pop_back_val();
    if (!Seen.insert(I).second)
      continue;
    for (const User *U : I->users()) {
      const auto *S = dyn_cast<StoreInst>(U);
      if (S && S->getValueOperand() == I && areOfOneLocation(L, *S))
        return true;
      if (const auto *Next = dyn_cast<Instruction>(U);
          Next && isComputed(*Next))
        Todo.push_back(Next);
    }
  }
  return false;
}

bool isOfPlainUpdate(const Instruction &I) {
  if (const auto *S = dyn_cast<StoreInst>(&I))
    return storesUpdate(*S);
  const auto *L = dyn_cast<LoadInst>(&I);
  return L && loadsForUpdate(*L);
}

} // namespace crsan
