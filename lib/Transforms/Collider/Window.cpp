// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stretches without synchronisation.

#include "Collider/Window.h"
#include "Sites/SourcePlace.h"
#include "crsan/abi/Site.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

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

/// The operands of an access that its check needs. The address may be its base
/// alone.
SmallVector<Value **, 8> operandsOf(WindowAccess &A) {
  SmallVector<Value **, 8> All = {&A.Where.Base,   &A.Length, &A.If.Operand,
                                  &A.Barrier.Base, &A.Blocks, &A.Rows.Stride};
  if (A.Box) {
    All.push_back(&A.Box->Map.Base);
    for (Value *&At : A.Box->Coordinates)
      All.push_back(&At);
  }
  erase_if(All, [](Value **V) { return !*V; });
  return All;
}

/// Whether two reads of the register may differ: a warp may be moved.
bool mayChange(Intrinsic::ID Register) {
  return Register == Intrinsic::nvvm_read_ptx_sreg_smid ||
         Register == Intrinsic::nvvm_read_ptx_sreg_warpid;
}

/// Adds to `Ahead` what has to be computed at `Head` so that `V` is known
/// there. False if a load, call or the like stands in between, or too much.
bool collectAhead(Value *V, Instruction *Head, CodeAhead &Ahead,
                  unsigned Depth) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || I->getParent() != Head->getParent() || I->comesBefore(Head) ||
      Ahead.contains(I))
    return true;
  // Pure, so a copy may run earlier in the same block, where the program's own
  // would run anyway. A copy of a freeze may have another value.
  const auto *Call = dyn_cast<CallBase>(I);
  if (isa<PHINode, AllocaInst, FreezeInst>(I) || I->mayReadOrWriteMemory() ||
      I->isTerminator() || I->mayHaveSideEffects() || Depth == MostAhead ||
      (Call && (!isa<IntrinsicInst>(Call) || Call->isConvergent() ||
                mayChange(Call->getIntrinsicID()))))
    return false;
  for (Value *Operand : I->operands())
    if (!collectAhead(Operand, Head, Ahead, Depth + 1))
      return false;
  return Ahead.size() < MostAhead && Ahead.insert(I);
}

/// The same for all that a check of the access needs.
bool collectAhead(WindowAccess A, Instruction *Head, CodeAhead &Ahead) {
  APInt Offset(64, 0);
  A.Where = A.base(Offset);
  return all_of(operandsOf(A),
                [&](Value **V) { return collectAhead(*V, Head, Ahead, 0); });
}

/// Whether each lane is sure to make the access, at once, and its bytes are
/// compared as one value.
bool isPlain(const WindowAccess &A) {
  return A.isWhole() && A.Rows.Lanes == 0 && !A.Async && A.Size <= LongestValue;
}

/// Whether the check of the store `S` makes one of the load `L` needless
/// (Group::Covered).
bool covers(const WindowAccess &S, const WindowAccess &L) {
  return S.writes() && !L.writes() && isPlain(S) && isPlain(L) &&
         S.Where.Base == L.Where.Base && S.Where.Space == L.Where.Space &&
         S.Where.Offset <= L.Where.Offset &&
         L.Where.Offset + int64_t(L.Size) <= S.Where.Offset + int64_t(S.Size) &&
         areOfOneLine(*S.Inst, *L.Inst);
}

/// Whether the access needs no place of its own in the group: a store covers
/// it, or it takes the place of the loads that it covers.
bool isMerged(Group &G, const WindowAccess &A) {
  if (any_of(G.Accesses, [&](const WindowAccess &S) { return covers(S, A); })) {
    G.Covered.push_back(A);
    return true;
  }
  auto IsCovered = [&](const WindowAccess &L) { return covers(A, L); };
  auto *Place = find_if(G.Accesses, IsCovered);
  if (Place == G.Accesses.end())
    return false;
  copy_if(G.Accesses, std::back_inserter(G.Covered), IsCovered);
  *Place = A;
  G.Accesses.erase(std::remove_if(Place + 1, G.Accesses.end(), IsCovered),
                   G.Accesses.end());
  return true;
}

void addAccess(Window &W, const WindowAccess &A) {
  // Lanes are compared within a group: an access that went to an earlier one
  // would not be compared with those of the last.
  if (!W.Groups.empty() && isMerged(W.Groups.back(), A))
    return;
  Group New = {A.Inst, {A}};
  if (!W.Groups.empty()) {
    Group &Last = W.Groups.back();
    const bool IsFull = Last.Accesses.size() == abi::MaxGroupSize;
    const WindowAccess *AtBarrier = Last.copyAtBarrier();
    const bool IsAnother = A.Async == Completion::Barrier && AtBarrier &&
                           AtBarrier->Inst != A.Inst;
    CodeAhead Ahead = IsFull ? CodeAhead() : Last.Ahead;
    if (!IsAnother && collectAhead(A, Last.Head, Ahead)) {
      if (!IsFull) {
        Last.Accesses.push_back(A);
        Last.Ahead = std::move(Ahead);
        return;
      }
      // One branch leads to the checks of both groups. A watchpoint on a copy
      // begins just before the copy.
      if (!A.Async && !AtBarrier && !Last.hasOwnCopy())
        New = {Last.Head, {A}, std::move(Ahead)};
    }
  }
  W.Groups.push_back(std::move(New));
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

/// Whether all bytes that the load reads are accesses of the group, or covered.
static bool isIn(const Group &G, const LoadInst &Load) {
  uint64_t Bytes = 0;
  for (const WindowAccess &A :
       concat<const WindowAccess>(G.Accesses, G.Covered))
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
    // The check does not see that a covered load reads what its store writes.
    if (!Load || any_of(Covered, [&](const WindowAccess &L) {
          return L.Inst == Load && L.Where.Base == A.Where.Base;
        }))
      return false;
    Access Read;
    Read.Where = locationOf(Load->getPointerOperand());
    if (mayOverlap(A, Read) && !isIn(*this, *Load))
      return false;
  }
  return true;
}

Location WindowAccess::base(APInt &Offset) const {
  Location Base = Where;
  Offset += Base.Offset;
  Base.Offset = 0;
  // In assembly, a number in a space may look like a generic pointer.
  if (!Where.Base || !Where.Base->getType()->isPointerTy() ||
      Where.Base->getType()->getPointerAddressSpace() != Where.Space)
    return Base;
  return locationOf(Where.Base->stripAndAccumulateConstantOffsets(
      Inst->getModule()->getDataLayout(), Offset, /*AllowNonInbounds=*/true));
}

void emitAhead(IRBuilder<> &B, const CodeAhead &Ahead,
               MutableArrayRef<WindowAccess> Accesses) {
  DenseMap<Value *, Value *> Copies;
  for (Instruction *I : Ahead) {
    Instruction *Copy = I->clone();
    Copy->setDebugLoc(DebugLoc());
    Copy->dropPoisonGeneratingAnnotations();
    for (Use &O : Copy->operands())
      if (Value *Known = Copies.lookup(O.get()))
        O.set(Known);
    Copies[I] = B.Insert(Copy);
  }
  for (WindowAccess &A : Accesses)
    for (Value **V : operandsOf(A))
      if (Value *Known = Copies.lookup(*V))
        *V = Known;
}

SmallVector<Window, 4> collectWindows(BasicBlock &BB) {
  SmallVector<Window, 4> Windows;
  Window Current;
  auto Close = [&] {
    if (!Current.Groups.empty())
      Windows.push_back(std::move(Current));
    Current = Window();
  };
  for (Instruction &I : BB) {
    const Events All = eventsOf(I);
    if (!keepsWindow(All)) {
      Close();
      continue;
    }
    for (const Event &E : checkedByCollider(I, All)) {
      const WindowAccess Run = accessOf(E, I);
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
