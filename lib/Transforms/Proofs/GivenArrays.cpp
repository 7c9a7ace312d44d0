// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel works on.

#include "Proofs/GivenArrays.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace crsan {

/// Each costs every warp some instructions.
static constexpr size_t MostPointers = 16;

GivenArrays::GivenArrays(Function &Kernel) {
  for (Instruction &I : instructions(Kernel)) {
    if (I.mayWriteToMemory() && !noteWrite(I)) {
      AreWritesKnown = AreAllKnown = false;
      return;
    }
    // Of functions that only read, it is not known what.
    const auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (Call && !Call->isInlineAsm() && !(Callee && Callee->isDeclaration()))
      AreAllKnown = false;
  }
}

/// Null: the kernel is not given `Object`, or too much.
GivenArrays::Array *GivenArrays::arrayOf(const Value *Object) {
  Array Found = {};
  Found.T = Object->getType();
  if (auto *A = dyn_cast<Argument>(Object)) {
    if (!A->getType()->isPointerTy() || A->hasByValAttr())
      return nullptr;
    Found.Of = const_cast<Argument *>(A);
  } else {
    const auto *Load = dyn_cast<LoadInst>(Object);
    if (!Load || !Load->isSimple() || !Load->getType()->isPointerTy())
      return nullptr;
    const DataLayout &DL = Load->getDataLayout();
    const Value *From = Load->getPointerOperand();
    APInt At(DL.getIndexTypeSizeInBits(From->getType()), 0);
    auto *Of = dyn_cast<Argument>(
        From->stripAndAccumulateConstantOffsets(DL, At, true));
    if (!Of || !Of->hasByValAttr())
      return nullptr;
    Found.Of = const_cast<Argument *>(Of);
    Found.At = At.getSExtValue();
  }
  for (Array &A : All)
    if (A.Of == Found.Of && A.At == Found.At)
      return &A;
  return All.size() == MostPointers ? nullptr : &All.emplace_back(Found);
}

/// Empty if they are not known.
SmallVector<const Value *, 4>
GivenArrays::objectsOf(const Value *Pointer) const {
  SmallVector<const Value *, 4> Objects;
  // What assembly is given.
  if (auto *Cast = dyn_cast<PtrToIntOperator>(Pointer))
    Pointer = Cast->getPointerOperand();
  if (Pointer->getType()->isPointerTy())
    getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/0);
  return Objects;
}

/// No allocation that a pointer is given to has variables in it.
static bool isElsewhere(const Value *Object) {
  return isa<AllocaInst, GlobalVariable, ConstantPointerNull, UndefValue>(
      Object);
}

/// False if it may be anywhere.
bool GivenArrays::noteWritten(const Value *Pointer) {
  const auto Objects = objectsOf(Pointer);
  for (const Value *Object : Objects) {
    if (isElsewhere(Object))
      continue;
    Array *A = arrayOf(Object);
    if (!A)
      return false;
    A->IsWritten = true;
  }
  return !Objects.empty();
}

/// False if it may write anywhere.
bool GivenArrays::noteWrite(Instruction &I) {
  // These only order.
  if (isa<FenceInst, LoadInst>(I))
    return true;
  if (const auto To = MemoryLocation::getOrNone(&I))
    return noteWritten(To->Ptr);
  if (auto *Fill = dyn_cast<AnyMemIntrinsic>(&I))
    return noteWritten(Fill->getRawDest());
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  const Events All = eventsOf(I);
  for (const Event &E : All.List) {
    // Whoever waits for another grid may run beside it.
    const auto *Called = std::get_if<crsan::Call>(&E);
    if (isOneOf<Unknown, Learn>(E) || (Called && !Called->IsKnown))
      return false;
    // What is given to a kernel is not in shared memory.
    const Access *A = anyAccess(E);
    if (A && A->writes() && !isSharedSpace(A->Where.Space) &&
        !noteWritten(A->Where.Base))
      return false;
  }
  if (Call->isInlineAsm())
    return All.Unlisted == Skip::None || All.Unlisted == Skip::Private;
  if (isa<IntrinsicInst>(Call))
    return all_of(Call->args(), [&](const Value *V) {
      return !V->getType()->isPointerTy() || noteWritten(V);
    });
  // printf and the like.
  const Function *Callee = Call->getCalledFunction();
  return Callee && Callee->isDeclaration();
}

/// Whether `Pointer` leads to something in front of `Object`.
static bool isInFront(const Value *Pointer, const Value *Object,
                      ScalarEvolution &SE) {
  const SCEV *Distance =
      SE.getMinusSCEV(SE.getSCEV(const_cast<Value *>(Pointer)),
                      SE.getSCEV(const_cast<Value *>(Object)));
  return !isa<SCEVCouldNotCompute>(Distance) &&
         SE.getSignedRangeMax(Distance).isNegative();
}

void GivenArrays::add(const Instruction &I, const Access &E,
                      const AddressFacts &Facts) {
  const auto Objects =
      E.Where.Base ? objectsOf(E.Where.Base) : SmallVector<const Value *, 4>();
  if (Objects.empty())
    AreAllKnown = false;
  for (const Value *Object : Objects) {
    if (isElsewhere(Object))
      continue;
    Array *A = arrayOf(Object);
    if (!A) {
      AreAllKnown = false;
      continue;
    }
    const bool IsPointer = E.Where.Base->getType()->isPointerTy();
    const auto Where = Objects.size() == 1 && IsPointer
                           ? Spread::of(E, I, Object, Facts)
                           : std::nullopt;
    A->MayBeEnd |= IsPointer && isInFront(E.Where.Base, Object, Facts.SE);
    if (!Where || !Where->allOfCommon([&](const Value *V) {
          return Facts.Among.isConstant(V);
        }))
      A->IsOwn = false;
    else if (!A->IsAccessed)
      A->Where = Where;
    else if (A->IsOwn)
      A->Where = A->Where->hull(*Where);
    A->IsOwn &= A->Where.has_value();
    A->IsAccessed = true;
  }
}

std::optional<unsigned> GivenArrays::harmless(const Access &E) {
  if (!AreWritesKnown || !E.Where.Base ||
      !E.Where.Base->getType()->isPointerTy())
    return std::nullopt;
  const auto Objects = objectsOf(E.Where.Base);
  const Array *A = Objects.size() == 1 && !isElsewhere(Objects[0])
                       ? arrayOf(Objects[0])
                       : nullptr;
  if (!A || (A->IsWritten && !(AreAllKnown && A->IsOwn)))
    return std::nullopt;
  return A - All.begin();
}

Value *GivenArrays::emitIsHarmless(IRBuilder<> &B, unsigned Number,
                                   function_ref<Value *(Value *)> Owner) {
  auto NumbersOf = [&](Array &A) -> ArrayRef<Value *> {
    if (!A.Numbers.empty())
      return A.Numbers;
    Value *Pointer = A.Of;
    if (A.At)
      // A packed structure need not keep its pointers aligned.
      Pointer = B.CreateAlignedLoad(
          A.T, B.CreateConstGEP1_64(B.getInt8Ty(), A.Of, *A.At),
          commonAlignment(
              A.Of->getPointerAlignment(B.GetInsertBlock()->getDataLayout()),
              *A.At));
    Value *Address = B.CreatePtrToInt(
        B.CreateAddrSpaceCast(Pointer, B.getPtrTy()), B.getInt64Ty());
    A.Numbers = {Owner(Address)};
    if (A.MayBeEnd)
      A.Numbers.push_back(Owner(B.CreateSub(Address, B.getInt64(1))));
    return A.Numbers;
  };
  Array &Mine = All[Number];
  Value *Holds = nullptr;
  auto Differ = [&](Value *A, Value *O) {
    Value *V = B.CreateICmpNE(A, O);
    Holds = Holds ? B.CreateAnd(Holds, V) : V;
  };
  for (Value *N : NumbersOf(Mine))
    Differ(N, B.getInt32(0));
  // Of two that are only read, it does not matter.
  for (Array &Other : All)
    if (&Other != &Mine &&
        (Other.IsWritten || (Mine.IsWritten && Other.IsAccessed)))
      for (Value *N : NumbersOf(Mine))
        for (Value *O : NumbersOf(Other))
          Differ(N, O);
  if (Mine.IsWritten)
    Holds = B.CreateAnd(Holds, Mine.Where->emitAreApart(B));
  return Holds;
}

} // namespace crsan
