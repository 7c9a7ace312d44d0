// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands of inline PTX.
#ifndef CRSAN_TRANSFORMS_EVENTS_ASMOPERANDS_H
#define CRSAN_TRANSFORMS_EVENTS_ASMOPERANDS_H

#include "Events/Event.h"
#include "llvm/IR/InlineAsm.h"

namespace crsan {

/// The values that a statement's `$0`, `$1`, ... stand for.
class AsmOperands {
public:
  explicit AsmOperands(const llvm::CallBase &Call)
      : Call(Call),
        Constraints(llvm::cast<llvm::InlineAsm>(Call.getCalledOperand())
                        ->ParseConstraints()) {}

  /// The argument that the operand `Name` stands for; null if it stands for
  /// none.
  llvm::Value *input(llvm::StringRef Name) const;

  /// Which element of the result the operand `Name` stands for; -1 if it stands
  /// for the whole result.
  std::optional<int> output(llvm::StringRef Name) const;

  /// A number or an argument; null if the assembly computes the operand.
  llvm::Value *value(const ptx::Operand &Op) const;

  /// An address in `AddressSpace`, or a barrier's number or mask; nothing if
  /// the assembly computes the operand.
  std::optional<Location> location(const ptx::Operand *Op,
                                   unsigned AddressSpace) const;

  /// The assembly has changed the operand `Name`, if it is one: from now on it
  /// stands for no argument.
  void forget(llvm::StringRef Name);

  /// A number of bytes, as an operand.
  llvm::Value *size(uint64_t Bytes) const;

private:
  std::optional<unsigned> number(llvm::StringRef Name) const;

  const llvm::CallBase &Call;
  const llvm::InlineAsm::ConstraintInfoVector Constraints;
  llvm::SmallVector<unsigned, 2> Changed; ///< Numbers of operands.
};

/// LLVM's numbers of the state spaces to which and from which a bulk copy
/// copies; nothing if `I` names none.
std::optional<std::pair<unsigned, unsigned>>
bulkSpaces(const ptx::Instruction &I);

/// Whether the last operand of `I` is a cache policy.
inline bool hasPolicy(const ptx::Instruction &I) {
  return I.has("L2::cache_hint");
}

/// LLVM's number of the state space that `I` accesses.
unsigned addressSpaceOf(const ptx::Instruction &I, ptx::StateSpace Space);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_EVENTS_ASMOPERANDS_H
