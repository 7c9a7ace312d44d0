// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX -> LLVM IR.
//
// The lift is shallow and exact. Registers become values; branches and
// predicates become a control-flow graph; weak loads and stores, barriers of a
// block, calls, integer arithmetic and addresses become instructions of LLVM's,
// which the pass understands. Every other instruction stays as written, as a
// statement of inline assembly: all of floating point, and whatever LLVM has no
// instruction for.
#ifndef CRSAN_LIFT_LIFT_H
#define CRSAN_LIFT_LIFT_H

#include "PTX/AST.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace crsan::lift {

/// A function of the PTX that is not lifted: in the module it is only declared.
struct KeptFunction {
  const ptx::Function *Of;
  std::string Why; ///< "'wgmma.mma_async' keeps registers ..."
};

struct LiftedModule {
  std::unique_ptr<llvm::Module> Code;
  std::vector<KeptFunction> Kept;
};

/// Lifts `From`. A function that cannot be lifted is kept, with all functions
/// that it calls, and what it refers to stays in the module. An error: a
/// variable or a directive of the module cannot be expressed.
llvm::Expected<LiftedModule> liftModule(const ptx::Module &From,
                                        llvm::LLVMContext &C);

} // namespace crsan::lift

#endif // CRSAN_LIFT_LIFT_H
