// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration with LLVM.

#include "CudaRaceSanitizer.h"
#include "Host/HostRacePass.h"
#include "Iterations.h"
#include "LocalPromotion.h"
#include "Sites/LineMarks.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

using namespace llvm;

static cl::list<std::string>
    IgnoreLists("crsan-ignorelist",
                cl::desc("Special case list of what is not to be checked"),
                cl::value_desc("file"));

static cl::opt<crsan::Mode> RaceMode("crsan-mode",
                                     cl::desc("How races are looked for"),
                                     cl::init(crsan::Mode::Collider),
                                     cl::ValuesClass({
#define CRSAN_MODE(Enumerator, Name, Description)                              \
  clEnumValN(crsan::Mode::Enumerator, Name, Description),
#include "crsan/Modes.def"
                                     }));

static cl::opt<bool> HostCode("crsan-host",
                              cl::desc("Instrument host code, too"));

static cl::opt<bool>
    WholeProgram("crsan-whole-program",
                 cl::desc("A device module is a program, with which nothing "
                          "else is linked"));

static crsan::Options optionsFromCommandLine() {
  crsan::Options Opts;
  Opts.Mode = RaceMode;
  Opts.Host = HostCode;
  Opts.IsWholeProgram = WholeProgram;
  Opts.IgnoreLists.assign(IgnoreLists.begin(), IgnoreLists.end());
  return Opts;
}

static void registerPasses(PassBuilder &PB) {
  PB.registerPipelineStartEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel) {
        MPM.addPass(crsan::MarkAccessesPass(optionsFromCommandLine()));
      });
  PB.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &LPM, OptimizationLevel) {
        LPM.addPass(crsan::CountIterationsPass());
      });
  PB.registerScalarOptimizerLateEPCallback(
      [](FunctionPassManager &FPM, OptimizationLevel) {
        FPM.addPass(crsan::MarkLinesPass(HostCode));
        FPM.addPass(crsan::PromoteLocalsPass());
      });
  PB.registerOptimizerEarlyEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel, ThinOrFullLTOPhase) {
        MPM.addPass(crsan::HostRacePass(optionsFromCommandLine()));
      });
  PB.registerOptimizerLastEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel, ThinOrFullLTOPhase) {
        MPM.addPass(crsan::CudaRaceSanitizerPass(optionsFromCommandLine()));
        MPM.addPass(AlwaysInlinerPass());
      });
  PB.registerPipelineParsingCallback(
      [](StringRef Name, ModulePassManager &MPM,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (Name == "crsan-mark")
          MPM.addPass(crsan::MarkAccessesPass(optionsFromCommandLine()));
        else if (Name == "crsan")
          MPM.addPass(crsan::CudaRaceSanitizerPass(optionsFromCommandLine()));
        else if (Name == "crsan-host-checks")
          MPM.addPass(crsan::HostRacePass(optionsFromCommandLine()));
        else
          return false;
        return true;
      });
  PB.registerPipelineParsingCallback(
      [](StringRef Name, FunctionPassManager &FPM,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (Name == "crsan-mark-lines")
          FPM.addPass(crsan::MarkLinesPass(HostCode));
        else if (Name == "crsan-promote-locals")
          FPM.addPass(crsan::PromoteLocalsPass());
        else
          return false;
        return true;
      });
  PB.registerPipelineParsingCallback(
      [](StringRef Name, LoopPassManager &LPM,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (Name != "crsan-count-iterations")
          return false;
        LPM.addPass(crsan::CountIterationsPass());
        return true;
      });
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "CudaRaceSanitizer", LLVM_VERSION_STRING,
          registerPasses};
}
