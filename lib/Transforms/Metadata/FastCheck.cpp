//===- FastCheck.cpp - A metadata check in line -----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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

using Layout = abi::AccessorLayout;

FastCheck::FastCheck(Function &F, IRBuilder<> &B, Value *First, Constant *Sites,
                     bool HasBarriers, bool HasWarpBarriers, bool HasLocks)
    : F(F), HasBarriers(HasBarriers), HasLocks(HasLocks),
      Warp(F, B, HasLocks, HasWarpBarriers) {
  Type *I64 = B.getInt64Ty();
  Count = B.CreateAlloca(B.getInt32Ty());
  B.CreateStore(B.getInt32(0), Count);
  Done = B.CreateAlloca(I64);
  Released = B.CreateAlloca(I64);
  emitForget(B);
  Cells.emplace(F, B);
  const SmallVector<Value *, 4> State = Warp.emitSelf(B, First);
  Cells->emitSharedCells(B, Warp.self());
  Warp.emitFirst(B, State, Sites);
}

void FastCheck::emitBarrier(IntrinsicInst *Barrier) {
  IRBuilder<> B(Barrier);
  B.CreateStore(B.getInt64(0), Done);
  Warp.emitBarrier(Barrier);
}

Value *FastCheck::emitNow(IRBuilder<> &B) {
  return B.CreateLShr(halves(B, Warp.values(B).Mine).second, ClockShift);
}

void FastCheck::emitCount(IRBuilder<> &B, uint32_t Number) {
  B.CreateStore(
      B.CreateAdd(B.CreateLoad(B.getInt32Ty(), Count), B.getInt32(Number)),
      Count);
}

void FastCheck::emitCounted(IRBuilder<> &B) {
  callRuntime(B, CountName, {Warp.self(), B.CreateLoad(B.getInt32Ty(), Count)});
  B.CreateStore(B.getInt32(0), Count);
}

/// Quick::isOrdered in runtime/device/metadata/HappensBefore.h, and P6.
Value *FastCheck::emitIsOrdered(IRBuilder<> &B, const Window &W, const Check &C,
                                Value *Earlier) {
  auto [Low, High] = halves(B, Earlier);
  Value *Zero = B.getInt32(0);
  Value *IsOld = B.CreateICmpULT(High, W.Floor);
  Value *IsSelf = B.CreateICmpEQ(
      B.CreateAnd(B.CreateXor(Low, B.CreateTrunc(C.Mine, B.getInt32Ty())),
                  uint32_t(Layout::Who | Layout::Several)),
      Zero);
  Value *Ordered = B.CreateOr(IsOld, IsSelf);
  const bool MayBeShared = C.A.mayBeShared(), MayBeGlobal = C.A.mayBeGlobal();
  Value *InBlock = nullptr;
  if (MayBeShared || HasBarriers || C.A.IsStrong) {
    InBlock = WarpSnapshot::emitInBlock(B, W, Low);
    Value *IsBefore = HasBarriers ? B.CreateICmpULT(High, W.Barrier)
                                  : static_cast<Value *>(B.getFalse());
    // Who is of another block was there before the memory was this block's.
    Value *ByBlock = !MayBeShared ? B.CreateAnd(InBlock, IsBefore)
                     : !MayBeGlobal
                         ? B.CreateOr(B.CreateNot(InBlock), IsBefore)
                         : B.CreateSelect(InBlock, IsBefore, C.InShared);
    Ordered = B.CreateOr(Ordered, ByBlock);
  }
  // All lanes of the warp have met since (haveMet).
  if (W.Met) {
    Value *Change = B.CreateXor(Low, halves(B, W.Mine).first);
    Value *IsInWarp = B.CreateICmpEQ(
        B.CreateAnd(Change, uint32_t(Layout::Who & ~Layout::LaneMask)), Zero);
    Ordered = B.CreateOr(Ordered,
                         B.CreateAnd(IsInWarp, B.CreateICmpULT(High, W.Met)));
  }
  // What its warp had done by then has reached this one (judge, near).
  if (HasLocks) {
    Type *I32 = B.getInt32Ty();
    Value *Mine = WarpSnapshot::emitWarp(B, W.Place);
    Value *Theirs = B.CreateAnd(B.CreateLShr(Low, Layout::WarpAt),
                                B.getInt32(abi::NumWarps - 1));
    // knownEntry.
    static_assert(abi::KnownEntries == 32 && abi::WarpBits == 15);
    Value *Entry =
        B.CreateAnd(B.CreateXor(Theirs, B.CreateXor(B.CreateLShr(Theirs, 5),
                                                    B.CreateLShr(Theirs, 10))),
                    B.getInt32(abi::KnownEntries - 1));
    Value *Offset = B.CreateShl(
        B.CreateAdd(B.CreateMul(Mine, B.getInt32(abi::KnownEntries)), Entry),
        2);
    Value *Known = emitAssembly(
        B, I32, "ld.global.u32 $0, [$1];", "=r,l,~{memory}",
        {B.CreateAdd(B.CreateAdd(Cells->pages(),
                                 B.getInt64(abi::KnownAt - abi::PagesAt)),
                     B.CreateZExt(Offset, B.getInt64Ty()))});
    Value *IsKnown = B.CreateICmpULT(B.CreateLShr(High, ClockShift), Known);
    // Of its own warp that says nothing of a lane.
    Ordered =
        B.CreateOr(Ordered, B.CreateAnd(IsKnown, B.CreateICmpNE(Theirs, Mine)));
  }
  if (!C.A.IsStrong)
    return Ordered;
  // P6: strong as well, and in each other's scope.
  Value *IsStrong =
      B.CreateICmpNE(B.CreateAnd(Low, uint32_t(Layout::Strong)), Zero);
  Value *IsNear = InBlock;
  if (C.A.IsWide)
    IsNear = B.CreateOr(
        IsNear,
        B.CreateICmpNE(B.CreateAnd(Low, uint32_t(Layout::WideOrLocked)), Zero));
  return B.CreateOr(Ordered, B.CreateAnd(IsStrong, IsNear));
}

/// The bytes of a word, as Bytes has them, at Layout::BytesAt.
Value *FastCheck::emitBytes(IRBuilder<> &B, const FastAccess &A) {
  Value *Byte = B.CreateAnd(A.Address, 3);
  Value *Code = A.Size == 1 ? B.CreateAdd(Byte, B.getInt64(1))
                            : B.CreateAdd(B.CreateLShr(Byte, 1), B.getInt64(5));
  return B.CreateShl(Code, Layout::BytesAt);
}

/// Of an access's cells: a shared location is its block's alone.
static StringRef scopeOf(const FastAccess &A) {
  return A.Space == NVPTXAS::ADDRESS_SPACE_SHARED ? "cta" : "gpu";
}

/// Loads the cells of an access; a write is in them by then. `Several`: the
/// bit, if lanes are here together.
void FastCheck::emitLoads(IRBuilder<> &B, Check &C, const Window &W,
                          Value *Several) {
  const FastAccess &A = C.A;
  Type *I64 = B.getInt64Ty();
  C.Mine = B.CreateOr(W.Mine, uint64_t(A.Number) << Layout::SiteAt);
  if (A.IsStrong) {
    C.Mine = B.CreateAnd(C.Mine, ~Layout::WideOrLocked);
    C.Mine = B.CreateOr(C.Mine,
                        Layout::Strong | (A.IsWide ? Layout::WideOrLocked : 0));
  }
  if (A.Size < 4)
    C.Mine = B.CreateOr(C.Mine, emitBytes(B, A));
  if (!A.Writes && A.IsUniform)
    C.Mine = B.CreateOr(C.Mine, Several);
  const StringRef Scope = scopeOf(A);
  for (uint32_t Word = 0; Word * 4 < A.Size; ++Word) {
    Value *Cell = Word ? B.CreateAdd(C.At, B.getInt64(Word * 16)) : C.At;
    if (A.Writes && !A.IsStrong) {
      Value *Writer = emitAssembly(
          B, I64,
          ("atom.relaxed." + Scope + ".global.exch.b64 $0, [$1], $2;").str(),
          "=l,l,l,~{memory}", {Cell, C.Mine});
      Value *Reader = emitAssembly(
          B, I64, ("ld.relaxed." + Scope + ".global.u64 $0, [$1];").str(),
          "=l,l,~{memory}", {B.CreateAdd(Cell, B.getInt64(8))});
      C.Cells.push_back({Writer, Reader});
      continue;
    }
    // Weak: what the multiprocessor's cache says will do. A write that it hides
    // finds this read instead, in the cell. But strong reads wait for what
    // others write.
    const std::string Load =
        "ld" + (A.IsStrong ? (".relaxed." + Scope).str() : std::string()) +
        ".global.v2.u64 {$0, $1}, [$2];";
    Value *Found = emitAssembly(B, StructType::get(I64, I64), Load,
                                "=l,=l,l,~{memory}", {Cell});
    C.Cells.push_back(
        {B.CreateExtractValue(Found, 0), B.CreateExtractValue(Found, 1)});
  }
}

/// The glance: whether all whom the cells of a weak access name are of the
/// past.
Value *FastCheck::emitIsOld(IRBuilder<> &B, const Check &C, const Window &W) {
  const FastAccess &A = C.A;
  Value *Past = !A.mayBeShared() ? W.Floor
                : !A.mayBeGlobal()
                    ? W.Barrier
                    : B.CreateSelect(C.InShared, W.Barrier, W.Floor);
  Value *AreOld = B.getTrue();
  for (const Check::Accessors &Cell : C.Cells) {
    auto Look = [&](Value *Earlier) {
      AreOld =
          B.CreateAnd(AreOld, B.CreateICmpULT(halves(B, Earlier).second, Past));
    };
    Look(Cell.Writer);
    if (A.Writes)
      Look(Cell.Reader);
  }
  return AreOld;
}

/// `What` into one word of a cell, `At`.
static void emitStoreIf(IRBuilder<> &B, Value *Condition, const FastAccess &A,
                        Value *At, Value *What) {
  emitAssembly(B, B.getVoidTy(),
               ("{ .reg .pred p; setp.ne.u32 p, $0, 0; @p st.relaxed." +
                scopeOf(A) + ".global.u64 [$1], $2; }")
                   .str(),
               "r,l,l,~{memory}",
               {B.CreateZExt(Condition, B.getInt32Ty()), At, What});
}

/// Whether a word's cell does as well with the reader that it has as with this
/// one: of those that nothing orders, whichever has the larger hash stays, so
/// that many readers write little and none is preferred.
Value *FastCheck::emitIsKept(IRBuilder<> &B, const Check &C, const Window &W,
                             Value *Reader) {
  const FastAccess &A = C.A;
  const auto [MyLow, MyHigh] = halves(B, W.Mine);
  const auto [Low, High] = halves(B, Reader);
  // Of the thread and the clock.
  auto Hash = [&](Value *Low, Value *High) {
    static_assert(Layout::BytesAt == 20);
    return B.CreateAdd(B.CreateMul(High, B.getInt32(0x9e3779b1u)),
                       B.CreateMul(Low, B.getInt32(0x85ebd000u)));
  };
  // All of a word's bytes are 0, and so is weak. What a weak access accuses, a
  // strong one does not.
  Value *Equal = B.getInt32(Layout::BytesMask |
                            (A.IsStrong ? uint64_t(0) : Layout::Strong));
  Value *Change = B.CreateXor(Low, MyLow);
  if (A.Size < 4)
    Change = B.CreateXor(Low, halves(B, C.Mine).first);
  // Another block's is of the time before the memory was this one's.
  if (A.mayBeShared()) {
    Value *OtherBlock = WarpSnapshot::emitOtherBlock(B, W);
    Equal = B.CreateOr(
        Equal, !A.mayBeGlobal()
                   ? OtherBlock
                   : B.CreateSelect(C.InShared, OtherBlock, B.getInt32(0)));
  }
  Value *IsKept = B.CreateICmpEQ(B.CreateAnd(Change, Equal), B.getInt32(0));
  IsKept =
      B.CreateAnd(IsKept, B.CreateICmpUGE(High, WarpSnapshot::emitClock(B, W)));
  return B.CreateAnd(IsKept,
                     B.CreateICmpUGE(Hash(Low, High), Hash(MyLow, MyHigh)));
}

/// Remembers a read in those of its cells that do not do as well with another.
void FastCheck::emitReaders(IRBuilder<> &B, const Check &C, const Window &W) {
  for (uint32_t Word = 0; Word * 4 < C.A.Size; ++Word)
    emitStoreIf(B, B.CreateNot(emitIsKept(B, C, W, C.Cells[Word].Reader)), C.A,
                B.CreateAdd(C.At, B.getInt64(Word * 16 + 8)), C.Mine);
}

/// A strong access remembers that it read, for mayHaveSeen, and that it wrote.
void FastCheck::emitStrong(IRBuilder<> &B, const Check &C, const Window &W) {
  const FastAccess &A = C.A;
  if (A.Reads) {
    Value *Hash =
        B.CreateMul(B.CreateTrunc(B.CreateLShr(A.Address, 4), B.getInt32Ty()),
                    B.getInt32(0x9e3779b1u));
    Value *Bit = B.CreateShl(
        B.getInt64(1), B.CreateZExt(B.CreateLShr(Hash, 26), B.getInt64Ty()));
    emitAssembly(
        B, B.getVoidTy(),
        "{ .reg .pred p; .reg .b64 s; "
        "ld.global.u64 s, [$0]; not.b64 s, s; "
        "and.b64 s, s, $1; setp.ne.u64 p, s, 0; "
        "@p red.relaxed.gpu.global.or.b64 [$0], $1; }",
        "l,l,~{memory}",
        {B.CreateAdd(Warp.self(), B.getInt64(offsetof(abi::WarpState, Seen))),
         Bit});
  }
  if (!A.Writes)
    return;
  for (uint32_t Word = 0; Word * 4 < A.Size; ++Word) {
    // Everybody may be here: what tells nothing new is not written. What a
    // weak access accuses, a strong one does not.
    Value *Writer = C.Cells[Word].Writer;
    Value *Change = B.CreateXor(Writer, C.Mine);
    Value *IsOld = B.CreateAnd(
        B.CreateICmpEQ(B.CreateAnd(Change, Layout::Strong | Layout::SiteMask),
                       B.getInt64(0)),
        B.CreateICmpUGE(halves(B, Writer).second, W.Floor));
    Value *IsWeaker =
        B.CreateICmpEQ(B.CreateAnd(B.CreateXor(Change, Layout::Strong),
                                   Layout::WhoAndWhen | Layout::Strong),
                       B.getInt64(0));
    emitStoreIf(B, B.CreateNot(B.CreateOr(IsOld, IsWeaker)), A,
                B.CreateAdd(C.At, B.getInt64(Word * 16)), C.Mine);
  }
}

/// The closer look: whether any of those whom the cells name is not surely
/// ordered before the access.
Value *FastCheck::emitSuspects(IRBuilder<> &B, Check &C, const Window &W) {
  Value *AnySuspect = B.getFalse();
  auto Judge = [&](Value *Earlier) {
    Value *IsSuspect = B.CreateNot(emitIsOrdered(B, W, C, Earlier));
    AnySuspect = B.CreateOr(AnySuspect, IsSuspect);
    return IsSuspect;
  };
  for (uint32_t Word = 0; Word * 4 < C.A.Size; ++Word) {
    const auto [Writer, Reader] = C.Cells[Word];
    if (C.A.Writes)
      Judge(Reader);
    Value *IsSuspect = Judge(Writer);
    if (C.A.Reader && Word == 0)
      B.CreateStore(
          B.CreateSelect(emitIsOrdered(B, W, C, Reader), B.getInt64(0), Reader),
          C.A.Reader);
    if (!C.A.Writes)
      continue;
    // Of several words, the last suspect stands for all.
    Value *Offset = B.getInt64(Word * 4);
    C.Replaced = Word ? B.CreateSelect(IsSuspect, Writer, C.Replaced) : Writer;
    C.Offset = Word ? B.CreateSelect(IsSuspect, Offset, C.Offset) : Offset;
  }
  return AnySuspect;
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

void FastCheck::emit(Instruction *Before, ArrayRef<FastAccess> Accesses) {
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Type *I32 = B.getInt32Ty();
  const Window W = Warp.values(B);
  // Care is needed: by the warp; ...
  Value *NeedsCare = B.CreateICmpSLT(W.Place, B.getInt32(0));
  auto OrIf = [&](Value *Condition) {
    if (Condition)
      NeedsCare = B.CreateOr(NeedsCare, Condition);
  };
  SmallVector<LocatedAccess> Located;
  for (const FastAccess &A : Accesses) {
    Located.push_back({A});
    // ... for memory that is not tracked exactly; for what is not aligned; ...
    OrIf(Cells->emitWhere(B, W.Place, Located));
    if (!A.IsAligned && A.Size > 1)
      OrIf(B.CreateICmpNE(B.CreateAnd(A.Address, A.Size - 1), B.getInt64(0)));
  }
  // ... where not all that lie together lie in one page.
  SmallVector<Check> Checks;
  for (const LocatedAccess &L : Located) {
    OrIf(CellLocator::emitIsSplit(B, L));
    Checks.push_back({L});
  }

  // Head, then Fast, unless care is needed; then perhaps Closer, and perhaps
  // Slow; then Tail.
  BasicBlock *Head = Before->getParent();
  BasicBlock *Tail = Head->splitBasicBlock(Before->getIterator());
  LLVMContext &Context = F.getContext();
  BasicBlock *Fast = BasicBlock::Create(Context, "", &F, Tail);
  BasicBlock *Closer = BasicBlock::Create(Context, "", &F, Tail);
  BasicBlock *Slow = BasicBlock::Create(Context, "", &F, Tail);
  MDNode *Rare = MDBuilder(Context).createUnlikelyBranchWeights();
  Head->getTerminator()->eraseFromParent();
  B.SetInsertPoint(Head);
  B.CreateCondBr(NeedsCare, Slow, Fast, Rare);

  B.SetInsertPoint(Fast);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Several = nullptr;
  if (any_of(Accesses,
             [](const FastAccess &A) { return !A.Writes && A.IsUniform; })) {
    // The other lanes read it, too, unless there is no other.
    Value *Here = emitAssembly(B, I32, "activemask.b32 $0;", "=r", {});
    Value *IsAlone = B.CreateICmpEQ(
        B.CreateAnd(Here, B.CreateSub(Here, B.getInt32(1))), B.getInt32(0));
    Several =
        B.CreateSelect(IsAlone, B.getInt64(0), B.getInt64(Layout::Several));
  }
  // Writes first: of two threads that each write what the other one reads, at
  // the same time, one at least finds the other.
  for (const bool Writes : {true, false})
    for (Check &C : Checks)
      if (C.A.Writes == Writes)
        emitLoads(B, C, W, Several);
  Value *AreOld = B.getTrue(), *AreKept = nullptr;
  for (const Check &C : Checks) {
    if (C.A.IsStrong)
      emitStrong(B, C, W);
    // Atomics come again and again to what others have written just now.
    AreOld = C.A.IsStrong ? static_cast<Value *>(B.getFalse())
                          : B.CreateAnd(AreOld, emitIsOld(B, C, W));
    if (!C.A.Writes && C.A.IsRemembered)
      for (const Check::Accessors &Cell : C.Cells) {
        Value *IsKept = emitIsKept(B, C, W, Cell.Reader);
        AreKept = AreKept ? B.CreateAnd(AreKept, IsKept) : IsKept;
      }
  }
  if (AreKept) {
    BasicBlock *Remember = BasicBlock::Create(Context, "", &F, Closer);
    BasicBlock *Glanced = BasicBlock::Create(Context, "", &F, Closer);
    B.CreateCondBr(AreKept, Glanced, Remember);
    B.SetInsertPoint(Remember);
    for (const Check &C : Checks)
      if (!C.A.Writes && C.A.IsRemembered)
        emitReaders(B, C, W);
    B.CreateBr(Glanced);
    B.SetInsertPoint(Glanced);
  }
  B.CreateCondBr(AreOld, Tail, Closer);

  B.SetInsertPoint(Closer);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *IsSuspect = B.getFalse();
  for (Check &C : Checks)
    IsSuspect = B.CreateOr(IsSuspect, emitSuspects(B, C, W));
  B.CreateCondBr(IsSuspect, Slow, Tail, Rare);

  // What follows needs no more registers than the accesses themselves do: it
  // looks at the cells anew, after what is no longer in them.
  B.SetInsertPoint(Slow);
  auto FromCloser = [&](Value *V) {
    PHINode *Phi = B.CreatePHI(V->getType(), 2);
    Phi->addIncoming(ConstantInt::get(V->getType(), 0), Head);
    Phi->addIncoming(V, Closer);
    return Phi;
  };
  for (Check &C : Checks)
    if (C.A.Writes) {
      C.Replaced = FromCloser(C.Replaced);
      if (!isa<Constant>(C.Offset))
        C.Offset = FromCloser(C.Offset);
    }
  for (const Check &C : Checks)
    if (C.A.Writes) {
      B.SetCurrentDebugLocation(C.A.Loc);
      callRuntime(B, AccessCheckName,
                  {C.A.Site, B.CreateAdd(C.A.Address, C.Offset),
                   B.getInt64(std::min(C.A.Size, 4u)), C.Replaced,
                   B.getInt32(abi::CheckReplaced), W.Place});
    }
  for (const Check &C : Checks)
    if (C.A.Reader) {
      B.SetCurrentDebugLocation(C.A.Loc);
      B.CreateStore(
          callRuntime(B, SwapReaderName, {C.A.Site, C.A.Address, W.Place}),
          C.A.Reader);
    }
  // A write's check takes the place of another one's in the cell, so reads come
  // first.
  for (const bool Writes : {false, true})
    for (const Check &C : Checks)
      if (C.A.Writes == Writes) {
        B.SetCurrentDebugLocation(C.A.Loc);
        callRuntime(B, AccessCheckName,
                    {C.A.Site, C.A.Address, B.getInt64(C.A.Size), B.getInt64(0),
                     B.getInt32(0), W.Place});
      }
  B.SetCurrentDebugLocation(DebugLoc());
  B.CreateBr(Tail);
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
  SmallVector<AllocaInst *> Variables = Warp.variables();
  Variables.append({Count, Done, Released});
  Cells->finish(Variables);
  DominatorTree DT(F);
  PromoteMemToReg(Variables, DT);
  Warp.finish();
}

} // namespace crsan
