// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a function.
#ifndef CRSAN_LIFT_FUNCTIONLIFTER_H
#define CRSAN_LIFT_FUNCTIONLIFTER_H

#include "DebugLines.h"
#include "PTX/Classify.h"
#include "Values.h"

namespace crsan::lift {

class FunctionLifter {
public:
  FunctionLifter(Symbols &OfModule, DebugLines &Lines, llvm::Function &F,
                 const ptx::Function &From)
      : V(OfModule, F), Lines(Lines), F(F), From(From) {}

  /// Fills in the body. After an error it is not complete.
  llvm::Error run();

private:
  void declareParameters();
  llvm::Error liftBlock(const ptx::Block &B);
  void declareLabels(const ptx::Block &B);
  llvm::Error liftStatement(const ptx::Statement &S);
  llvm::Error liftGuarded(const ptx::Instruction &I);
  llvm::Error liftInstruction(const ptx::Instruction &I);
  llvm::Error liftAnnotation(const ptx::Instruction &I, ptx::Annotation What);
  llvm::Expected<bool> liftControlFlow(const ptx::Instruction &I);
  llvm::Error liftBranch(const ptx::Instruction &I);
  llvm::Error liftIndexedBranch(const ptx::Instruction &I);
  void endFunction();
  llvm::BasicBlock *newBlock(const llvm::Twine &Name = "");
  /// What follows is reached by labels only.
  void startAfterEnd() { V.B.SetInsertPoint(newBlock()); }

  Values V;
  DebugLines &Lines;
  llvm::Function &F;
  const ptx::Function &From;
  Named Result; ///< Of a function that returns something.
};

} // namespace crsan::lift

#endif // CRSAN_LIFT_FUNCTIONLIFTER_H
