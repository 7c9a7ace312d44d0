// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose checks go together.

#include "Metadata/Unroll.h"
#include "Metadata/EventPlan.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

STATISTIC(NumUnrolled, "Number of loops that metadata mode unrolls");

namespace crsan {

/// Into how many iterations; 1: not worth it, or not allowed.
static unsigned unrollCount(Loop &L, ScalarEvolution &SE) {
  constexpr unsigned MostInstructions = 64, Most = 4;
  BasicBlock *Body = L.getHeader();
  // Groups are of one basic block: there must be no exit between iterations.
  if (L.getNumBlocks() != 1 || Body->sizeWithoutDebug() > MostInstructions ||
      isa<SCEVCouldNotCompute>(SE.getBackedgeTakenCount(&L)))
    return 1;
  if (const MDNode *Id = L.getLoopID())
    for (const MDOperand &Operand : drop_begin(Id->operands()))
      if (const auto *Hint = dyn_cast<MDNode>(Operand))
        if (const auto *Name = Hint->getNumOperands()
                                   ? dyn_cast<MDString>(Hint->getOperand(0))
                                   : nullptr;
            Name && Name->getString().starts_with("llvm.loop.unroll"))
          return 1;
  unsigned Words = 0;
  for (Instruction &I : *Body) {
    const auto *Call = dyn_cast<CallBase>(&I);
    if (Call && (Call->isConvergent() || !isa<IntrinsicInst>(Call)))
      return 1;
    for (const Event &E : eventsOf(I).List) {
      if (!isFollowed(E))
        continue;
      if (!isWeak(E) || !asAccess(E)->isWhole())
        return 1;
      const uint64_t Size = asAccess(E)->Size;
      Words += Size < 4 ? 1 : Size / 4;
    }
  }
  return Words ? std::clamp(WordsInGroup / Words, 1u, Most) : 1;
}

void unrollForChecks(Function &F, FunctionAnalysisManager &FAM) {
  if (F.hasOptNone())
    return;
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  SmallVector<std::pair<Loop *, unsigned>> Loops;
  for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
    if (const unsigned Count = unrollCount(*L, SE); Count > 1)
      Loops.push_back({L, Count});
  if (Loops.empty())
    return;
  // Copies of a loop's body say less about where threads access memory.
  const EventPlan Plan(F, FAM, EventPlan::Purpose::Draft);
  DenseSet<const BasicBlock *> Checked, Apart;
  for (const EventPlan::Step &S : Plan.steps())
    if (S.access() && !S.IsProven && !S.Unless)
      Checked.insert(S.Inst->getParent());
    else if (S.access() && Plan.dependsOnPlaces(S))
      Apart.insert(S.Inst->getParent());
  bool Any = false;
  for (const auto &[L, Count] : Loops) {
    if (Apart.contains(L->getHeader()) && !Checked.contains(L->getHeader()))
      continue;
    addStringMetadataToLoop(L, "llvm.loop.unroll.count", Count);
    ++NumUnrolled;
    Any = true;
  }
  if (!Any)
    return;
  LoopUnrollOptions Options(/*OptLevel=*/2, /*OnlyWhenForced=*/true);
  FAM.invalidate(F, LoopUnrollPass(Options.setRuntime(true)).run(F, FAM));
}

} // namespace crsan
