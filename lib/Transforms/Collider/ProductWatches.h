// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watchpoints on the operands of a function's matrix products (wgmma).
#ifndef CRSAN_TRANSFORMS_COLLIDER_PRODUCTWATCHES_H
#define CRSAN_TRANSFORMS_COLLIDER_PRODUCTWATCHES_H

#include "Collider/Window.h"
#include "Sites/SiteTableWriter.h"

namespace crsan {

/// Whether the operands of the function's products are watched: each wait for
/// one of them is a statement of its own in this function, behind which the
/// watchpoint can be taken away.
bool watchesProducts(const llvm::Function &F);

/// Counts the commit in front of `Before` in a variable whose bits from
/// abi::CommitsAt on say how many groups the thread has committed since it left
/// the watchpoint that the other bits name, if it has one.
void emitCommit(llvm::Instruction *Before, llvm::AllocaInst *Watched);

/// Watches the products of one function.
class ProductWatches {
public:
  ProductWatches(llvm::Function &F, SiteTableWriter &Table,
                 llvm::StringRef Kernel);
  /// Emits the calls of the runtime. What is left on the stack, if anything,
  /// can be promoted to registers.
  void emit();
  llvm::ArrayRef<llvm::AllocaInst *> variables() const { return Variables; }

private:
  llvm::Value *isTurn(llvm::IRBuilder<> &B);
  void emitWatch(llvm::Instruction *Product);
  void emitUnwatch(llvm::IRBuilder<> &B, llvm::Value *Ends,
                   const llvm::DebugLoc &Location);

  llvm::Function &F;
  SiteTableWriter &Table;
  llvm::StringRef Kernel;
  std::vector<llvm::Instruction *> Products, Commits, Waits, Ends;
  /// As emitCommit has it, or 0; and to how many products the thread has come.
  llvm::AllocaInst *Watched = nullptr, *Turn = nullptr;
  llvm::SmallVector<llvm::AllocaInst *, 2> Variables;
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_COLLIDER_PRODUCTWATCHES_H
