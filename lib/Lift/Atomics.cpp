// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates.

#include "Instructions.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace crsan::lift {

namespace {

using ptx::StateSpace;

constexpr StringLiteral DeviceScope = "device";

/// The state space; nothing if the update is not a relaxed one of device scope,
/// which is what `atom` and `red` mean where nothing else is written. LLVM
/// prints that scope for all others, too, so those stay assembly.
std::optional<StateSpace> updatedSpace(const ptx::Instruction &I,
                                       StringRef Operation) {
  auto Space = StateSpace::Generic;
  for (std::string_view M : I.Modifiers) {
    if (M == "global" || M == "shared")
      Space = ptx::parseStateSpace(M);
    else if (M == "shared::cta")
      Space = StateSpace::Shared;
    else if (M != "relaxed" && M != "gpu" && str(M) != Operation &&
             !ptx::parseScalarType(M))
      return std::nullopt;
  }
  return Space;
}

std::optional<AtomicRMWInst::BinOp> updateOf(StringRef Operation,
                                             ptx::ScalarType T) {
  using Update = AtomicRMWInst::BinOp;
  if (ptx::isFloat(T))
    return Operation == "add" ? std::optional(Update::FAdd) : std::nullopt;
  const bool IsSigned = ptx::isSigned(T);
  return StringSwitch<std::optional<Update>>(Operation)
      .Case("add", Update::Add)
      .Case("and", Update::And)
      .Case("or", Update::Or)
      .Case("xor", Update::Xor)
      .Case("exch", Update::Xchg)
      .Case("inc", Update::UIncWrap)
      .Case("dec", Update::UDecWrap)
      .Case("min", IsSigned ? Update::Min : Update::UMin)
      .Case("max", IsSigned ? Update::Max : Update::UMax)
      .Default(std::nullopt);
}

/// Null for one that LLVM may have no instruction for.
Type *updatedType(LLVMContext &C, ptx::ScalarType T) {
  switch (T) {
  case ptx::ScalarType::F32:
    return Type::getFloatTy(C);
  case ptx::ScalarType::F64:
    return Type::getDoubleTy(C);
  case ptx::ScalarType::B32:
  case ptx::ScalarType::U32:
  case ptx::ScalarType::S32:
  case ptx::ScalarType::B64:
  case ptx::ScalarType::U64:
  case ptx::ScalarType::S64:
    return memoryType(C, T);
  default:
    return nullptr;
  }
}

} // namespace

Expected<bool> liftAtomic(Values &V, const ptx::Instruction &I) {
  const bool HasResult = I.Opcode == "atom";
  if ((!HasResult && I.Opcode != "red") || I.Modifiers.size() < 2)
    return false;
  const StringRef Operation = str(I.Modifiers[I.Modifiers.size() - 2]);
  const auto Space = updatedSpace(I, Operation);
  const bool IsSwap = Operation == "cas";
  const auto Update = updateOf(Operation, I.type());
  IntegerType *Bits = memoryType(V.context(), I.type());
  Type *T = updatedType(V.context(), I.type());
  if (!Space || !T || (!IsSwap && !Update) ||
      I.Operands.size() != size_t(HasResult) + (IsSwap ? 3 : 2))
    return false;
  ArrayRef<ptx::Operand> Operands = I.Operands;
  Expected<Value *> At = V.pointer(Operands[HasResult], *Space);
  if (!At)
    return At.takeError();
  SmallVector<Value *, 2> Sources;
  for (const ptx::Operand &Op : Operands.drop_front(HasResult + 1)) {
    Expected<Value *> Source = V.read(Op, Bits);
    if (!Source)
      return Source.takeError();
    Sources.push_back(V.B.CreateBitCast(*Source, T));
  }
  const Align Alignment(ptx::sizeOf(I.type()));
  const SyncScope::ID Scope = V.context().getOrInsertSyncScopeID(DeviceScope);
  constexpr auto Relaxed = AtomicOrdering::Monotonic;
  Value *Before =
      IsSwap ? V.B.CreateExtractValue(
                   V.B.CreateAtomicCmpXchg(*At, Sources[0], Sources[1],
                                           Alignment, Relaxed, Relaxed, Scope),
                   0)
             : V.B.CreateAtomicRMW(*Update, *At, Sources[0], Alignment, Relaxed,
                                   Scope);
  if (HasResult)
    if (Error E = V.write(Operands[0], V.B.CreateBitCast(Before, Bits)))
      return std::move(E);
  return true;
}

} // namespace crsan::lift
