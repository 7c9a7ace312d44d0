// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses that need no check of their own.

#include "Metadata/Redundancy.h"
#include "llvm/IR/DataLayout.h"

using namespace llvm;

namespace crsan {

/// Whether `Size` bytes at `Offset` lie within `OuterSize` at `Outer`.
static bool contains(int64_t Outer, uint64_t OuterSize, int64_t Offset,
                     uint64_t Size) {
  return Offset >= Outer &&
         Offset + int64_t(Size) <= Outer + int64_t(OuterSize);
}

const Value *CheckedAccesses::rootOf(const DataLayout &DL,
                                     const Location &Where, int64_t &Offset) {
  APInt Constant(DL.getIndexTypeSizeInBits(Where.Base->getType()), 0);
  const Value *Root = Where.Base->stripAndAccumulateConstantOffsets(
      DL, Constant, /*AllowNonInbounds=*/true);
  Offset = Where.Offset + Constant.getSExtValue();
  return Root;
}

CheckedAccesses::Key CheckedAccesses::keyOf(const Access &E,
                                            int64_t &Offset) const {
  const Value *Base = E.Where.Base;
  Offset = E.Where.Offset;
  if (!Base->getType()->isPointerTy())
    return {Base, E.Where.Space};
  return {rootOf(DL, E.Where, Offset), 0};
}

bool CheckedAccesses::covers(const Access &E) const {
  int64_t Offset;
  auto It = Known.find(keyOf(E, Offset));
  return It != Known.end() && E.isWhole() &&
         any_of(It->second, [&](const Made &C) {
           return (C.IsWrite || !E.writes()) &&
                  contains(C.Offset, C.Size, Offset, E.Size);
         });
}

CheckedAccesses::Made *CheckedAccesses::within(const Access &E,
                                               int64_t &Distance) {
  int64_t Offset;
  auto It = Known.find(keyOf(E, Offset));
  if (It == Known.end() || !E.isWhole() || !E.writes())
    return nullptr;
  for (Made &C : It->second)
    if (!C.IsWrite && C.Number && contains(Offset, E.Size, C.Offset, C.Size)) {
      Distance = Offset - C.Offset;
      return &C;
    }
  return nullptr;
}

void CheckedAccesses::add(const Access &E, Instruction &I, size_t Number) {
  int64_t Offset;
  if (const Key At = keyOf(E, Offset); E.isWhole())
    Known[At].push_back({Offset, E.Size, E.writes(), &I, Number});
}

SmallVector<CheckedAccesses::Made *, 4>
CheckedAccesses::companions(const Access &E) {
  SmallVector<Made *, 4> Same;
  int64_t Offset;
  if (auto It = All.find(keyOf(E, Offset)); It != All.end() && E.isWhole())
    for (Made &M : It->second)
      if (M.Offset == Offset && M.Size == E.Size)
        Same.push_back(&M);
  return Same;
}

SmallVector<std::pair<const CheckedAccesses::Made *, int64_t>, 4>
CheckedAccesses::overlapping(const Access &E) const {
  SmallVector<std::pair<const Made *, int64_t>, 4> Some;
  int64_t Offset;
  if (auto It = All.find(keyOf(E, Offset)); It != All.end() && E.isWhole())
    for (const Made &M : It->second)
      if (M.Offset < Offset + int64_t(E.Size) &&
          Offset < M.Offset + int64_t(M.Size))
        Some.push_back({&M, Offset - M.Offset});
  return Some;
}

void CheckedAccesses::make(const Access &E, Instruction &I,
                           std::optional<size_t> Number) {
  // More than anybody would read in a report.
  constexpr unsigned Most = 32;
  int64_t Offset;
  const Key At = keyOf(E, Offset);
  if (auto &Here = All[At]; E.isWhole() && Here.size() < Most)
    Here.push_back({Offset, E.Size, E.writes(), &I, Number});
}

void CheckedAccesses::endBlock() {
  // Copied from block to block: in huge functions, that would take too long.
  constexpr unsigned Most = 128;
  if (Known.size() > Most)
    clear();
  for (Map *Noted : {&Known, &All})
    for (auto &[At, Here] : *Noted)
      for (Made &M : Here)
        M.Number.reset();
}

} // namespace crsan
