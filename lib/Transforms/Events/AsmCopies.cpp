// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands of asynchronous copies in inline PTX.

#include "Events/AsmCopies.h"

#include <utility>

using namespace llvm;

namespace crsan {

namespace {

class CopyReader {
public:
  CopyReader(const ptx::Instruction &I, const Condition &If,
             const AsmOperands &Operands,
             const StringMap<Condition> &Predicates)
      : I(I), If(If), Operands(Operands), Predicates(Predicates) {}

  std::optional<CopyOperands> copyOf() const;

private:
  std::optional<CopyOperands> smallCopyOf() const;
  std::optional<CopyOperands> bulkCopyOf() const;
  std::optional<CopyOperands> tensorCopyOf() const;
  std::optional<CopyOperands> asyncStoreOf() const;
  std::optional<TensorBox> boxOf(const ptx::Operand &Op) const;
  bool readBlocks(CopyOperands &Of) const;

  const ptx::Instruction &I;
  const Condition &If;
  const AsmOperands &Operands;
  const StringMap<Condition> &Predicates;
};

} // namespace

/// `cp.async.cg.shared.global [to], [from], 16, read` or `ignore`, a predicate.
std::optional<CopyOperands> CopyReader::smallCopyOf() const {
  const size_t Number = I.Operands.size() - hasPolicy(I);
  if (Number < 3 || Number > 4)
    return std::nullopt;
  const auto To =
      Operands.location(&I.Operands[0], NVPTXAS::ADDRESS_SPACE_SHARED);
  const auto From =
      Operands.location(&I.Operands[1], NVPTXAS::ADDRESS_SPACE_GLOBAL);
  auto *Size = dyn_cast_or_null<ConstantInt>(Operands.value(I.Operands[2]));
  if (!To || !From || !Size)
    return std::nullopt;
  CopyOperands Result = {*To, *From, Size, nullptr, If};
  if (Number == 3)
    return Result;
  ptx::Operand Last = I.Operands[3];
  const bool IsNegated = std::exchange(Last.IsNegated, false);
  Value *Given = Operands.value(Last);
  if (Given && !Given->getType()->isIntegerTy(1)) {
    Result.Read = Given;
    return Given->getType()->isIntegerTy() && !IsNegated ? std::optional(Result)
                                                         : std::nullopt;
  }
  const auto Known = Predicates.find(Last.Text);
  if (If.Operand || (!Given && Known == Predicates.end()))
    return std::nullopt;
  // The predicate says that the source is ignored.
  Result.IfRead =
      Given ? Condition{Given, 1, /*HoldsIfEqual=*/true} : Known->second;
  Result.IfRead.HoldsIfEqual ^= !IsNegated;
  return Result;
}

/// `cp.async.bulk.<to>.<from>... [to], [from], size, [mbarrier]`, without an
/// mbarrier if the copy is to global memory; cp.reduce.async.bulk likewise.
std::optional<CopyOperands> CopyReader::bulkCopyOf() const {
  // Which bytes it writes is a mask's to say.
  if (I.has("cp_mask"))
    return std::nullopt;
  const auto Spaces = bulkSpaces(I);
  const bool HasBarrier = I.has("mbarrier::complete_tx::bytes");
  if (!Spaces || I.Operands.size() < (HasBarrier ? 4u : 3u) ||
      HasBarrier == I.has("bulk_group"))
    return std::nullopt;
  const auto To = Operands.location(&I.Operands[0], Spaces->first);
  const auto From = Operands.location(&I.Operands[1], Spaces->second);
  Value *Size = Operands.value(I.Operands[2]);
  if (!To || !From || !Size || !Size->getType()->isIntegerTy())
    return std::nullopt;
  CopyOperands Result = {*To, *From, Size, nullptr, If};
  Result.By = HasBarrier ? Completion::Barrier : Completion::BulkGroup;
  Result.IsUpdate = I.has("reduce");
  if (HasBarrier) {
    // The mbarrier is beside what is written.
    const auto Barrier = Operands.location(&I.Operands[3], Spaces->first);
    if (!Barrier)
      return std::nullopt;
    Result.Barrier = *Barrier;
  }
  return readBlocks(Result) ? std::optional(Result) : std::nullopt;
}

/// The operand behind the mbarrier, if it is a multicast copy. False if the
/// mask is not known.
bool CopyReader::readBlocks(CopyOperands &Of) const {
  if (!I.has("multicast::cluster"))
    return true;
  const size_t At = I.has("tensor") ? 3 : 4;
  Of.Blocks = At < I.Operands.size() ? Operands.value(I.Operands[At]) : nullptr;
  return Of.Blocks && Of.Blocks->getType()->isIntegerTy();
}

/// `[map, {x, y, ...}]`.
std::optional<TensorBox> CopyReader::boxOf(const ptx::Operand &Op) const {
  if (Op.What != ptx::Operand::Kind::Address || Op.Elements.size() != 2)
    return std::nullopt;
  const std::vector<ptx::Operand> &Coordinates = Op.Elements[1].Elements;
  if (Coordinates.empty() || Coordinates.size() > MaxDimensions ||
      !I.has(std::to_string(Coordinates.size()) + "d"))
    return std::nullopt;
  ptx::Operand Base = Op;
  Base.Elements.resize(1);
  const auto Map = Operands.location(&Base, NVPTXAS::ADDRESS_SPACE_GENERIC);
  if (!Map)
    return std::nullopt;
  TensorBox Box{*Map};
  for (const ptx::Operand &Coordinate : Coordinates) {
    Value *At = Operands.value(Coordinate);
    if (!At || !At->getType()->isIntegerTy())
      return std::nullopt;
    Box.Coordinates.push_back(At);
  }
  return Box;
}

/// `cp.async.bulk.tensor.2d.<shared>.global... [to], [map, {x, y}], [mbarrier]`
/// or `cp.async.bulk.tensor.2d.global.<shared>... [map, {x, y}], [from]`;
/// cp.reduce.async.bulk.tensor likewise. Only boxes of whole tiles are
/// followed.
std::optional<CopyOperands> CopyReader::tensorCopyOf() const {
  for (std::string_view M : I.Modifiers)
    if (M.starts_with("im2col") || M.starts_with("tile::") ||
        M.starts_with("cta_group"))
      return std::nullopt;
  const auto Spaces = bulkSpaces(I);
  const bool HasBarrier = I.has("mbarrier::complete_tx::bytes");
  if (!Spaces || I.Operands.size() < (HasBarrier ? 3u : 2u) ||
      HasBarrier == I.has("bulk_group"))
    return std::nullopt;
  const unsigned InShared = HasBarrier ? 0 : 1;
  const auto Shared = Operands.location(
      &I.Operands[InShared], HasBarrier ? Spaces->first : Spaces->second);
  auto Box = boxOf(I.Operands[1 - InShared]);
  if (!Shared || !Box)
    return std::nullopt;
  const Location Global = {Operands.size(0), NVPTXAS::ADDRESS_SPACE_GLOBAL};
  CopyOperands Result = {HasBarrier ? *Shared : Global,
                         HasBarrier ? Global : *Shared, nullptr, nullptr, If};
  Result.By = HasBarrier ? Completion::Barrier : Completion::BulkGroup;
  Result.IsUpdate = I.has("reduce");
  Result.Tensor = std::move(Box);
  if (HasBarrier) {
    const auto Barrier = Operands.location(&I.Operands[2], Spaces->first);
    if (!Barrier)
      return std::nullopt;
    Result.Barrier = *Barrier;
  }
  return readBlocks(Result) ? std::optional(Result) : std::nullopt;
}

/// `st.async... [to], values, [mbarrier]`; red.async likewise.
std::optional<CopyOperands> CopyReader::asyncStoreOf() const {
  const ptx::InstructionClass C = ptx::classify(I);
  if (!I.has("mbarrier::complete_tx::bytes") || I.Operands.size() != 3 ||
      !C.Size)
    return std::nullopt;
  constexpr unsigned Remote = NVPTXAS::ADDRESS_SPACE_SHARED_CLUSTER;
  const auto To = Operands.location(&I.Operands[0], Remote),
             Barrier = Operands.location(&I.Operands[2], Remote);
  if (!To || !Barrier)
    return std::nullopt;
  CopyOperands Result = {*To, {}, Operands.size(C.Size), nullptr, If};
  Result.By = Completion::Barrier;
  Result.Barrier = *Barrier;
  Result.IsUpdate = I.Opcode == "red";
  return Result;
}

std::optional<CopyOperands> CopyReader::copyOf() const {
  if (I.Opcode == "st" || I.Opcode == "red")
    return asyncStoreOf();
  if (I.Opcode != "cp")
    return std::nullopt;
  if (I.has("bulk"))
    return I.has("tensor") ? tensorCopyOf() : bulkCopyOf();
  return I.has("ca") || I.has("cg") ? smallCopyOf() : std::nullopt;
}

std::optional<CopyOperands> copyOf(const ptx::Instruction &I,
                                   const Condition &If,
                                   const AsmOperands &Operands,
                                   const StringMap<Condition> &Predicates) {
  return CopyReader(I, If, Operands, Predicates).copyOf();
}

} // namespace crsan
