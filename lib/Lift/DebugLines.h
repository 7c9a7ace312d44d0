// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lines of `.loc` as debug locations.
#ifndef CRSAN_LIFT_DEBUGLINES_H
#define CRSAN_LIFT_DEBUGLINES_H

#include "PTX/SourceLines.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/Module.h"

namespace crsan::lift {

class DebugLines {
public:
  DebugLines(const ptx::Module &From, llvm::Module &To);

  /// Gives `F` a subprogram, if its body has lines.
  void enter(llvm::Function &F, const ptx::Function &From);
  /// The line of an instruction of the function that was entered last.
  llvm::DebugLoc at(const ptx::Instruction &I);
  void finish() {
    if (Unit)
      Builder.finalize();
  }

private:
  llvm::DIFile *file(llvm::StringRef Path);
  llvm::DISubprogram *subprogram(llvm::StringRef Name, llvm::StringRef Path,
                                 unsigned Line);

  const ptx::SourceLines Lines;
  llvm::Module &To;
  llvm::DIBuilder Builder;
  llvm::DICompileUnit *Unit = nullptr;
  llvm::StringMap<llvm::DISubprogram *> Subprograms;
  llvm::DenseMap<int32_t, llvm::DILocation *> Known; ///< Of this function.
  llvm::DISubprogram *Current = nullptr;
};

} // namespace crsan::lift

#endif // CRSAN_LIFT_DEBUGLINES_H
