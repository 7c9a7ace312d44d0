// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A metadata check in line.

#include "Metadata/FastCheck.h"
#include "DeviceRuntime.h"
#include "crsan/abi/Check.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace crsan {

FastCheck::FastCheck(Function &F, IRBuilder<> &B, Value *First, Constant *Sites,
                     uint32_t Shape)
    : F(F), Shape(Shape), Warp(F, B, Shape) {
  Type *I64 = B.getInt64Ty();
  Count = B.CreateAlloca(B.getInt32Ty());
  B.CreateStore(B.getInt32(0), Count);
  Done = B.CreateAlloca(I64);
  Released = B.CreateAlloca(I64);
  emitForget(B);
  Cells.emplace(F, B, First);
  Warp.emitState(B, First);
  Cells->emitSharedCells(B, Warp.state());
  Warp.emitFirst(B, First, Sites);
}

void FastCheck::emitBarrier(IntrinsicInst *Barrier, Constant *Site,
                            uint32_t Number, Value *Iteration) {
  IRBuilder<> B(Barrier);
  B.CreateStore(B.getInt64(0), Done);
  Warp.emitBarrier(Barrier, Site, Number, Iteration);
}

Value *FastCheck::emitNow(IRBuilder<> &B) {
  return B.CreateTrunc(
      B.CreateLShr(Warp.values(B).Mine, abi::AccessorLayout::ClockAt),
      B.getInt32Ty());
}

void FastCheck::emitCount(IRBuilder<> &B, uint32_t Number) {
  B.CreateStore(
      B.CreateAdd(B.CreateLoad(B.getInt32Ty(), Count), B.getInt32(Number)),
      Count);
}

void FastCheck::emitCounted(IRBuilder<> &B) {
  callRuntime(B, CountName,
              {Warp.state(), B.CreateLoad(B.getInt32Ty(), Count)});
  B.CreateStore(B.getInt32(0), Count);
}

Constant *FastCheck::shape(const FastAccess &A) const {
  return ConstantInt::get(Type::getInt32Ty(F.getContext()), A.shape() | Shape);
}

Value *FastCheck::emitIsOrdered(IRBuilder<> &B, const Values &W, const Check &C,
                                Value *Earlier) {
  return callRuntime(B, "__crsan_in_is_ordered",
                     {W.Mine, W.Place, W.Barrier, W.Floor, W.Met, C.Mine,
                      Earlier, C.InShared, W.Start, Cells->pages(),
                      shape(C.A)});
}

/// Looks at the cells of an access; a weak write is in them by then.
void FastCheck::emitLook(IRBuilder<> &B, const Values &W, Check &C,
                         Value *Several) {
  const FastAccess &A = C.A;
  const bool MayBeSeveral = !A.Writes && A.IsUniform;
  C.Mine = callRuntime(B, "__crsan_in_accessor",
                       {W.Mine, B.getInt32(A.Number), A.Address,
                        MayBeSeveral ? Several : B.getInt64(0), shape(A)});
  for (uint32_t Byte = 0; Byte < A.Size; Byte += 4) {
    Value *At = B.CreateAdd(C.At, B.getInt64(Byte / 4 * sizeof(abi::Cell)));
    Value *Found = callRuntime(B, "__crsan_in_look", {At, C.Mine, shape(A)});
    C.Cells.push_back(
        {At, B.CreateExtractValue(Found, 0), B.CreateExtractValue(Found, 1)});
  }
}

/// Remembers a read in those of its cells that do not do as well with another.
void FastCheck::emitReaders(IRBuilder<> &B, const Check &C) {
  for (const Check::Accessors &Cell : C.Cells)
    callRuntime(B, "__crsan_in_remember",
                {Cell.At, C.Mine, Cell.IsKept, shape(C.A)});
}

/// A strong access notes that it reads, and that it writes.
void FastCheck::emitStrong(IRBuilder<> &B, const Values &W, const Check &C) {
  if (C.A.Reads)
    callRuntime(B, "__crsan_in_note_read",
                {Warp.state(), C.A.Address, W.Mine, W.Barrier, Cells->pages(),
                 shape(C.A)});
  if (!C.A.Writes)
    return;
  for (const Check::Accessors &Cell : C.Cells)
    callRuntime(B, "__crsan_in_note_write",
                {Cell.At, C.Mine, W.Floor, Cell.Writer, shape(C.A)});
}

/// Finds the cells of all accesses. Returns whether the runtime must look at
/// them: because the warp needs care, ...
Value *FastCheck::emitLocated(IRBuilder<> &B, const Values &W,
                              ArrayRef<FastAccess> Accesses,
                              SmallVectorImpl<Check> &Checks) {
  Value *NeedsCare = B.CreateICmpSLT(W.Place, B.getInt32(0));
  auto OrIf = [&](Value *Condition) {
    if (Condition)
      NeedsCare = B.CreateOr(NeedsCare, Condition);
  };
  SmallVector<LocatedAccess> Located;
  for (const FastAccess &A : Accesses) {
    Located.push_back({A});
    // ... because the memory has no exact cells, or the address is not aligned,
    OrIf(Cells->emitWhere(B, W.Place, Located));
    if (!A.IsAligned && A.Size > 1)
      OrIf(B.CreateICmpNE(B.CreateAnd(A.Address, A.Size - 1), B.getInt64(0)));
  }
  // ... or because accesses that are near each other are not in one page.
  for (const LocatedAccess &L : Located) {
    OrIf(CellLocator::emitIsSplit(B, L));
    Checks.push_back({L});
  }
  return NeedsCare;
}

/// The glance, and what cells are to remember. Goes on at `Tail` if all whom
/// the cells name are of the past.
void FastCheck::emitGlance(IRBuilder<> &B, const Values &W,
                           MutableArrayRef<Check> Checks, BasicBlock *Closer,
                           BasicBlock *Tail) {
  auto IsRemembered = [](const Check &C) {
    return !C.A.Writes && C.A.IsRemembered;
  };
  Value *Several = nullptr;
  if (any_of(Checks,
             [](const Check &C) { return !C.A.Writes && C.A.IsUniform; }))
    Several = callRuntime(B, "__crsan_in_several", {});
  // Writes first: of two threads that each write what the other one reads, at
  // the same time, one at least finds the other.
  for (const bool Writes : {true, false})
    for (Check &C : Checks)
      if (C.A.Writes == Writes)
        emitLook(B, W, C, Several);
  Value *AreOld = B.getTrue(), *AreKept = nullptr;
  unsigned NumRemembered = 0;
  for (Check &C : Checks) {
    if (C.A.IsStrong) {
      emitStrong(B, W, C);
      // Atomics come again and again to what others have written just now.
      AreOld = B.getFalse();
    }
    for (Check::Accessors &Cell : C.Cells) {
      if (!C.A.IsStrong)
        AreOld = B.CreateAnd(AreOld,
                             callRuntime(B, "__crsan_in_is_old",
                                         {Cell.Writer, Cell.Reader, W.Barrier,
                                          W.Floor, C.InShared, shape(C.A)}));
      if (!IsRemembered(C))
        continue;
      Cell.IsKept = callRuntime(
          B, "__crsan_in_is_kept",
          {W.Mine, C.Mine, W.Place, Cell.Reader, C.InShared, shape(C.A)});
      AreKept = AreKept ? B.CreateAnd(AreKept, Cell.IsKept) : Cell.IsKept;
      ++NumRemembered;
    }
  }
  auto Remembers = [&] {
    for (const Check &C : Checks)
      if (IsRemembered(C))
        emitReaders(B, C);
  };
  if (NumRemembered > 1) {
    BasicBlock *Remember = BasicBlock::Create(F.getContext(), "", &F, Closer);
    BasicBlock *Glanced = BasicBlock::Create(F.getContext(), "", &F, Closer);
    B.CreateCondBr(AreKept, Glanced, Remember);
    B.SetInsertPoint(Remember);
    Remembers();
    B.CreateBr(Glanced);
    B.SetInsertPoint(Glanced);
  } else {
    // A store under a condition takes no more than a branch.
    Remembers();
  }
  B.CreateCondBr(AreOld, Tail, Closer);
}

/// The closer look: whether all of those whom the cells name are surely ordered
/// before the accesses.
FastCheck::Ordered FastCheck::emitCloser(IRBuilder<> &B, const Values &W,
                                         ArrayRef<Check> Checks) {
  Ordered Are = {B.getTrue(), B.getTrue()};
  for (const Check &C : Checks) {
    for (const Check::Accessors &Cell : C.Cells) {
      auto Judge = [&](Value *&AreAll, Value *Earlier) {
        AreAll = B.CreateAnd(AreAll, emitIsOrdered(B, W, C, Earlier));
      };
      if (C.A.Writes)
        Judge(Are.Others, Cell.Reader);
      Judge(C.A.Writes ? Are.Replaced : Are.Others, Cell.Writer);
    }
    if (C.A.Reader)
      B.CreateStore(B.CreateSelect(emitIsOrdered(B, W, C, C.Cells[0].Reader),
                                   B.getInt64(0), C.Cells[0].Reader),
                    C.A.Reader);
  }
  return Are;
}

/// The calls of the runtime. They need no more registers than the accesses
/// themselves do: the runtime looks at the cells anew, after what is no longer
/// in them. `Flags`: CheckSuspects and CheckOthers, or 0 if care is needed.
void FastCheck::emitSlow(IRBuilder<> &B, const Values &W,
                         ArrayRef<Check> Checks, Value *Flags) {
  for (const Check &C : Checks)
    if (C.A.Reader) {
      B.SetCurrentDebugLocation(C.A.Loc);
      B.CreateStore(
          callRuntime(B, SwapReaderName, {C.A.Site, C.A.Address, W.Place}),
          C.A.Reader);
    }
  // A write's check takes the place of another one's in the cell, so reads come
  // first.
  for (const Check &C : Checks)
    if (!C.A.Writes) {
      B.SetCurrentDebugLocation(C.A.Loc);
      callRuntime(B, ReadCheckName, {C.A.Site, C.A.Address, Flags, W.Place});
    }
  for (const Check &C : Checks)
    if (C.A.Writes) {
      B.SetCurrentDebugLocation(C.A.Loc);
      for (const auto &[Word, Cell] : enumerate(C.Cells))
        callRuntime(B, WriteCheckName,
                    {C.A.Site, B.CreateAdd(C.A.Address, B.getInt64(4 * Word)),
                     Cell.Writer,
                     Word ? B.CreateOr(Flags, abi::CheckLaterWord) : Flags,
                     W.Place});
    }
}

void FastCheck::emit(Instruction *Before, ArrayRef<FastAccess> Accesses) {
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  const Values W = Warp.values(B);
  SmallVector<Check> Checks;
  Value *NeedsCare = emitLocated(B, W, Accesses, Checks);

  // Head; then Fast and perhaps Closer and Slow, or, if care is needed, Care
  // and Slow, unless the grid is not followed any more; then Tail. Care sets
  // Reader to 0, since Tail reads it.
  LLVMContext &Context = F.getContext();
  BasicBlock *Head = Before->getParent();
  BasicBlock *Tail = Head->splitBasicBlock(Before->getIterator());
  BasicBlock *Fast = BasicBlock::Create(Context, "", &F, Tail);
  BasicBlock *Closer = BasicBlock::Create(Context, "", &F, Tail);
  BasicBlock *Care = BasicBlock::Create(Context, "", &F, Tail);
  BasicBlock *Slow = BasicBlock::Create(Context, "", &F, Tail);
  MDNode *Rare = MDBuilder(Context).createUnlikelyBranchWeights();
  Head->getTerminator()->eraseFromParent();
  B.SetInsertPoint(Head);
  B.CreateCondBr(NeedsCare, Care, Fast, Rare);

  B.SetInsertPoint(Care);
  for (const Check &C : Checks)
    if (C.A.Reader)
      B.CreateStore(B.getInt64(0), C.A.Reader);
  B.CreateCondBr(B.CreateIsNull(B.CreateAnd(W.Place, abi::Stopped)), Slow,
                 Tail);

  B.SetInsertPoint(Fast);
  B.SetCurrentDebugLocation(DebugLoc());
  emitGlance(B, W, Checks, Closer, Tail);

  B.SetInsertPoint(Closer);
  B.SetCurrentDebugLocation(DebugLoc());
  const Ordered Are = emitCloser(B, W, Checks);
  Value *Suspects =
      B.CreateSelect(Are.Others, B.getInt32(abi::CheckSuspects),
                     B.getInt32(abi::CheckSuspects | abi::CheckOthers));
  B.CreateCondBr(B.CreateAnd(Are.Replaced, Are.Others), Tail, Slow,
                 MDBuilder(Context).createLikelyBranchWeights());

  B.SetInsertPoint(Slow);
  auto FromCloser = [&](Value *Found) {
    PHINode *Phi = B.CreatePHI(Found->getType(), 2);
    Phi->addIncoming(ConstantInt::get(Found->getType(), 0), Care);
    Phi->addIncoming(Found, Closer);
    return Phi;
  };
  for (Check &C : Checks)
    for (Check::Accessors &Cell : C.Cells)
      if (C.A.Writes)
        Cell.Writer = FromCloser(Cell.Writer);
  emitSlow(B, W, Checks, FromCloser(Suspects));
  B.SetCurrentDebugLocation(DebugLoc());
  B.CreateBr(Tail);
}

void FastCheck::emitCalls(Instruction *Before, ArrayRef<FastAccess> Accesses) {
  IRBuilder<> B(Before);
  const Values W = Warp.values(B);
  B.SetInsertPoint(SplitBlockAndInsertIfThen(
      B.CreateIsNull(B.CreateAnd(W.Place, abi::Stopped)), Before->getIterator(),
      /*Unreachable=*/false));
  // Reads first, as in emitSlow().
  for (const bool Writes : {false, true})
    for (const FastAccess &A : Accesses) {
      if (A.Writes != Writes)
        continue;
      B.SetCurrentDebugLocation(A.Loc);
      const uint32_t AnyShape =
          A.shape() | Shape | (A.IsUniform ? abi::ShapeUniform : 0);
      callRuntime(B, QuickCheckName,
                  {A.Site, A.Address, W.Mine, B.getInt32(AnyShape), W.Place});
    }
}

/// What FastCheck::Done says of a strong access.
static Value *emitKey(IRBuilder<> &B, uint32_t Number, Value *Address) {
  // Above what addresses have.
  constexpr unsigned NumberAt = 49;
  return B.CreateAdd(Address, B.getInt64(uint64_t(Number) << NumberAt));
}

void FastCheck::emitStrongCheck(Instruction *Before, const FastAccess &A,
                                bool IsAll) {
  if (!A.Reads)
    return emit(Before, A);
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Key = emitKey(B, A.Number, A.Address);
  Value *IsNew = B.CreateICmpNE(Key, B.CreateLoad(B.getInt64Ty(), Done));
  Instruction *Then = SplitBlockAndInsertIfThen(IsNew, Before->getIterator(),
                                                /*Unreachable=*/false);
  emit(Then, A);
  if (IsAll) {
    B.SetInsertPoint(Then);
    B.CreateStore(Key, Done);
  }
}

void FastCheck::emitForget(IRBuilder<> &B) {
  B.CreateStore(B.getInt64(0), Done);
  B.CreateStore(B.getInt64(0), Released);
}

void FastCheck::emitRelease(Instruction *Before, Constant *Site,
                            Value *Address) {
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *HasFenced = B.CreateICmpNE(
      B.CreateAnd(Warp.values(B).Place, abi::HasFenced), B.getInt32(0));
  Value *IsNew =
      B.CreateICmpNE(Address, B.CreateLoad(B.getInt64Ty(), Released));
  auto *Rare = MDBuilder(F.getContext()).createUnlikelyBranchWeights();
  B.SetInsertPoint(SplitBlockAndInsertIfThen(B.CreateAnd(HasFenced, IsNew),
                                             Before->getIterator(),
                                             /*Unreachable=*/false, Rare));
  B.CreateStore(Address, Released);
  B.SetCurrentDebugLocation(Before->getDebugLoc());
  callRuntime(B, ReleaseName, {Site, Address, emitPlace(B)});
}

void FastCheck::emitDone(Instruction *After, Constant *Site, uint32_t Number,
                         Value *Address, Value *Swap) {
  Instruction *Before = After->getNextNode();
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Key = emitKey(B, Number, Address);
  Value *IsNew =
      B.CreateOr(B.CreateICmpNE(Key, B.CreateLoad(B.getInt64Ty(), Done)),
                 B.CreateICmpEQ(Swap, B.getInt32(2)));
  B.SetInsertPoint(SplitBlockAndInsertIfThen(IsNew, Before->getIterator(),
                                             /*Unreachable=*/false));
  B.SetCurrentDebugLocation(After->getDebugLoc());
  Value *MayRepeat =
      callRuntime(B, StrongDoneName, {Site, Address, Swap, emitPlace(B)});
  B.SetCurrentDebugLocation(DebugLoc());
  B.CreateStore(B.CreateSelect(B.CreateICmpNE(MayRepeat, B.getInt32(0)), Key,
                               B.getInt64(0)),
                Done);
  // A lock that has been taken may be given back.
  B.CreateStore(B.getInt64(0), Released);
  Warp.emitLoad(B);
}

void FastCheck::finish() {
  SmallVector<AllocaInst *> Variables(Warp.variables());
  Variables.append({Count, Done, Released});
  Cells->finish(Variables);
  DominatorTree DT(F);
  PromoteMemToReg(Variables, DT);
  Warp.finish();
}

} // namespace crsan
