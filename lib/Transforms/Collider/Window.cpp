// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stretches without synchronisation.

#include "Collider/Window.h"
#include "crsan/abi/Site.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace crsan {

namespace {

constexpr uint64_t LongestValue = 8;
/// Runs longer than this are compared by hash (the runtime's __crsan_hash).
constexpr uint64_t LongestSplit = 32;

/// Cuts a run into pieces that one aligned load can read; long ones stay whole.
SmallVector<WindowAccess, 4> comparablePieces(WindowAccess Run) {
  if (Run.hasLength() || Run.Size > LongestSplit)
    return {Run};
  SmallVector<WindowAccess, 4> Pieces;
  const int64_t End = Run.Where.Offset + int64_t(Run.Size);
  while (Run.Where.Offset < End) {
    Run.Size = std::min(
        LongestValue, commonAlignment(Run.Alignment, Run.Where.Offset).value());
    while (Run.Size > uint64_t(End - Run.Where.Offset))
      Run.Size /= 2;
    Pieces.push_back(Run);
    Run.Where.Offset += Run.Size;
    Run.Written = nullptr;
  }
  return Pieces;
}

/// The access that an event makes, in an instruction.
WindowAccess accessOf(const Event &E, Instruction &I) {
  WindowAccess A = {*anyAccess(E), &I};
  if (const auto *Async = std::get_if<AsyncAccess>(&E)) {
    A.Async = Async->By;
    A.Barrier = Async->Barrier;
    A.IsWatched = !Async->IsForMany;
  }
  return A;
}

/// Finds what has to move above `Head` so that `V` is known there. False if a
/// load, call or the like stands in between.
bool collectMoves(Value *V, Instruction *Head,
                  SmallSetVector<Instruction *, 8> &Moves) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || I->getParent() != Head->getParent() || I->comesBefore(Head) ||
      Moves.contains(I))
    return true;
  // Pure, so it may run earlier in the same block, where it would run anyway.
  const auto *Call = dyn_cast<CallBase>(I);
  if (isa<PHINode>(I) || I->mayReadOrWriteMemory() || I->isTerminator() ||
      I->mayHaveSideEffects() || Moves.size() > 32 ||
      (Call && (!isa<IntrinsicInst>(Call) || Call->isConvergent())))
    return false;
  for (Value *Operand : I->operands())
    if (!collectMoves(Operand, Head, Moves))
      return false;
  return Moves.insert(I);
}

/// Makes `V` available before `Head` by moving pure code up, if possible.
bool hoist(Value *V, Instruction *Head) {
  SmallSetVector<Instruction *, 8> Moves;
  if (!collectMoves(V, Head, Moves))
    return false;
  for (Instruction *I : Moves) // Operands come first.
    I->moveBefore(Head->getIterator());
  return true;
}

/// What a check of the access needs besides its address.
SmallVector<Value *, 8> otherOperands(const WindowAccess &A) {
  SmallVector<Value *, 8> All = {A.Length, A.If.Operand, A.Barrier.Base,
                                 A.Blocks};
  if (A.Box) {
    All.push_back(A.Box->Map.Base);
    append_range(All, A.Box->Coordinates);
  }
  erase(All, nullptr);
  return All;
}

bool hoistAll(ArrayRef<Value *> Values, Instruction *Head) {
  return all_of(Values, [&](Value *V) { return hoist(V, Head); });
}

void addAccess(Window &W, const WindowAccess &A) {
  // The group's own head is not a place to insert before once it has moved, so
  // heads are accesses, and accesses never move.
  if (!W.Groups.empty()) {
    Group &Last = W.Groups.back();
    const WindowAccess *AtBarrier = Last.copyAtBarrier();
    const bool IsAnother = A.Async == Completion::Barrier && AtBarrier &&
                           AtBarrier->Inst != A.Inst;
    if (!IsAnother && Last.Accesses.size() < abi::MaxGroupSize &&
        hoist(A.Where.Base, Last.Head) &&
        hoistAll(otherOperands(A), Last.Head)) {
      Last.Accesses.push_back(A);
      return;
    }
  }
  W.Groups.push_back({A.Inst, {A}});
}

} // namespace

/// What an address points into; null if it is an integer, as in assembly.
static const Value *objectOf(const Value *Base) {
  return Base->getType()->isPointerTy() ? getUnderlyingObject(Base) : nullptr;
}

bool mayOverlap(const Access &A, const Access &B) {
  const Value *OfA = objectOf(A.Where.Base), *OfB = objectOf(B.Where.Base);
  const unsigned SpaceA = A.Where.Space, SpaceB = B.Where.Space;
  if (SpaceA != SpaceB && SpaceA != NVPTXAS::ADDRESS_SPACE_GENERIC &&
      SpaceB != NVPTXAS::ADDRESS_SPACE_GENERIC)
    return false;
  return !OfA || !OfB || OfA == OfB || !isIdentifiedObject(OfA) ||
         !isIdentifiedObject(OfB);
}

/// Whether all bytes that the load reads are accesses of the group.
static bool isIn(const Group &G, const LoadInst &Load) {
  uint64_t Bytes = 0;
  for (const WindowAccess &A : G.Accesses)
    Bytes += A.Inst == &Load && A.isWhole() ? A.Size : 0;
  const DataLayout &Layout = Load.getModule()->getDataLayout();
  return Bytes == Layout.getTypeStoreSize(Load.getType()).getFixedValue();
}

bool Group::takesGarbage(const WindowAccess &A) const {
  if (!isa<StoreInst>(A.Inst) || !A.isWhole() || A.IsBehindBranch ||
      A.Size > LongestValue || !isPowerOf2_64(A.Size))
    return false;
  for (Instruction *I = Head; I != A.Inst; I = I->getNextNode()) {
    if (!I || !isGuaranteedToTransferExecutionToSuccessor(I))
      return false;
    if (!I->mayReadFromMemory())
      continue;
    auto *Load = dyn_cast<LoadInst>(I);
    if (!Load)
      return false;
    Access Read;
    Read.Where = locationOf(Load->getPointerOperand());
    if (mayOverlap(A, Read) && !isIn(*this, *Load))
      return false;
  }
  return true;
}

SmallVector<Window, 4> collectWindows(BasicBlock &BB) {
  SmallVector<Window, 4> Windows;
  Window Current;
  auto Close = [&] {
    if (!Current.Groups.empty())
      Windows.push_back(std::move(Current));
    Current = Window();
  };
  // Iterate over a copy: hoist() moves instructions that are still to come.
  SmallVector<Instruction *, 32> Instructions;
  for (Instruction &I : BB)
    Instructions.push_back(&I);
  for (Instruction *I : Instructions) {
    const Events All = eventsOf(*I);
    if (!keepsWindow(All)) {
      Close();
      continue;
    }
    for (const Event &E : checkedByCollider(*I, All)) {
      const WindowAccess Run = accessOf(E, *I);
      // All lanes of the warp execute a matrix instruction together: what one
      // of them has done before, another one's row may depend on.
      if (Run.Rows.Lanes)
        Close();
      for (const WindowAccess &A : comparablePieces(Run)) {
        addAccess(Current, A);
        if (A.Written)
          Current.Stores.push_back(A);
      }
      if (Run.Rows.Lanes)
        Close();
    }
  }
  Close();
  return Windows;
}

} // namespace crsan
