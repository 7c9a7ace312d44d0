// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands of instructions as values of LLVM's.
#ifndef CRSAN_LIFT_VALUES_H
#define CRSAN_LIFT_VALUES_H

#include "Names.h"
#include "PTX/Classify.h"
#include "Symbols.h"
#include "Types.h"
#include "llvm/IR/IRBuilder.h"

namespace crsan::lift {

/// A function that is being lifted: what its names stand for, and where the
/// next instruction goes.
class Values {
public:
  Values(Symbols &Of, llvm::Function &F)
      : B(F.getContext()), OfModule(Of), F(F) {}

  llvm::IRBuilder<> B;
  Names Local;
  Symbols &OfModule;
  llvm::Function &F;

  /// Of the bytes that the next instruction loads, those that it has to
  /// (ptx::usedBytes).
  uint32_t UsedBytes = ptx::AllBytes;

  llvm::LLVMContext &context() const { return F.getContext(); }

  /// Declares a register or a variable of this function.
  llvm::Error declare(const ptx::Variable &V);
  /// Memory of this function's own, in the frame.
  llvm::AllocaInst *allocate(llvm::Type *T, llvm::Align Alignment,
                             const llvm::Twine &Name);
  /// The register or variable `Name`; null: this function has none.
  const Named *find(std::string_view Name);

  /// Erases the zeros that registers begin with where no instruction reads
  /// them, once the function is whole. LLVM's time to make a value of a
  /// register that is written once, or within one block, grows with its
  /// instructions; with a store in the entry block it would grow with the size
  /// of the block.
  void eraseUnreadZeros();

  /// The operand as a number of bits. A register that is wider is cut; one that
  /// is narrower is an error.
  llvm::Expected<llvm::Value *> read(const ptx::Operand &Op,
                                     llvm::IntegerType *T);
  /// The operand in the width of its register; a constant or an address in that
  /// of `T`.
  llvm::Expected<llvm::Value *> readWhole(const ptx::Operand &Op,
                                          llvm::IntegerType *T);
  /// Puts a value into a register; a wider register is filled by zeros, or by
  /// copies of the sign.
  llvm::Error write(const ptx::Operand &Op, llvm::Value *Value,
                    bool IsSigned = false);
  /// The type of the register that the operand is; null: it is none.
  llvm::IntegerType *registerOf(const ptx::Operand &Op);

  /// A predicate's value, negated if it is written so.
  llvm::Expected<llvm::Value *> predicate(std::string_view Register,
                                          bool IsNegated);

  /// A pointer into `Space` for the address operand `[...]`.
  llvm::Expected<llvm::Value *> pointer(const ptx::Operand &Op,
                                        ptx::StateSpace Space);
  /// The place of a variable or a function, in the address space that it has;
  /// null: nothing has this name. A parameter or a local variable has a generic
  /// pointer.
  llvm::Value *place(std::string_view Name);

private:
  Named makeRegister(llvm::IntegerType *T);
  llvm::Expected<llvm::Value *> readName(const ptx::Operand &Op,
                                         llvm::IntegerType *T);
  llvm::Value *specialRegister(const ptx::Operand &Op);
  llvm::Value *addressAsNumber(std::string_view Name, int64_t Offset,
                               llvm::IntegerType *T);
  llvm::Value *offset(llvm::Value *Pointer, int64_t Bytes);

  std::vector<llvm::StoreInst *>
      Zeros; ///< In the entry block, a register each.
};

} // namespace crsan::lift

#endif // CRSAN_LIFT_VALUES_H
