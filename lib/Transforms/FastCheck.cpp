//===- FastCheck.cpp - A metadata check in line -----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FastCheck.h"
#include "DeviceRuntime.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace crsan {

namespace {

using Layout = abi::AccessorLayout;

/// To where a clock is in the upper half of an accessor.
constexpr unsigned ClockShift = Layout::ClockAt - 32;

/// Assembly, because each of these is one instruction that nothing may merge,
/// split or move across the synchronisation that it belongs to.
CallInst *emitAssembly(IRBuilder<> &B, Type *Result, StringRef Text,
                       StringRef Constraints, ArrayRef<Value *> Operands) {
  SmallVector<Type *, 4> Types;
  for (Value *V : Operands)
    Types.push_back(V->getType());
  auto *T = FunctionType::get(Result, Types, false);
  return B.CreateCall(
      InlineAsm::get(T, Text, Constraints, /*hasSideEffects=*/true), Operands);
}

} // namespace

FastCheck::FastCheck(Function &F, IRBuilder<> &B, Value *First,
                     bool HasBarriers, bool HasLocks)
    : F(F), HasBarriers(HasBarriers), HasLocks(HasLocks) {
  Module &M = *F.getParent();
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  Mine = B.CreateAlloca(I64);
  Place = B.CreateAlloca(I32);
  Barrier = B.CreateAlloca(I32);
  Floor = B.CreateAlloca(I32);
  Count = B.CreateAlloca(I32);
  B.CreateStore(B.getInt32(0), Count);
  Pages = B.CreateCall(M.getOrInsertFunction(PagesName, I64));
  if (!First) {
    Self = B.CreateCall(M.getOrInsertFunction(SelfName, I64));
    emitWindow(B);
    return;
  }
  SmallVector<Value *, 4> State;
  for (unsigned I = 0; I < 4; ++I)
    State.push_back(B.CreateExtractElement(First, I));
  Self = B.CreateCall(M.getOrInsertFunction(StateName, I64, I32), {State[3]});
  setWindow(B, State);
}

void FastCheck::emitWindow(IRBuilder<> &B) {
  Type *I32 = B.getInt32Ty();
  CallInst *All = emitAssembly(B, StructType::get(I32, I32, I32, I32),
                               "ld.global.v4.u32 {$0, $1, $2, $3}, [$4];",
                               "=r,=r,=r,=r,l,~{memory}", {Self});
  Loaded.push_back(All);
  SmallVector<Value *, 4> State;
  for (unsigned I = 0; I < 4; ++I)
    State.push_back(B.CreateExtractValue(All, I));
  setWindow(B, State);
}

/// `State`: the first four fields of a WarpState.
void FastCheck::setWindow(IRBuilder<> &B, ArrayRef<Value *> State) {
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  B.CreateStore(B.CreateShl(State[1], ClockShift), Barrier);
  B.CreateStore(B.CreateShl(State[2], ClockShift), Floor);
  B.CreateStore(State[3], Place);
  Value *InBlock = B.CreateAnd(B.CreateLShr(State[3], 22), 31);
  Value *Warp = B.CreateAnd(B.CreateAdd(State[3], InBlock), abi::NumWarps - 1);
  Value *Lane =
      B.CreateIntrinsic(I32, Intrinsic::nvvm_read_ptx_sreg_laneid, {});
  Value *Who = B.CreateOr(B.CreateShl(Warp, Layout::WarpAt), Lane);
  if (HasLocks) {
    CallInst *Lanes = emitAssembly(
        B, I32, "ld.global.u32 $0, [$1];", "=r,l,~{memory}",
        {B.CreateAdd(Self, B.getInt64(offsetof(abi::WarpState, LockedLanes)))});
    Loaded.push_back(Lanes);
    Who = B.CreateOr(Who, B.CreateShl(B.CreateAnd(B.CreateLShr(Lanes, Lane), 1),
                                      countr_zero(Layout::WideOrLocked)));
  }
  Value *When = B.CreateShl(State[0], ClockShift);
  B.CreateStore(B.CreateOr(B.CreateShl(B.CreateZExt(When, I64), 32),
                           B.CreateZExt(Who, I64)),
                Mine);
}

void FastCheck::emitBarrier(IntrinsicInst *Old) {
  IRBuilder<> B(Old);
  const DebugLoc Loc = Old->getDebugLoc();
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  const Window W = window(B);
  // Only if all warps have the clock that the last barrier gave them is the
  // next one known to all of them. And only whole warps go on together.
  Value *Clock = B.CreateTrunc(B.CreateLShr(W.Mine, 32), I32);
  constexpr uint32_t Last = ((1u << (64 - Layout::ClockAt)) - 4) << ClockShift;
  Value *Here = emitAssembly(B, I32, "activemask.b32 $0;", "=r", {});
  Value *MustAgree = B.CreateOr(
      B.CreateOr(B.CreateICmpNE(Clock, W.Barrier),
                 B.CreateICmpUGT(Clock, B.getInt32(Last))),
      B.CreateOr(
          B.CreateICmpNE(Here, B.getInt32(~0u)),
          B.CreateICmpNE(B.CreateAnd(W.Place, abi::NeedsCare | abi::HasFresh),
                         B.getInt32(0))));
  B.SetCurrentDebugLocation(Loc);
  const bool IsAligned =
      Old->getIntrinsicID() == Intrinsic::nvvm_barrier_cta_sync_aligned_all;
  CallInst *New = B.CreateIntrinsic(
      B.getInt1Ty(),
      IsAligned ? Intrinsic::nvvm_barrier_cta_red_or_aligned_all
                : Intrinsic::nvvm_barrier_cta_red_or_all,
      {B.getInt32(0), MustAgree});
  Instruction *Agree, *GoOn;
  SplitBlockAndInsertIfThenElse(
      New, Old->getIterator(), &Agree, &GoOn,
      MDBuilder(F.getContext()).createUnlikelyBranchWeights());
  Old->eraseFromParent();
  B.SetInsertPoint(Agree);
  B.SetCurrentDebugLocation(Loc);
  callRuntime(B, BlockAgreeName, {});
  B.SetCurrentDebugLocation(DebugLoc());
  emitWindow(B);

  B.SetInsertPoint(GoOn);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Now = B.CreateAdd(Clock, B.getInt32(1u << ClockShift));
  Value *Unshifted = B.CreateLShr(Now, ClockShift);
  // All lanes, before any goes on: the clock never falls.
  emitAssembly(B, B.getVoidTy(),
               "st.global.v2.u32 [$0], {$1, $1}; bar.warp.sync 0xffffffff;",
               "l,r,~{memory}", {Self, Unshifted})
      ->setConvergent();
  B.CreateStore(Now, Barrier);
  B.CreateStore(B.CreateAdd(W.Mine, ConstantInt::get(
                                        I64, uint64_t(1) << Layout::ClockAt)),
                Mine);
}

FastCheck::Window FastCheck::window(IRBuilder<> &B) {
  auto Load = [&](AllocaInst *A) {
    return B.CreateLoad(A->getAllocatedType(), A);
  };
  return {Load(Mine), Load(Place), Load(Barrier), Load(Floor)};
}

void FastCheck::emitCount(IRBuilder<> &B, uint32_t Number) {
  B.CreateStore(
      B.CreateAdd(B.CreateLoad(B.getInt32Ty(), Count), B.getInt32(Number)),
      Count);
}

void FastCheck::emitCounted(IRBuilder<> &B) {
  callRuntime(B, CountName, {Self, B.CreateLoad(B.getInt32Ty(), Count)});
  B.CreateStore(B.getInt32(0), Count);
}

/// The lower and the upper half of an accessor.
static std::pair<Value *, Value *> halves(IRBuilder<> &B, Value *Accessor) {
  return {B.CreateTrunc(Accessor, B.getInt32Ty()),
          B.CreateTrunc(B.CreateLShr(Accessor, 32), B.getInt32Ty())};
}

/// Quick::isOrdered in runtime/device/Judgement.h, and P6.
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
  const bool MayBeShared = C.A.Space != NVPTXAS::ADDRESS_SPACE_GLOBAL;
  const bool MayBeGlobal = C.A.Space != NVPTXAS::ADDRESS_SPACE_SHARED;
  Value *InBlock = nullptr;
  if (MayBeShared || HasBarriers || C.A.IsStrong) {
    static_assert(Layout::LaneAt == 0 && Layout::WarpAt == 5);
    Value *First = B.CreateShl(W.Place, Layout::WarpAt);
    Value *Number = B.CreateAnd(B.CreateLShr(W.Place, 16 - Layout::WarpAt),
                                63 << Layout::WarpAt);
    InBlock = B.CreateICmpULT(
        B.CreateAnd(B.CreateSub(Low, First), uint32_t(Layout::Who)), Number);
    Value *IsBefore = HasBarriers ? B.CreateICmpULT(High, W.Barrier)
                                  : static_cast<Value *>(B.getFalse());
    // Who is of another block was there before the memory was this block's.
    Value *ByBlock = !MayBeShared ? B.CreateAnd(InBlock, IsBefore)
                     : !MayBeGlobal
                         ? B.CreateOr(B.CreateNot(InBlock), IsBefore)
                         : B.CreateSelect(InBlock, IsBefore, C.InShared);
    Ordered = B.CreateOr(Ordered, ByBlock);
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

/// Where the first cell is. Returns a condition, null if there is none: it may
/// be elsewhere, or nowhere.
Value *FastCheck::emitWhere(IRBuilder<> &B, const Window &W, Check &C,
                            ArrayRef<Check> Others) {
  const FastAccess &A = C.A;
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  const bool MayBeShared = A.Space != NVPTXAS::ADDRESS_SPACE_GLOBAL;
  const bool MayBeGlobal = A.Space != NVPTXAS::ADDRESS_SPACE_SHARED;
  // Near one that has been found: in the same page, as a rule.
  for (const Check &Other : Others) {
    const int64_t Distance = A.Offset - Other.A.Offset;
    if (!A.Root || Other.A.Root != A.Root || Other.A.Space != A.Space ||
        A.Size < 4 || Other.A.Size < 4 || Distance % 4 != 0 ||
        std::abs(Distance) >= int64_t(abi::PageBytes))
      continue;
    C.InShared = Other.InShared;
    C.At = B.CreateAdd(Other.At, B.getInt64(Distance * 4));
    if (!MayBeGlobal)
      return nullptr;
    C.PageOffset = B.CreateAdd(Other.PageOffset, B.getInt32(Distance));
    Value *IsElsewhere =
        B.CreateICmpUGE(C.PageOffset, B.getInt32(abi::PageBytes));
    return MayBeShared ? B.CreateAnd(IsElsewhere, B.CreateNot(C.InShared))
                       : IsElsewhere;
  }
  C.InShared = B.getInt1(!MayBeGlobal);
  if (MayBeShared && MayBeGlobal)
    C.InShared = B.CreateIntrinsic(Intrinsic::nvvm_isspacep_shared,
                                   {B.CreateIntToPtr(A.Address, B.getPtrTy())});
  Value *SharedCell = nullptr, *IsNowhere = nullptr;
  if (MayBeShared) {
    Value *Cells = B.CreateLoad(
        I64, B.CreateIntToPtr(
                 B.CreateAdd(Self,
                             B.getInt64(offsetof(abi::WarpState, SharedCells))),
                 B.getPtrTy(NVPTXAS::ADDRESS_SPACE_GLOBAL)));
    Value *Offset = B.CreatePtrToInt(
        B.CreateAddrSpaceCast(B.CreateIntToPtr(A.Address, B.getPtrTy()),
                              B.getPtrTy(NVPTXAS::ADDRESS_SPACE_SHARED)),
        I32);
    Offset = B.CreateShl(B.CreateAnd(Offset, ~3u), 2);
    SharedCell = B.CreateAdd(Cells, B.CreateZExt(Offset, I64));
    IsNowhere = B.CreateICmpEQ(Cells, B.getInt64(0));
    if (!MayBeGlobal) {
      C.At = SharedCell;
      return IsNowhere;
    }
  }
  // Without a table, or with care needed, there is only its first entry.
  constexpr uint64_t IndexMask = uint64_t(abi::NumPages - 1) << 3;
  Value *Mask = B.CreateSelect(B.CreateICmpSLT(W.Place, B.getInt32(0)),
                               B.getInt64(0), B.getInt64(IndexMask));
  Value *Entry = emitAssembly(
      B, I64, "ld.global.u64 $0, [$1];", "=l,l,~{memory}",
      {B.CreateAdd(
          Pages,
          B.CreateAnd(B.CreateLShr(A.Address, abi::PageShift - 3), Mask))});
  // Exact, and of this very page: pageTag.
  constexpr unsigned TagAt = abi::PageTagAt - 32;
  Value *Tag = B.CreateAdd(
      B.CreateShl(B.CreateTrunc(B.CreateLShr(A.Address, 32), I32),
                  TagAt - (abi::PageShift + abi::PageIndexBits - 32)),
      B.getInt32(1u << TagAt));
  Value *Wrong =
      B.CreateAnd(B.CreateXor(B.CreateTrunc(B.CreateLShr(Entry, 32), I32), Tag),
                  B.getInt32(~0u << TagAt));
  Value *IsElsewhere = B.CreateICmpNE(Wrong, B.getInt32(0));
  Value *Base = B.CreateAnd(Entry, (uint64_t(1) << abi::PageTagAt) - 4096);
  C.PageOffset = B.CreateAnd(B.CreateTrunc(A.Address, I32), abi::PageBytes - 1);
  Value *CellOffset = B.CreateShl(
      A.Size < 4 ? B.CreateAnd(C.PageOffset, ~3u) : C.PageOffset, 2);
  C.At = B.CreateAdd(Base, B.CreateZExt(CellOffset, I64));
  if (!MayBeShared)
    return IsElsewhere;
  C.At = B.CreateSelect(C.InShared, SharedCell, C.At);
  return B.CreateSelect(C.InShared, IsNowhere, IsElsewhere);
}

/// Loads the cells of an access; a write is in them by then.
void FastCheck::emitLoads(IRBuilder<> &B, Check &C, const Window &W) {
  const FastAccess &A = C.A;
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  // One multiplication and addition of 64 bits.
  C.Mine = emitAssembly(B, I64, "mad.wide.u32 $0, $1, $2, $3;", "=l,r,n,l",
                        {C.Index, B.getInt32(1u << Layout::SiteAt), W.Mine});
  if (A.IsStrong) {
    C.Mine = B.CreateAnd(C.Mine, ~Layout::WideOrLocked);
    C.Mine = B.CreateOr(C.Mine,
                        Layout::Strong | (A.IsWide ? Layout::WideOrLocked : 0));
  }
  if (A.Size < 4)
    C.Mine = B.CreateOr(C.Mine, emitBytes(B, A));
  if (!A.Writes && A.IsUniform) {
    // The other lanes read it, too, unless there is no other.
    Value *Here = emitAssembly(B, I32, "activemask.b32 $0;", "=r", {});
    Value *IsAlone = B.CreateICmpEQ(
        B.CreateAnd(Here, B.CreateSub(Here, B.getInt32(1))), B.getInt32(0));
    C.Mine =
        B.CreateSelect(IsAlone, C.Mine, B.CreateOr(C.Mine, Layout::Several));
  }
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

/// Looks at what the cells of an access say, and remembers it there.
void FastCheck::emitCells(IRBuilder<> &B, Check &C, const Window &W) {
  const FastAccess &A = C.A;
  Type *I32 = B.getInt32Ty();
  if (A.IsStrong && A.Reads) {
    Value *Hash = B.CreateMul(B.CreateTrunc(B.CreateLShr(A.Address, 4), I32),
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
        {B.CreateAdd(Self, B.getInt64(offsetof(abi::WarpState, Seen))), Bit});
  }
  auto Judge = [&](Value *Earlier) {
    Value *IsSuspect = B.CreateNot(emitIsOrdered(B, W, C, Earlier));
    C.IsSuspect = C.IsSuspect ? B.CreateOr(C.IsSuspect, IsSuspect) : IsSuspect;
    return IsSuspect;
  };
  // Of several words, the last suspect stands for all.
  auto JudgeReplaced = [&](Value *Earlier, uint32_t Word) {
    Value *IsSuspect = Judge(Earlier);
    Value *Offset = B.getInt64(Word * 4);
    C.Replaced =
        Word ? B.CreateSelect(IsSuspect, Earlier, C.Replaced) : Earlier;
    C.Offset = Word ? B.CreateSelect(IsSuspect, Offset, C.Offset) : Offset;
  };
  auto StoreIf = [&](Value *Condition, Value *At, Value *What) {
    emitAssembly(B, B.getVoidTy(),
                 ("{ .reg .pred p; setp.ne.u32 p, $0, 0; @p st.relaxed." +
                  scopeOf(A) + ".global.u64 [$1], $2; }")
                     .str(),
                 "r,l,l,~{memory}", {B.CreateZExt(Condition, I32), At, What});
  };
  auto Remember = [&](Value *Reader, Value *Cell) {
    auto [Low, High] = halves(B, B.CreateXor(Reader, C.Mine));
    uint32_t Counts = Layout::Who | Layout::BytesMask;
    if (!A.IsStrong)
      Counts |= Layout::Strong;
    Value *IsNew =
        B.CreateOr(B.CreateICmpNE(B.CreateAnd(Low, Counts), B.getInt32(0)),
                   B.CreateICmpUGE(High, B.getInt32(1u << ClockShift)));
    Value *IsMore = B.CreateAnd(
        B.CreateICmpEQ(B.CreateAnd(Low, uint32_t(Layout::SameButLane)),
                       B.getInt32(0)),
        B.CreateICmpEQ(High, B.getInt32(0)));
    Value *Now =
        B.CreateSelect(IsMore, B.CreateOr(C.Mine, Layout::Several), C.Mine);
    StoreIf(IsNew, B.CreateAdd(Cell, B.getInt64(8)), Now);
  };
  for (uint32_t Word = 0; Word * 4 < A.Size; ++Word) {
    Value *Cell = Word ? B.CreateAdd(C.At, B.getInt64(Word * 16)) : C.At;
    const auto [Writer, Reader] = C.Cells[Word];
    if (!A.Writes) {
      if (A.IsRemembered)
        Remember(Reader, Cell);
      Judge(Writer);
      continue;
    }
    if (A.IsStrong) {
      // Everybody may be here: what tells nothing new is not written. What a
      // weak access accuses, a strong one does not.
      Value *Change = B.CreateXor(Writer, C.Mine);
      Value *IsOld = B.CreateAnd(
          B.CreateICmpEQ(B.CreateAnd(Change, Layout::Strong | Layout::SiteMask),
                         B.getInt64(0)),
          B.CreateICmpUGE(halves(B, Writer).second, W.Floor));
      Value *IsWeaker =
          B.CreateICmpEQ(B.CreateAnd(B.CreateXor(Change, Layout::Strong),
                                     Layout::WhoAndWhen | Layout::Strong),
                         B.getInt64(0));
      StoreIf(B.CreateNot(B.CreateOr(IsOld, IsWeaker)), Cell, C.Mine);
    }
    Judge(Reader);
    JudgeReplaced(Writer, Word);
  }
}

void FastCheck::emit(Instruction *Before, ArrayRef<FastAccess> Accesses) {
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Type *I32 = B.getInt32Ty();
  const Window W = window(B);
  SmallVector<Check> Checks;
  // Care is needed: by the warp; for a site without an index; ...
  Value *Signs = W.Place;
  Value *NeedsCare = B.getFalse();
  for (const FastAccess &A : Accesses) {
    Check C{A};
    C.Index = B.CreateLoad(
        I32, B.CreateConstGEP1_64(
                 B.getInt8Ty(),
                 ConstantExpr::getAddrSpaceCast(
                     A.Site, B.getPtrTy(NVPTXAS::ADDRESS_SPACE_GLOBAL)),
                 offsetof(abi::AccessSite, Index)));
    Signs = B.CreateOr(Signs, C.Index);
    // ... for memory that is not tracked exactly; for what is not aligned.
    if (Value *Elsewhere = emitWhere(B, W, C, Checks))
      NeedsCare = B.CreateOr(NeedsCare, Elsewhere);
    if (!A.IsAligned && A.Size > 1)
      NeedsCare = B.CreateOr(
          NeedsCare,
          B.CreateICmpNE(B.CreateAnd(A.Address, A.Size - 1), B.getInt64(0)));
    Checks.push_back(C);
  }
  NeedsCare = B.CreateOr(NeedsCare, B.CreateICmpSLT(Signs, B.getInt32(0)));

  // Head, then Fast, unless care is needed; then perhaps Slow; then Tail.
  BasicBlock *Head = Before->getParent();
  BasicBlock *Tail = Head->splitBasicBlock(Before->getIterator());
  LLVMContext &Context = F.getContext();
  BasicBlock *Fast = BasicBlock::Create(Context, "", &F, Tail);
  BasicBlock *Slow = BasicBlock::Create(Context, "", &F, Tail);
  MDNode *Rare = MDBuilder(Context).createUnlikelyBranchWeights();
  Head->getTerminator()->eraseFromParent();
  B.SetInsertPoint(Head);
  B.CreateCondBr(NeedsCare, Slow, Fast, Rare);

  B.SetInsertPoint(Fast);
  B.SetCurrentDebugLocation(DebugLoc());
  // Writes first: of two threads that each write what the other one reads, at
  // the same time, one at least finds the other.
  for (const bool Writes : {true, false})
    for (Check &C : Checks)
      if (C.A.Writes == Writes)
        emitLoads(B, C, W);
  Value *IsSuspect = B.getFalse();
  for (Check &C : Checks) {
    emitCells(B, C, W);
    IsSuspect = B.CreateOr(IsSuspect, C.IsSuspect);
  }
  B.CreateCondBr(IsSuspect, Slow, Tail, Rare);

  // What follows needs no more registers than the accesses themselves do: it
  // looks at the cells anew, after what is no longer in them.
  B.SetInsertPoint(Slow);
  auto FromFast = [&](Value *V) {
    PHINode *Phi = B.CreatePHI(V->getType(), 2);
    Phi->addIncoming(ConstantInt::get(V->getType(), 0), Head);
    Phi->addIncoming(V, Fast);
    return Phi;
  };
  for (Check &C : Checks)
    if (C.A.Writes) {
      C.Replaced = FromFast(C.Replaced);
      if (!isa<Constant>(C.Offset))
        C.Offset = FromFast(C.Offset);
    }
  for (const Check &C : Checks)
    if (C.A.Writes) {
      B.SetCurrentDebugLocation(C.A.Loc);
      callRuntime(B, ReplacedName,
                  {C.A.Site, B.CreateAdd(C.A.Address, C.Offset),
                   B.getInt64(std::min(C.A.Size, 4u)), C.Replaced});
    }
  // A write's check takes the place of another one's in the cell, so reads come
  // first.
  for (const bool Writes : {false, true})
    for (const Check &C : Checks)
      if (C.A.Writes == Writes) {
        B.SetCurrentDebugLocation(C.A.Loc);
        callRuntime(B, AccessCheckName,
                    {C.A.Site, C.A.Address, B.getInt64(C.A.Size)});
      }
  B.SetCurrentDebugLocation(DebugLoc());
  B.CreateBr(Tail);
}

void FastCheck::emitRelease(Instruction *Before, Constant *Site,
                            Value *Address) {
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *MayRelease = B.CreateICmpNE(
      B.CreateAnd(window(B).Place, abi::HasFenced), B.getInt32(0));
  auto *Rare = MDBuilder(F.getContext()).createUnlikelyBranchWeights();
  B.SetInsertPoint(SplitBlockAndInsertIfThen(MayRelease, Before->getIterator(),
                                             /*Unreachable=*/false, Rare));
  B.SetCurrentDebugLocation(Before->getDebugLoc());
  callRuntime(B, ReleaseName, {Site, Address});
}

void FastCheck::finish() {
  DominatorTree DT(F);
  PromoteMemToReg({Mine, Place, Barrier, Floor, Count}, DT);
  // Windows in which nothing is checked.
  for (CallInst *Load : Loaded) {
    for (User *U : make_early_inc_range(Load->users()))
      RecursivelyDeleteTriviallyDeadInstructions(cast<Instruction>(U));
    if (Load->use_empty())
      Load->eraseFromParent();
  }
}

} // namespace crsan
