// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memory that cannot race.

#include "Proofs/SharedVariables.h"
#include "Proofs/Cases.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace crsan {

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

static bool isShared(const Value *V) {
  const auto *G = dyn_cast<GlobalVariable>(V);
  return G && G->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED;
}

/// Its length is the launch's, and it begins where all others such do.
static bool isDynamic(const GlobalVariable &G) { return G.isDeclaration(); }

/// What the event may access; empty if that is not known.
static SmallVector<const Value *, 4> objectsOf(const Access &E) {
  SmallVector<const Value *, 4> Objects;
  if (E.Where.Base && E.Where.Base->getType()->isPointerTy())
    getUnderlyingObjects(E.Where.Base, Objects, nullptr, /*MaxLookup=*/0);
  return Objects;
}

/// Whether the instruction is one of a matrix (ldmatrix, stmatrix, wmma), and
/// accesses what its first operand points to.
static bool isMatrixAccess(const Instruction &I) {
  const Events All = eventsOf(I);
  return All.Unlisted == Skip::None && All.List.size() == 1 &&
         asAccess(All.List[0]) && asAccess(All.List[0])->Rows.Lanes;
}

/// Whether the number of a pointer is nothing but the address of what
/// assembly of one instruction accesses.
static bool isAddressOfAssembly(const PtrToIntOperator &Number) {
  return all_of(Number.users(), [&](const User *U) {
    const auto *Call = dyn_cast<CallInst>(U);
    if (!Call || !Call->isInlineAsm() || !isOneInstruction(*Call))
      return false;
    const Events All = eventsOf(*Call);
    const Access *A = All.List.size() == 1 ? asAccess(All.List[0]) : nullptr;
    return A && All.Unlisted == Skip::None &&
           A->Where.Base == Number.getPointerOperand() &&
           count_if(Call->args(), [&](const Value *V) {
             const auto *Cast = dyn_cast<PtrToIntOperator>(V);
             return Cast && Cast->getPointerOperand() == A->Where.Base;
           }) == 1;
  });
}

/// Whether the instruction is known to write.
static bool isWrite(const Instruction &I) {
  return any_of(eventsOf(I).List, [](const Event &E) {
    return asAccess(E) && asAccess(E)->writes();
  });
}

/// Whether the instruction only tells LLVM of its operands, and returns none.
static bool isAssumption(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->isAssumeLikeIntrinsic() &&
         !Call->getType()->isPointerTy();
}

/// Whether the kernel accesses `G` by loads, stores, atomics and matrix
/// instructions of addresses that it computes from it, and in no other way.
static bool isOwn(const Function &Kernel, const GlobalVariable &G) {
  SmallVector<const Value *> Pending = {&G};
  DenseSet<const Value *> Seen = {&G};
  while (!Pending.empty())
    for (const Use &U : Pending.pop_back_val()->uses()) {
      const User *By = U.getUser();
      const auto *I = dyn_cast<Instruction>(By);
      if (I && I->getFunction() != &Kernel)
        continue;
      if (isa<GEPOperator, AddrSpaceCastOperator, BitCastOperator, PHINode,
              SelectInst>(By)) {
        if (Seen.insert(By).second)
          Pending.push_back(By);
        continue;
      }
      if (const auto *Number = dyn_cast<PtrToIntOperator>(By);
          Number && isAddressOfAssembly(*Number))
        continue;
      if (!I)
        return false;
      const bool IsAccess =
          isa<LoadInst, ICmpInst, AnyMemIntrinsic>(I) ||
          (isa<StoreInst>(I) &&
           U.getOperandNo() == StoreInst::getPointerOperandIndex()) ||
          (isa<AtomicRMWInst>(I) &&
           U.getOperandNo() == AtomicRMWInst::getPointerOperandIndex()) ||
          (isa<AtomicCmpXchgInst>(I) &&
           U.getOperandNo() == AtomicCmpXchgInst::getPointerOperandIndex());
      // A write that is no event would not be compared with other accesses.
      if (IsAccess ? I->mayWriteToMemory() && !isWrite(*I)
                   : !isAssumption(*I) &&
                         !(U.getOperandNo() == 0 && isMatrixAccess(*I)))
        return false;
    }
  return true;
}

SharedVariables::SharedVariables(const Function &Kernel,
                                 const Uniformity &InBlock,
                                 const BarrierIntervals &Intervals,
                                 const DominatorTree &DT, const LoopInfo &Loops,
                                 ScalarEvolution &SE)
    : Facts{InBlock, DT, Loops, SE,
            [&Intervals](const Loop &L) { return Intervals.repeats(L); }},
      Intervals(Intervals) {
  for (const GlobalVariable &G : Kernel.getParent()->globals())
    if (isShared(&G)) {
      // Addresses that a pass has computed, and another has replaced.
      G.removeDeadConstantUsers();
      std::optional<Accesses> &Here =
          All.try_emplace(keyOf(&G), Accesses()).first->second;
      if (!isOwn(Kernel, G))
        Here.reset();
    }
}

bool SharedVariables::isReached(const Instruction &I) {
  const auto [Found, IsNew] = AreReached.try_emplace(I.getParent(), true);
  if (IsNew)
    Found->second = !isNeverReached(I, Facts);
  return Found->second;
}

void SharedVariables::add(const Instruction &I, const Access &E) {
  if (!isReached(I))
    return;
  if (std::optional<Accesses> *Of = accessesOf(E)) {
    if (*Of)
      (*Of)->push_back(describe(I, E, Facts));
    return;
  }
  // One of several: it is not known which.
  for (const Value *Object : objectsOf(E))
    if (isShared(Object))
      All.find(keyOf(Object))->second.reset();
}

const GlobalVariable *SharedVariables::keyOf(const Value *Object) {
  const auto *G = cast<GlobalVariable>(Object);
  return isDynamic(*G) ? nullptr : G;
}

std::optional<SharedVariables::Accesses> *
SharedVariables::accessesOf(const Access &E) {
  const auto Objects = objectsOf(E);
  if (Objects.empty() || !all_of(Objects, isShared) ||
      !all_of(Objects,
              [&](const Value *O) { return keyOf(O) == keyOf(Objects[0]); }))
    return nullptr;
  return &All.find(keyOf(Objects[0]))->second;
}

SharedVariables::Member SharedVariables::describe(const Instruction &I,
                                                  const Access &E,
                                                  const AddressFacts &Facts) {
  // Those of unknown length begin at the same place, whatever their names.
  const auto Objects = objectsOf(E);
  Member A = {&I, E, std::nullopt};
  if (Objects.size() == 1 && isShared(Objects[0]))
    A.Where = Spread::of(E, I, Objects[0], Facts);
  return A;
}

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

static bool mayConflict(const Access &A, const Access &B) {
  return ((A.Flags | B.Flags) & abi::WritesMemory) &&
         !(A.Flags & B.Flags & abi::IsStrong);
}

/// Whether what all threads have in common is the same for a thread that
/// executes `A` and for one that executes `B` in the same interval.
bool SharedVariables::haveCommon(const Member &A, const Member &B) const {
  auto IsSame = [&](const Value *V) {
    if (Facts.Among.isConstant(V))
      return true;
    const Loop *L = Facts.Loops.getLoopFor(cast<Instruction>(V)->getParent());
    for (; L; L = L->getParentLoop())
      if (!Intervals.areInOneIteration(*A.At, *B.At, *L))
        return false;
    return true;
  };
  return A.Where->allOfCommon(IsSame) && B.Where->allOfCommon(IsSame);
}

bool SharedVariables::staysSame(const Instruction &I, const Access &E) {
  const std::optional<Accesses> *Of = accessesOf(E);
  return Of && *Of && none_of(**Of, [&](const Member &Other) {
           return Other.What.writes() && Intervals.mayMeet(I, *Other.At);
         });
}

/// Whether the two cannot race for the launches that `R` says, which may become
/// fewer. `IsCase`: in one case of several, of which each would have to compute
/// by itself whether threads are apart.
bool SharedVariables::prove(const Member &Mine, const Member &Other,
                            Requirement &R, bool IsCase) const {
  if (!Mine.Where || !Other.Where || !haveCommon(Mine, Other))
    return false;
  // A bound of one extent comes first, since most launches keep within it.
  auto Most = Mine.Where->disjoint(*Other.Where);
  if (!Most)
    if (const auto Both = Mine.Where->hull(*Other.Where)) {
      if (!IsCase) {
        if (!is_contained(R.Apart, *Both))
          R.Apart.push_back(*Both);
        return true;
      }
      Most = Both->apart();
    }
  if (!Most)
    Most = Mine.Where->endBefore(*Other.Where);
  if (Most) {
    R.restrictTo(*Most);
    return true;
  }
  const auto Ending = Mine.Where->endBeforeIf(*Other.Where);
  if (Ending && !is_contained(R.Endings, *Ending))
    R.Endings.push_back(*Ending);
  return Ending.has_value();
}

/// The same, in each case of what is counted by the loops of which both are in
/// one iteration, or in two successive ones.
bool SharedVariables::proveByCases(const Member &Mine, const Member &Other,
                                   Requirement &R) {
  constexpr size_t MostLoops = 2;
  SmallVector<std::vector<Case>, MostLoops> All;
  const Value *Of[] = {Mine.What.Where.Base, Other.What.Where.Base};
  for (const Loop *L : countingLoops(Of, Facts)) {
    const auto Iterations = Intervals.iterationsOf(*Mine.At, *Other.At, *L);
    if (!Iterations)
      continue;
    auto Cases = casesOf(*L, Of, *Iterations, Facts);
    if (Cases.empty())
      continue;
    if (All.size() == MostLoops)
      return false;
    All.push_back(std::move(Cases));
  }
  return !All.empty() && forEachCase(All, [&](const Case &C) {
    if (CasesLeft == 0)
      return false;
    --CasesLeft;
    AddressFacts MyFacts = Facts, ItsFacts = Facts;
    MyFacts.Assumed = C.Mine;
    ItsFacts.Assumed = C.Other;
    if (!isPossible(*Mine.At, MyFacts) || !isPossible(*Other.At, ItsFacts))
      return true;
    return prove(describe(*Mine.At, Mine.What, MyFacts),
                 describe(*Other.At, Other.What, ItsFacts), R, /*IsCase=*/true);
  });
}

std::optional<Requirement> SharedVariables::proofOf(const Instruction &I,
                                                    const Access &E) {
  std::optional<Accesses> *Of = accessesOf(E);
  if (!Of || !*Of)
    return std::nullopt;
  Requirement R;
  if (!isReached(I))
    return R;
  const Member Mine = describe(I, E, Facts);
  for (const Member &Other : **Of)
    if (mayConflict(Mine.What, Other.What) &&
        Intervals.mayMeet(*Mine.At, *Other.At) &&
        !prove(Mine, Other, R, /*IsCase=*/false) &&
        !proveByCases(Mine, Other, R))
      return std::nullopt;
  return R;
}

} // namespace crsan
