//===- FastCheck.cpp - A metadata check in line -----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FastCheck.h"
#include "DeviceRuntime.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace crsan {

namespace {

using Layout = abi::AccessorLayout;

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

FastCheck::FastCheck(Function &F, IRBuilder<> &B) : F(F) {
  Module &M = *F.getParent();
  Self = B.CreateCall(M.getOrInsertFunction(SelfName, B.getInt64Ty()));
  Pages = B.CreateCall(M.getOrInsertFunction(PagesName, B.getInt64Ty()));
}

FastCheck::Window FastCheck::emitWindow(IRBuilder<> &B) {
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  Value *State = emitAssembly(B, StructType::get(I32, I32, I32, I32),
                              "ld.global.v4.u32 {$0, $1, $2, $3}, [$4];",
                              "=r,=r,=r,=r,l,~{memory}", {Self});
  Window W;
  Value *Clock = B.CreateExtractValue(State, 0);
  W.Barrier = B.CreateExtractValue(State, 1);
  W.Floor = B.CreateExtractValue(State, 2);
  W.Place = B.CreateExtractValue(State, 3);
  Value *InBlock = B.CreateAnd(B.CreateLShr(W.Place, 22), 31);
  Value *Warp = B.CreateAnd(B.CreateAdd(W.Place, InBlock), abi::NumWarps - 1);
  Value *Lane =
      B.CreateIntrinsic(I32, Intrinsic::nvvm_read_ptx_sreg_laneid, {});
  Value *Low = B.CreateOr(B.CreateShl(B.CreateZExt(Warp, I64), Layout::WarpAt),
                          B.CreateZExt(B.CreateShl(Lane, Layout::LaneAt), I64));
  W.Mine =
      B.CreateOr(B.CreateShl(B.CreateZExt(Clock, I64), Layout::ClockAt), Low);
  return W;
}

void FastCheck::emitCount(IRBuilder<> &B, uint32_t Number) {
  Value *Where =
      B.CreateAdd(Self, B.getInt64(offsetof(abi::WarpState, Checked)));
  emitAssembly(B, B.getVoidTy(),
               "{ .reg .pred p; .reg .b32 m, n, l; .reg .b64 w; "
               "activemask.b32 m; popc.b32 n, m; mul.lo.u32 n, n, $1; "
               "cvt.u64.u32 w, n; brev.b32 m, m; clz.b32 m, m; "
               "mov.u32 l, %laneid; setp.eq.u32 p, l, m; "
               "@p red.relaxed.gpu.global.add.u64 [$0], w; }",
               "l,r,~{memory}", {Where, B.getInt32(Number)})
      ->setConvergent();
}

Value *FastCheck::emitIsOrdered(IRBuilder<> &B, const Window &W,
                                const FastAccess &A, Value *Mine,
                                Value *Earlier, Value *InShared) {
  Type *I32 = B.getInt32Ty();
  Value *Then = B.CreateTrunc(B.CreateLShr(Earlier, Layout::ClockAt), I32);
  Value *Old = B.CreateICmpULT(Then, W.Floor);
  Value *Warp = B.CreateTrunc(B.CreateLShr(Earlier, Layout::WarpAt), I32);
  Value *Place = B.CreateAnd(B.CreateSub(Warp, W.Place), abi::NumWarps - 1);
  Value *Warps = B.CreateAnd(B.CreateLShr(W.Place, 16), 63);
  Value *InBlock = B.CreateICmpULT(Place, Warps);
  Value *BeforeBarrier = B.CreateICmpULT(Then, W.Barrier);
  // Who is of another block was there before the memory was this block's.
  Value *ByBlock = B.CreateOr(B.CreateAnd(InBlock, BeforeBarrier),
                              B.CreateAnd(B.CreateNot(InBlock), InShared));
  Value *Difference =
      B.CreateAnd(B.CreateXor(Earlier, B.CreateAnd(Mine, ~Layout::Several)),
                  Layout::WhoAndWhen | Layout::Several);
  Value *IsSelf = B.CreateICmpEQ(Difference, B.getInt64(0));
  Value *Ordered = B.CreateOr(B.CreateOr(Old, ByBlock), IsSelf);
  if (!A.IsStrong)
    return Ordered;
  // P6: strong as well, and in each other's scope.
  Value *IsStrong =
      B.CreateICmpNE(B.CreateAnd(Earlier, Layout::Strong), B.getInt64(0));
  Value *IsNear = InBlock;
  if (A.IsWide)
    IsNear = B.CreateOr(
        IsNear, B.CreateICmpEQ(B.CreateAnd(B.CreateXor(Earlier, Mine), 0xffff),
                               B.getInt64(0)));
  return B.CreateOr(Ordered, B.CreateAnd(IsStrong, IsNear));
}

/// The bytes of a word, as Bytes has them, at Layout::BytesAt.
Value *FastCheck::emitBytes(IRBuilder<> &B, const FastAccess &A) {
  if (A.Size >= 4)
    return B.getInt64(0);
  Value *Byte = B.CreateAnd(A.Address, 3);
  Value *Code = A.Size == 1 ? B.CreateAdd(Byte, B.getInt64(1))
                            : B.CreateAdd(B.CreateLShr(Byte, 1), B.getInt64(5));
  return B.CreateShl(Code, Layout::BytesAt);
}

void FastCheck::emit(Instruction *Before, const Window &W,
                     const FastAccess &A) {
  LLVMContext &C = F.getContext();
  Module &M = *F.getParent();
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  auto Field = [&](uint64_t Offset) {
    return B.CreateLoad(
        I32, B.CreateConstGEP1_64(
                 B.getInt8Ty(),
                 ConstantExpr::getAddrSpaceCast(
                     A.Site, B.getPtrTy(NVPTXAS::ADDRESS_SPACE_GLOBAL)),
                 Offset));
  };
  Value *Index = Field(offsetof(abi::AccessSite, Index));
  // The index of a site that has none, or got none, needs care.
  Value *NeedsCare = B.CreateICmpUGE(B.CreateSub(Index, B.getInt32(1)),
                                     B.getInt32(abi::MaxSites - 1));
  NeedsCare = B.CreateOr(NeedsCare, B.CreateICmpSLT(W.Place, B.getInt32(0)));
  if (!A.IsAligned && A.Size > 1)
    NeedsCare =
        B.CreateOr(NeedsCare, B.CreateICmpNE(B.CreateAnd(A.Address, A.Size - 1),
                                             B.getInt64(0)));

  Value *InShared = B.getInt1(A.Space == NVPTXAS::ADDRESS_SPACE_SHARED);
  if (A.Space == NVPTXAS::ADDRESS_SPACE_GENERIC)
    InShared = B.CreateIntrinsic(Intrinsic::nvvm_isspacep_shared,
                                 {B.CreateIntToPtr(A.Address, B.getPtrTy())});
  const bool MayBeShared = A.Space != NVPTXAS::ADDRESS_SPACE_GLOBAL;
  const bool MayBeGlobal = A.Space != NVPTXAS::ADDRESS_SPACE_SHARED;
  Value *SharedCell = nullptr, *GlobalCell = nullptr;
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
    Value *None = B.CreateICmpEQ(Cells, B.getInt64(0));
    NeedsCare = B.CreateOr(NeedsCare, B.CreateAnd(InShared, None));
  }
  if (MayBeGlobal) {
    Value *Offset = B.CreateAnd(B.CreateLShr(A.Address, abi::PageShift - 3),
                                B.getInt64(uint64_t(abi::NumPages - 1) << 3));
    // Without a table there is no state but one that needs care.
    Value *Entry = emitAssembly(
        B, I64,
        "{ .reg .pred p; setp.ge.s32 p, $2, 0; mov.b64 $0, 0; "
        "@p ld.global.u64 $0, [$1]; }",
        "=&l,l,r,~{memory}", {B.CreateAdd(Pages, Offset), W.Place});
    // Valid, not cached, and of this very page.
    Value *Expected = B.CreateOr(
        B.CreateShl(
            B.CreateLShr(A.Address, abi::PageShift + abi::PageIndexBits), 48),
        B.getInt64(abi::PageValid));
    Value *Wrong =
        B.CreateAnd(B.CreateXor(Entry, Expected),
                    uint64_t(0xffff) << 48 | abi::PageValid | abi::PageCached);
    Value *None = B.CreateICmpNE(Wrong, B.getInt64(0));
    if (MayBeShared)
      None = B.CreateAnd(None, B.CreateNot(InShared));
    NeedsCare = B.CreateOr(NeedsCare, None);
    Value *Base = B.CreateAnd(Entry, (uint64_t(1) << 48) - 4096);
    GlobalCell = B.CreateAdd(
        Base,
        B.CreateShl(B.CreateAnd(A.Address, (abi::PageBytes - 1) & ~uint64_t(3)),
                    2));
  }
  Value *At = !MayBeGlobal   ? SharedCell
              : !MayBeShared ? GlobalCell
                             : B.CreateSelect(InShared, SharedCell, GlobalCell);

  auto *Rare = MDBuilder(C).createUnlikelyBranchWeights();
  Instruction *Careful = nullptr, *Fast = nullptr;
  SplitBlockAndInsertIfThenElse(NeedsCare, Before->getIterator(), &Careful,
                                &Fast, Rare);
  auto Call = [&](IRBuilder<> &B, StringRef Name, ArrayRef<Value *> Operands) {
    SmallVector<Type *, 5> Types;
    for (Value *V : Operands)
      Types.push_back(V->getType());
    FunctionCallee Callee = M.getOrInsertFunction(
        Name, FunctionType::get(B.getVoidTy(), Types, false));
    B.SetCurrentDebugLocation(Before->getDebugLoc());
    B.CreateCall(Callee, Operands)->setConvergent();
  };
  B.SetInsertPoint(Careful);
  Call(B, AccessCheckName, {A.Site, A.Address, B.getInt64(A.Size)});

  B.SetInsertPoint(Fast);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Mine =
      B.CreateOr(B.CreateOr(W.Mine, B.CreateZExt(Index, I64)), emitBytes(B, A));
  if (A.IsStrong)
    Mine = B.CreateOr(Mine, Layout::Strong);
  if (!A.Writes && A.IsUniform) {
    // The other lanes read it, too, unless there is no other.
    Value *Here = emitAssembly(B, I32, "activemask.b32 $0;", "=r", {});
    Value *IsAlone = B.CreateICmpEQ(
        B.CreateAnd(Here, B.CreateSub(Here, B.getInt32(1))), B.getInt32(0));
    Mine = B.CreateSelect(IsAlone, Mine, B.CreateOr(Mine, Layout::Several));
  }
  // A shared location is its block's alone.
  const StringRef Scope = MayBeGlobal ? "gpu" : "cta";
  auto Text = [&](const Twine &Before, const Twine &After) {
    return (Before + Scope + After).str();
  };
  if (A.IsStrong && A.Reads) {
    Value *Hash = B.CreateMul(B.CreateTrunc(B.CreateLShr(A.Address, 4), I32),
                              B.getInt32(0x9e3779b1u));
    Value *Bit =
        B.CreateShl(B.getInt64(1), B.CreateZExt(B.CreateLShr(Hash, 26), I64));
    emitAssembly(
        B, B.getVoidTy(),
        "{ .reg .pred p; .reg .b64 s; "
        "ld.global.u64 s, [$0]; not.b64 s, s; "
        "and.b64 s, s, $1; setp.ne.u64 p, s, 0; "
        "@p red.relaxed.gpu.global.or.b64 [$0], $1; }",
        "l,l,~{memory}",
        {B.CreateAdd(Self, B.getInt64(offsetof(abi::WarpState, Seen))), Bit});
  }
  // Of several words, the last suspect of each kind stands for all.
  struct Suspect {
    Value *Found, *Offset;
  };
  Suspect Readers = {B.getInt64(0), B.getInt64(0)}, Writers = Readers;
  auto Judge = [&](Value *Earlier, uint32_t Word, Suspect &S) {
    Value *Ordered = emitIsOrdered(B, W, A, Mine, Earlier, InShared);
    S.Found = B.CreateSelect(Ordered, S.Found, Earlier);
    if (Word)
      S.Offset = B.CreateSelect(Ordered, S.Offset, B.getInt64(Word * 4));
  };
  auto Remember = [&](Value *Reader, Value *Cell) {
    Value *Change = B.CreateXor(Reader, Mine);
    Value *IsNew = B.CreateICmpNE(
        B.CreateAnd(Change, Layout::WhoAndWhen | Layout::BytesMask |
                                (A.IsStrong ? 0 : Layout::Strong)),
        B.getInt64(0));
    Value *IsMore =
        B.CreateICmpEQ(B.CreateAnd(Change, Layout::SameButLane), B.getInt64(0));
    Value *Now =
        B.CreateSelect(IsMore, B.CreateOr(Mine, Layout::Several), Mine);
    emitAssembly(
        B, B.getVoidTy(),
        Text("{ .reg .pred p; setp.ne.u32 p, $0, 0; @p st.relaxed.",
             ".global.u64 [$1], $2; }"),
        "r,l,l,~{memory}",
        {B.CreateZExt(IsNew, I32), B.CreateAdd(Cell, B.getInt64(8)), Now});
  };
  for (uint32_t Word = 0; Word * 4 < A.Size; ++Word) {
    Value *Cell = Word ? B.CreateAdd(At, B.getInt64(Word * 16)) : At;
    if (A.Writes && A.IsStrong) {
      // Everybody may be here: what tells nothing new is not written. What a
      // weak access accuses, a strong one does not.
      Value *Both =
          emitAssembly(B, StructType::get(I64, I64),
                       Text("ld.relaxed.", ".global.v2.u64 {$0, $1}, [$2];"),
                       "=l,=l,l,~{memory}", {Cell});
      Value *Writer = B.CreateExtractValue(Both, 0);
      Value *Change = B.CreateXor(Writer, Mine);
      Value *IsOld = B.CreateAnd(
          B.CreateICmpEQ(B.CreateAnd(Change, Layout::Strong | 0xffff),
                         B.getInt64(0)),
          B.CreateICmpUGE(
              B.CreateTrunc(B.CreateLShr(Writer, Layout::ClockAt), I32),
              W.Floor));
      Value *IsWeaker =
          B.CreateICmpEQ(B.CreateAnd(B.CreateXor(Change, Layout::Strong),
                                     Layout::WhoAndWhen | Layout::Strong),
                         B.getInt64(0));
      emitAssembly(
          B, B.getVoidTy(),
          Text("{ .reg .pred p; setp.eq.u32 p, $0, 0; @p st.relaxed.",
               ".global.u64 [$1], $2; }"),
          "r,l,l,~{memory}",
          {B.CreateZExt(B.CreateOr(IsOld, IsWeaker), I32), Cell, Mine});
      Judge(B.CreateExtractValue(Both, 1), Word, Readers);
      Judge(Writer, Word, Writers);
      continue;
    }
    if (A.Writes) {
      Value *Writer = emitAssembly(
          B, I64, Text("atom.relaxed.", ".global.exch.b64 $0, [$1], $2;"),
          "=l,l,l,~{memory}", {Cell, Mine});
      Value *Reader =
          emitAssembly(B, I64, Text("ld.relaxed.", ".global.u64 $0, [$1];"),
                       "=l,l,~{memory}", {B.CreateAdd(Cell, B.getInt64(8))});
      Judge(Reader, Word, Readers);
      Judge(Writer, Word, Writers);
      continue;
    }
    Value *Both = emitAssembly(
        B, StructType::get(I64, I64),
        // Weak where the multiprocessor's cache will do.
        MayBeGlobal ? "ld.relaxed.gpu.global.v2.u64 {$0, $1}, [$2];"
                    : "ld.global.v2.u64 {$0, $1}, [$2];",
        "=l,=l,l,~{memory}", {Cell});
    if (A.IsRemembered)
      Remember(B.CreateExtractValue(Both, 1), Cell);
    Judge(B.CreateExtractValue(Both, 0), Word, Writers);
  }
  Value *IsSuspect =
      B.CreateICmpNE(B.CreateOr(Readers.Found, Writers.Found), B.getInt64(0));
  B.SetInsertPoint(SplitBlockAndInsertIfThen(IsSuspect, Fast->getIterator(),
                                             /*Unreachable=*/false, Rare));
  for (const Suspect &S : {Readers, Writers})
    if (!isa<Constant>(S.Found))
      Call(B, JudgeName,
           {A.Site, B.CreateAdd(A.Address, S.Offset), Mine, S.Found});
}

void FastCheck::emitRelease(Instruction *Before, const Window &W,
                            Constant *Site, Value *Address) {
  Module &M = *F.getParent();
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *MayRelease =
      B.CreateICmpNE(B.CreateAnd(W.Place, abi::HasFenced), B.getInt32(0));
  auto *Rare = MDBuilder(F.getContext()).createUnlikelyBranchWeights();
  B.SetInsertPoint(SplitBlockAndInsertIfThen(MayRelease, Before->getIterator(),
                                             /*Unreachable=*/false, Rare));
  B.SetCurrentDebugLocation(Before->getDebugLoc());
  FunctionCallee Callee = M.getOrInsertFunction(ReleaseName, B.getVoidTy(),
                                                B.getPtrTy(), B.getInt64Ty());
  B.CreateCall(Callee, {Site, Address})->setConvergent();
}

} // namespace crsan
