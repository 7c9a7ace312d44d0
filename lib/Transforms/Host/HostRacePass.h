// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass over host code.
//
// Runs between LLVM's simplification and its vectoriser: behind the vectoriser,
// one load may read what several accesses of the source read and what lies in
// between, and still have their mark.
#ifndef CRSAN_TRANSFORMS_HOST_HOSTRACEPASS_H
#define CRSAN_TRANSFORMS_HOST_HOSTRACEPASS_H

#include "CudaRaceSanitizer.h"

namespace crsan {

/// Has `F` keep loads from being speculated, until the pass below has run. Only
/// where the user has not asked for another sanitizer that needs the same.
void keepLoadsInPlace(llvm::Function &F);

class HostRacePass : public llvm::PassInfoMixin<HostRacePass> {
public:
  explicit HostRacePass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  Options Opts;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_HOST_HOSTRACEPASS_H
