// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX -> PTX with checks.

#include "Rewrite.h"
#include "Emit.h"
#include "Guards.h"
#include "PTX/Parser.h"
#include "Pointers.h"
#include "RecoveredArithmetic.h"
#include "Types.h"
#include "VectorLoads.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Scalar/Sink.h"

using namespace llvm;

namespace crsan::lift {

namespace {

/// Errors that passes report, as one.
class Diagnostics : public DiagnosticHandler {
public:
  explicit Diagnostics(std::string &First) : First(First) {}
  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    if (Info.getSeverity() == DS_Error && First.empty()) {
      raw_string_ostream To(First);
      DiagnosticPrinterRawOStream Printer(To);
      Info.print(Printer);
    }
    return true;
  }

private:
  std::string &First;
};

/// Registers become values. The code has been optimised: nothing more is done
/// than what the lift has made necessary.
FunctionPassManager simplification() {
  FunctionPassManager Passes;
  Passes.addPass(SROAPass(SROAOptions::PreserveCFG));
  Passes.addPass(InstSimplifyPass());
  Passes.addPass(SimplifyCFGPass());
  Passes.addPass(ADCEPass());
  return Passes;
}

/// What checks need.
FunctionPassManager preparation() {
  FunctionPassManager Passes;
  // From how large a thread's indices can be follows the sign of what is
  // computed from them. So divisions, which PTX spells out for both signs, and
  // other arithmetic become what proofs know.
  Passes.addPass(SCCPPass());
  Passes.addPass(InstSimplifyPass());
  Passes.addPass(RecoverArithmeticPass());
  Passes.addPass(RecoverPointersPass());
  // Numbers that a loop counts beside the pointers that are made of them.
  Passes.addPass(ADCEPass());
  Passes.addPass(NarrowVectorLoadsPass());
  Passes.addPass(GuardLoadsPass());
  Passes.addPass(SinkingPass());
  return Passes;
}

void runPasses(Module &M, TargetMachine &Target,
               const std::optional<Options> &Checks) {
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;
  PassBuilder Builder(&Target);
  Builder.registerModuleAnalyses(Modules);
  Builder.registerCGSCCAnalyses(Components);
  Builder.registerFunctionAnalyses(Functions);
  Builder.registerLoopAnalyses(Loops);
  Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
  ModulePassManager Passes;
  Passes.addPass(createModuleToFunctionPassAdaptor(simplification()));
  if (Checks) {
    Passes.addPass(createModuleToFunctionPassAdaptor(preparation()));
    Passes.addPass(MarkAccessesPass(*Checks));
    Passes.addPass(CudaRaceSanitizerPass(*Checks));
    Passes.addPass(AlwaysInlinerPass());
  }
  Passes.run(M, Modules);
}

Expected<Rewritten> rewriteUnsafely(std::string PTX,
                                    const std::optional<Options> &Checks) {
  auto Parsed = ptx::parseModule(std::move(PTX));
  if (const auto *Error = std::get_if<ptx::ParseError>(&Parsed))
    return fail("line ", Twine(Error->Pos.Line), ": ", Error->Message);
  const auto &From = std::get<ptx::Module>(Parsed);
  auto Target = targetOf(From);
  if (!Target)
    return Target.takeError();
  LLVMContext C;
  std::string FirstError;
  C.setDiagnosticHandler(std::make_unique<Diagnostics>(FirstError));
  Expected<LiftedModule> Lifted = liftModule(From, C);
  if (!Lifted)
    return Lifted.takeError();
  setTarget(*Lifted->Code, **Target);
  std::optional<Options> OfOptimised = Checks;
  if (OfOptimised)
    OfOptimised->IsOptimised = true;
  runPasses(*Lifted->Code, **Target, OfOptimised);
  if (!FirstError.empty())
    return fail(FirstError);
  Expected<std::string> Text = emit(*Lifted, From, **Target);
  if (!Text)
    return Text.takeError();
  if (!FirstError.empty())
    return fail(FirstError);
  Rewritten All{std::move(*Text), {}};
  for (const KeptFunction &K : Lifted->Kept)
    All.Unchecked.push_back((Twine(str(K.Of->Name)) + ": " + K.Why).str());
  return All;
}

} // namespace

/// LLVM ends the program, or runs out of stack, where it is given code that it
/// does not expect.
Expected<Rewritten> rewrite(std::string PTX,
                            const std::optional<Options> &Checks) {
  constexpr unsigned StackBytes = 256 << 20;
  CrashRecoveryContext::Enable();
  CrashRecoveryContext Context;
  std::optional<Expected<Rewritten>> Result;
  if (!Context.RunSafelyOnThread(
          [&] { Result.emplace(rewriteUnsafely(std::move(PTX), Checks)); },
          StackBytes))
    return fail("LLVM could not compile what the PTX has become");
  return std::move(*Result);
}

} // namespace crsan::lift
