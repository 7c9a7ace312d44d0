// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which iterations threads come to a __syncthreads() in a loop.

#include "Iterations.h"
#include "Events/Event.h"
#include "Events/Operands.h"
#include "Proofs/LaunchIndices.h"
#include "Proofs/Uniformity.h"
#include "Sites/SourcePlace.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

STATISTIC(NumTold, "Number of barriers of which the iteration is told");

namespace crsan {

/// Its operands: the number of the iteration of each loop around, from the
/// inside, from 0; or NotCounted. All have 32 bits.
static constexpr char Bundle[] = "crsan.iteration";

static Constant *notCounted(LLVMContext &C) {
  return Constant::getAllOnesValue(Type::getInt32Ty(C));
}

static ArrayRef<Use> numbersOf(const Instruction &Barrier) {
  const auto Found = cast<CallBase>(Barrier).getOperandBundle(Bundle);
  return Found ? Found->Inputs : ArrayRef<Use>();
}

/// Puts the same call in the place of a barrier, with these numbers.
static void setNumbers(CallInst &Barrier, ArrayRef<Value *> Numbers) {
  SmallVector<OperandBundleDef, 1> Bundles;
  if (!Numbers.empty())
    Bundles.emplace_back(Bundle, std::vector<Value *>(Numbers));
  CallInst *New = CallInst::Create(&Barrier, Bundles, Barrier.getIterator());
  New->copyMetadata(Barrier);
  New->takeName(&Barrier);
  Barrier.replaceAllUsesWith(New);
  Barrier.eraseFromParent();
}

static SmallVector<CallInst *> syncThreadsIn(auto &&Instructions) {
  SmallVector<CallInst *> Found;
  for (Instruction &I : Instructions)
    if (isSyncThreads(I))
      Found.push_back(cast<CallInst>(&I));
  return Found;
}

//===----------------------------------------------------------------------===//
// Before loops are unrolled
//===----------------------------------------------------------------------===//

PreservedAnalyses CountIterationsPass::run(Loop &L, LoopAnalysisManager &,
                                           LoopStandardAnalysisResults &Results,
                                           LPMUpdater &) {
  ScalarEvolution &SE = Results.SE;
  SmallVector<CallInst *> Barriers;
  for (BasicBlock *BB : L.blocks())
    append_range(Barriers, syncThreadsIn(*BB));
  if (Barriers.empty() || Results.MSSA)
    return PreservedAnalyses::all();
  LLVMContext &C = L.getHeader()->getContext();
  Type *T = Type::getInt32Ty(C);
  const SCEV *Last = SE.getBackedgeTakenCount(&L);
  // What the arguments are of a function that is not a kernel is known once it
  // is inlined into one.
  if (!isKernel(*L.getHeader()->getParent()) && !isa<SCEVConstant>(Last))
    return PreservedAnalyses::all();
  const bool IsCounted = isAvailable(*Last);
  const SCEV *Number =
      SE.getAddRecExpr(SE.getZero(T), SE.getOne(T), &L, SCEV::FlagAnyWrap);
  SCEVExpander Expander(SE, "iteration");
  for (CallInst *Barrier : Barriers) {
    SmallVector<Value *, 4> Numbers(numbersOf(*Barrier));
    // The loop may have been looked at before.
    if (any_of(Numbers, [&](Value *V) {
          return V == notCounted(C) || SE.getSCEV(V) == Number;
        }))
      continue;
    Numbers.push_back(IsCounted ? Expander.expandCodeFor(Number, T, Barrier)
                                : notCounted(C));
    SE.forgetValue(Barrier);
    setNumbers(*Barrier, Numbers);
  }
  return getLoopPassPreservedAnalyses();
}

//===----------------------------------------------------------------------===//
// At the end
//===----------------------------------------------------------------------===//

/// One number of those of all loops.
static Value *mixtureOf(IRBuilder<> &B, ArrayRef<Use> Numbers) {
  // Odd, so that no outer iteration is lost among the last bits.
  constexpr uint32_t Factor = 0x9e3779b1;
  Value *Mixture = nullptr;
  for (Value *Number : reverse(Numbers))
    Mixture =
        Mixture ? B.CreateAdd(B.CreateMul(Mixture, B.getInt32(Factor)), Number)
                : Number;
  return Mixture;
}

static constexpr char Annotation[] = "{\n\t.reg .b64 crsan_iteration;\n\t"
                                     "mov.b64 crsan_iteration, $0;\n\t}";

static void tell(Instruction &Barrier) {
  IRBuilder<> B(&Barrier);
  Value *Number =
      B.CreateZExt(mixtureOf(B, numbersOf(Barrier)), B.getInt64Ty());
  auto *T = FunctionType::get(B.getVoidTy(), {B.getInt64Ty()}, false);
  CallInst *Call = B.CreateCall(
      InlineAsm::get(T, Annotation, "l", /*hasSideEffects=*/true), {Number});
  Call->setDoesNotThrow();
  ++NumTold;
}

Value *iterationAt(const Instruction &Barrier) {
  const auto *Call = dyn_cast_or_null<CallInst>(Barrier.getPrevNode());
  const auto *Asm =
      Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr;
  if (!Asm || StringRef(Asm->getAsmString()) != Annotation)
    return nullptr;
  Value *Number = Call->getArgOperand(0);
  if (auto *Wide = dyn_cast<ZExtInst>(Number))
    return Wide->getOperand(0);
  return ConstantInt::get(Type::getInt32Ty(Barrier.getContext()),
                          cast<ConstantInt>(Number)->getZExtValue());
}

/// Whether these copies of one barrier of the source all have the numbers of
/// all loops around them.
static bool areNumbered(ArrayRef<CallInst *> Copies, const LoopInfo &Loops) {
  const size_t Count = numbersOf(*Copies.front()).size();
  return Count && all_of(Copies, [&](const CallInst *Copy) {
           const ArrayRef<Use> Numbers = numbersOf(*Copy);
           return Numbers.size() == Count &&
                  Loops.getLoopDepth(Copy->getParent()) <= Count &&
                  !is_contained(Numbers, notCounted(Copy->getContext()));
         });
}

/// Whether threads that part at the end of `From` may come to one of `Barriers`
/// in different iterations. Not if at most one way leads to any: who takes
/// another one comes to none of them any more. Nor if all ways join before they
/// come to one, or to the next iteration of a loop around one.
static bool mayPart(BasicBlock &From, ArrayRef<CallInst *> Barriers,
                    const LoopInfo &Loops, const DominatorTree &DT,
                    const PostDominatorTree &PDT) {
  const auto LeadsToSome = [&](BasicBlock *Way) {
    return any_of(Barriers, [&](const CallInst *Barrier) {
      return isPotentiallyReachable(Way, Barrier->getParent(), nullptr, &DT,
                                    &Loops);
    });
  };
  const SmallPtrSet<BasicBlock *, 4> Ways(succ_begin(&From), succ_end(&From));
  if (count_if(Ways, LeadsToSome) < 2)
    return false;
  const auto *Node = PDT.getNode(&From);
  const auto *Join = Node ? Node->getIDom() : nullptr;
  SmallSetVector<BasicBlock *, 16> Between;
  const auto Add = [&](BasicBlock *BB) {
    if (!Join || BB != Join->getBlock())
      Between.insert(BB);
  };
  for_each(Ways, Add);
  for (unsigned I = 0; I < Between.size(); ++I)
    for_each(successors(Between[I]), Add);
  return any_of(Between, [&](const BasicBlock *BB) {
    const Loop *L = Loops.getLoopFor(BB);
    return any_of(Barriers, [&](const CallInst *Barrier) {
      return Barrier->getParent() == BB ||
             (L && L->getHeader() == BB && L->contains(Barrier));
    });
  });
}

/// Whether threads of a block may come to these barriers in iterations that
/// differ, and all of the loops around them is known.
static bool mayDiffer(Function &F, ArrayRef<CallInst *> Barriers,
                      FunctionAnalysisManager &FAM) {
  // Of a function that others call, the loops around the call are not known.
  if (!isKernel(F) ||
      F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
    return false;
  const auto &Loops = FAM.getResult<LoopAnalysis>(F);
  const ReversePostOrderTraversal<const Function *> Order(&F);
  if (containsIrreducibleCFG<const BasicBlock *>(Order, Loops))
    return false;
  const auto &PDT = FAM.getResult<PostDominatorTreeAnalysis>(F);
  const auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  const Uniformity InBlock(F, ThreadGroup::Block, PDT, Loops);
  return any_of(F, [&](BasicBlock &BB) {
    const Instruction *End = BB.getTerminator();
    return DT.isReachableFromEntry(&BB) && End->getNumSuccessors() > 1 &&
           any_of(End->operands(),
                  [&](const Value *V) {
                    return !isa<BasicBlock>(V) && !InBlock.isUniform(V);
                  }) &&
           mayPart(BB, Barriers, Loops, DT, PDT);
  });
}

void tellIterations(Function &F, FunctionAnalysisManager &FAM) {
  SmallVector<CallInst *> Barriers = syncThreadsIn(instructions(F));
  MapVector<uint64_t, SmallVector<CallInst *, 2>> Places;
  for (CallInst *Barrier : Barriers)
    if (const auto Place = sourcePlace(Barrier->getDebugLoc()))
      Places[Place->Whole].push_back(Barrier);
  erase_if(Barriers, [](const CallInst *B) { return numbersOf(*B).empty(); });
  if (Barriers.empty())
    return;
  SmallVector<CallInst *> Numbered;
  for (const auto &[Place, Copies] : Places)
    if (areNumbered(Copies, FAM.getResult<LoopAnalysis>(F)))
      append_range(Numbered, Copies);
  if (!Numbered.empty() && mayDiffer(F, Numbered, FAM))
    for (CallInst *Barrier : Numbered)
      tell(*Barrier);
  for (CallInst *Barrier : Barriers) {
    SmallVector<WeakTrackingVH, 4> Numbers;
    for (Value *Number : numbersOf(*Barrier))
      Numbers.push_back(Number);
    setNumbers(*Barrier, {});
    RecursivelyDeleteTriviallyDeadInstructionsPermissive(Numbers);
  }
  for (const Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
    DeleteDeadPHIs(L->getHeader());
  PreservedAnalyses Preserved;
  Preserved.preserveSet<CFGAnalyses>();
  FAM.invalidate(F, Preserved);
}

} // namespace crsan
