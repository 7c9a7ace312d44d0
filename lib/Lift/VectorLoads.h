// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads of vectors of which some elements are not used.
#ifndef CRSAN_LIFT_VECTORLOADS_H
#define CRSAN_LIFT_VECTORLOADS_H

#include "llvm/IR/PassManager.h"

namespace crsan::lift {

/// A compiler may load a whole vector where the source reads some of its
/// elements. Another thread may write the others. So a load of which some
/// elements are not used becomes one load for each element that is.
class NarrowVectorLoadsPass
    : public llvm::PassInfoMixin<NarrowVectorLoadsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace crsan::lift

#endif // CRSAN_LIFT_VECTORLOADS_H
