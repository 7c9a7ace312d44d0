// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variables and functions of a module.
#ifndef CRSAN_LIFT_SYMBOLS_H
#define CRSAN_LIFT_SYMBOLS_H

#include "PTX/AST.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace crsan::lift {

class Symbols {
public:
  explicit Symbols(llvm::Module &M) : M(M) {}

  /// A variable of global, constant or shared memory. In a function's body,
  /// `IsLocal`: the module does not know it by its name.
  llvm::Expected<llvm::GlobalVariable *> addVariable(const ptx::Variable &V,
                                                     bool IsLocal = false);
  /// Declares a function, or a kernel, with its directives.
  llvm::Expected<llvm::Function *> addFunction(const ptx::Function &F);
  /// Fills in the values of all variables, which may refer to any other.
  llvm::Error initialise();

  /// Null: nothing has this name.
  llvm::GlobalValue *find(llvm::StringRef Name) const {
    return Known.lookup(Name);
  }

  llvm::Module &module() { return M; }

private:
  llvm::Expected<llvm::Constant *> valueOf(const ptx::Operand &Op,
                                           llvm::IntegerType *T);
  llvm::Expected<llvm::Constant *> valueOf(const ptx::Variable &V,
                                           llvm::Type *T);

  llvm::Module &M;
  llvm::StringMap<llvm::GlobalValue *> Known;
  std::vector<std::pair<llvm::GlobalVariable *, const ptx::Variable *>>
      ToInitialise;
};

/// The type of a function with these parameters and results.
llvm::Expected<llvm::FunctionType *> typeOf(llvm::LLVMContext &C,
                                            const ptx::Function &F);
/// Marks the parameters that are passed by value.
void addParameterAttributes(llvm::LLVMContext &C, const ptx::Function &F,
                            llvm::AttributeList &To);

} // namespace crsan::lift

#endif // CRSAN_LIFT_SYMBOLS_H
