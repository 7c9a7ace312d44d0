// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass over host code.

#include "Host/HostRacePass.h"
#include "Host/HostGate.h"
#include "Host/HostInstrumenter.h"
#include "Sites/LineMarks.h"
#include "Sites/Omission.h"
#include "Sites/SiteTableWriter.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace crsan {

/// A function that has SanitizeThread from us and not from the user.
static constexpr StringLiteral KeptInPlace = "crsan-loads-in-place";

void keepLoadsInPlace(Function &F) {
  if (F.hasFnAttribute(Attribute::SanitizeThread))
    return;
  F.addFnAttr(Attribute::SanitizeThread);
  F.addFnAttr(KeptInPlace);
}

static void release(Function &F) {
  if (!F.hasFnAttribute(KeptInPlace))
    return;
  F.removeFnAttr(KeptInPlace);
  F.removeFnAttr(Attribute::SanitizeThread);
}

/// The accesses of a function that are not checked. IsExempt: none is.
static void noteOmissions(Function &F, bool IsExempt,
                          OptimizationRemarkEmitter &ORE, Omissions &Omitted) {
  for (Instruction &I : instructions(F)) {
    const Events All = hostEventsOf(I);
    if (!IsExempt)
      Omitted.note(I, All.ByCollider, ORE);
    else if (All.ByCollider == Skip::Ignored || isOmission(All.ByCollider) ||
             !All.List.empty())
      Omitted.note(I, Skip::Ignored, ORE);
  }
}

PreservedAnalyses HostRacePass::run(Module &M, ModuleAnalysisManager &MAM) {
  if (!Opts.Host || M.getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SiteTableWriter Table(M);
  HostGate Gate(M);
  SmallVector<Function *, 64> Functions;
  for (Function &F : M)
    if (!F.hasAvailableExternallyLinkage() && !F.isDeclaration() &&
        !F.getName().starts_with("__crsan_"))
      Functions.push_back(&F);
  Omissions Omitted;
  for (Function *F : Functions) {
    release(*F);
    removeLineMarks(*F);
    const bool IsExempt =
        F->hasFnAttribute(Attribute::DisableSanitizerInstrumentation) ||
        F->hasFnAttribute(Attribute::Naked);
    noteOmissions(*F, IsExempt,
                  FAM.getResult<OptimizationRemarkEmitterAnalysis>(*F),
                  Omitted);
    if (!IsExempt)
      HostInstrumenter(*F, Table, Gate, FAM).run();
  }
  for (const Omissions::Entry &O : Omitted.List)
    Table.addOmission(O.Location, *O.F, /*Kernel=*/"", O.Why);
  Gate.emit(Table.finishHost(Omitted.Unchecked, Omitted.Exempt));
  return PreservedAnalyses::none();
}

} // namespace crsan
