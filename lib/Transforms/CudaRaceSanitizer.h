// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two passes over device code.
//
// MarkAccessesPass runs at the start of the pipeline and marks each access of
// the source. CudaRaceSanitizerPass runs at the end and instruments the
// accesses that the optimizer has left. Between the two, LLVM must not
// speculate loads (docs/soundness.md, rule 2); other optimisations are welcome,
// since they make windows larger.
#ifndef CRSAN_TRANSFORMS_CUDARACESANITIZER_H
#define CRSAN_TRANSFORMS_CUDARACESANITIZER_H

#include "llvm/IR/PassManager.h"
#include <string>
#include <vector>

namespace crsan {

/// How races are looked for.
enum class Mode {
#define CRSAN_MODE(Enumerator, Name, Description) Enumerator,
#include "crsan/Modes.def"
};

struct Options {
  crsan::Mode Mode = Mode::Collider;
  bool Host = false; ///< Modules of host code are instrumented, too.
  /// Another compiler has optimised the code already, and may have speculated
  /// loads (rule 2).
  bool IsOptimised = false;
  /// A device module is a program, with which nothing else is linked.
  bool IsWholeProgram = false;
  /// Special case lists (LLVM's SpecialCaseList format, section cuda-race).
  std::vector<std::string> IgnoreLists;
};

class MarkAccessesPass : public llvm::PassInfoMixin<MarkAccessesPass> {
public:
  explicit MarkAccessesPass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  Options Opts;
};

class CudaRaceSanitizerPass
    : public llvm::PassInfoMixin<CudaRaceSanitizerPass> {
public:
  explicit CudaRaceSanitizerPass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  Options Opts;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_CUDARACESANITIZER_H
