//===- CellLocator.cpp - Where the cells of accesses are ------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Metadata/CellLocator.h"
#include "DeviceRuntime.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace crsan {

CellLocator::CellLocator(Function &F, IRBuilder<> &B)
    : F(F), Pages(callRuntime(B, PagesName, {})) {}

void CellLocator::emitSharedCells(IRBuilder<> &B, Value *Self) {
  SharedCells = B.CreateLoad(
      B.getInt64Ty(),
      B.CreateIntToPtr(
          B.CreateAdd(Self, B.getInt64(offsetof(abi::WarpState, SharedCells))),
          B.getPtrTy(NVPTXAS::ADDRESS_SPACE_GLOBAL)));
}

/// The page table's entry for an address.
Value *CellLocator::emitEntry(IRBuilder<> &B, Value *Place, Value *Address) {
  Type *I64 = B.getInt64Ty();
  // Without a table, or with care needed, there is only its first entry.
  constexpr uint64_t IndexMask = uint64_t(abi::NumPages - 1) << 3;
  Value *Mask = B.CreateSelect(B.CreateICmpSLT(Place, B.getInt32(0)),
                               B.getInt64(0), B.getInt64(IndexMask));
  return emitAssembly(
      B, I64, "ld.global.u64 $0, [$1];", "=l,l,~{memory}",
      {B.CreateAdd(Pages, B.CreateAnd(B.CreateLShr(Address, abi::PageShift - 3),
                                      Mask))});
}

/// What an address's entry says: its shadow's address as `Base`, and as what is
/// returned whether it is another page's, or of another kind.
Value *CellLocator::emitPage(IRBuilder<> &B, Value *Place, Value *Address,
                             Value *&Base) {
  Type *I32 = B.getInt32Ty();
  Value *Entry = emitEntry(B, Place, Address);
  // Exact, and of this very page: pageTag.
  constexpr unsigned TagAt = abi::PageTagAt - 32;
  Value *Tag = B.CreateAdd(
      B.CreateShl(B.CreateTrunc(B.CreateLShr(Address, 32), I32),
                  TagAt - (abi::PageShift + abi::PageIndexBits - 32)),
      B.getInt32(1u << TagAt));
  Value *Wrong =
      B.CreateAnd(B.CreateXor(B.CreateTrunc(B.CreateLShr(Entry, 32), I32), Tag),
                  B.getInt32(~0u << TagAt));
  Base = B.CreateAnd(Entry, (uint64_t(1) << abi::PageTagAt) - 4096);
  return B.CreateICmpNE(Wrong, B.getInt32(0));
}

/// The page of `A`, as it was last found by an access of the same object.
/// `IsFirst`: none beside it has been.
Value *CellLocator::emitFound(IRBuilder<> &B, const FastAccess &A, bool IsFirst,
                              Value *&Delta) {
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  Found &Last = FoundPages[A.Object];
  if (!Last.First) {
    BasicBlock &Head = F.getEntryBlock();
    IRBuilder<> Entry(&*Head.getFirstNonPHIOrDbgOrAlloca());
    Last = {Entry.CreateAlloca(I32), Entry.CreateAlloca(I32),
            Entry.CreateAlloca(I64)};
    Entry.SetInsertPoint(Head.getTerminator());
    Entry.CreateStore(Entry.getInt32(0), Last.First);
    Entry.CreateStore(Entry.getInt32(0), Last.Number);
    Entry.CreateStore(Entry.getInt64(0), Last.Delta);
  }
  Value *Page = B.CreateTrunc(B.CreateLShr(A.Address, abi::PageShift), I32);
  auto IsOther = [&] {
    return B.CreateICmpUGE(B.CreateSub(Page, B.CreateLoad(I32, Last.First)),
                           B.CreateLoad(I32, Last.Number));
  };
  // Those beside one that has been found are near it, as a rule.
  if (IsFirst) {
    Instruction *Before = &*B.GetInsertPoint();
    B.SetInsertPoint(SplitBlockAndInsertIfThen(
        IsOther(), Before->getIterator(), /*Unreachable=*/false,
        MDBuilder(F.getContext()).createUnlikelyBranchWeights()));
    // A call, since ptxas would make code of what every iteration skips.
    Value *Now = callRuntime(B, PagesFromName, A.Address);
    Value *Range = B.CreateExtractElement(Now, uint64_t(0));
    B.CreateStore(B.CreateTrunc(Range, I32), Last.First);
    B.CreateStore(B.CreateTrunc(B.CreateLShr(Range, 32), I32), Last.Number);
    B.CreateStore(B.CreateExtractElement(Now, 1), Last.Delta);
    B.SetInsertPoint(Before);
  }
  Value *IsElsewhere = IsOther();
  Delta = B.CreateLoad(I64, Last.Delta);
  return IsElsewhere;
}

/// An instruction that makes a value of an address and does nothing else.
static Value *emitConversion(IRBuilder<> &B, Type *Result, StringRef Text,
                             Value *Address) {
  auto *T = FunctionType::get(Result, {Address->getType()}, false);
  CallInst *Call = B.CreateCall(
      InlineAsm::get(T, Text, Result->isIntegerTy(64) ? "=l,l" : "=r,l",
                     /*hasSideEffects=*/false),
      {Address});
  Call->setDoesNotAccessMemory();
  Call->setDoesNotThrow();
  return Call;
}

Value *CellLocator::emitWhere(IRBuilder<> &B, Value *Place,
                              SmallVectorImpl<LocatedAccess> &All) {
  LocatedAccess &C = All.back();
  const FastAccess &A = C.A;
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  C.Anchor = All.size() - 1;
  // Near one that has been found: in the same page, as a rule.
  for (const LocatedAccess &Other : drop_end(All)) {
    const int64_t Distance = A.Offset - Other.A.Offset;
    if (!A.Root || Other.A.Root != A.Root || Other.A.Space != A.Space ||
        A.Size < 4 || Other.A.Size < 4 || Distance % 4 != 0 ||
        std::abs(Distance) >= int64_t(abi::PageBytes))
      continue;
    C.InShared = Other.InShared;
    C.At = B.CreateAdd(Other.At, B.getInt64(Distance * 4));
    C.Anchor = Other.Anchor;
    LocatedAccess &Anchor = All[C.Anchor];
    Anchor.Least = std::min(Anchor.Least, A.Offset - Anchor.A.Offset);
    Anchor.Most = std::max(Anchor.Most, A.Offset - Anchor.A.Offset);
    return nullptr;
  }
  C.InShared = B.getInt1(!A.mayBeGlobal());
  const bool MayBeEither = A.mayBeShared() && A.mayBeGlobal();
  // In assembly: from a cast to a space LLVM concludes that the pointer is of
  // that space, and answers the question whether it is.
  if (MayBeEither)
    C.InShared =
        B.CreateICmpNE(emitConversion(B, I32,
                                      "{ .reg .pred p; isspacep.shared p, $1; "
                                      "selp.u32 $0, 1, 0, p; }",
                                      A.Address),
                       B.getInt32(0));
  Value *SharedCell = nullptr, *IsNowhere = nullptr;
  if (A.mayBeShared()) {
    Value *Offset =
        MayBeEither
            ? B.CreateTrunc(emitConversion(B, I64, "cvta.to.shared.u64 $0, $1;",
                                           A.Address),
                            I32)
            : B.CreatePtrToInt(B.CreateAddrSpaceCast(
                                   B.CreateIntToPtr(A.Address, B.getPtrTy()),
                                   B.getPtrTy(NVPTXAS::ADDRESS_SPACE_SHARED)),
                               I32);
    if (A.Size < 4)
      Offset = B.CreateAnd(Offset, ~3u);
    SharedCell =
        B.CreateAdd(SharedCells, B.CreateZExt(B.CreateShl(Offset, 2), I64));
    IsNowhere = B.CreateICmpEQ(SharedCells, B.getInt64(0));
    if (!A.mayBeGlobal()) {
      C.At = SharedCell;
      return IsNowhere;
    }
  }
  // The cell is as far from its page's, four times, as the word from its page.
  Value *Word = A.Size < 4 ? B.CreateAnd(A.Address, ~3ull) : A.Address;
  Value *Delta, *IsElsewhere;
  // A few are worth their registers.
  constexpr size_t MostFound = 4;
  if (A.Object && !A.mayBeShared() &&
      (FoundPages.size() < MostFound || FoundPages.contains(A.Object))) {
    const bool IsFirst =
        none_of(drop_end(All), [&](const LocatedAccess &Other) {
          return Other.A.Object == A.Object;
        });
    IsElsewhere = emitFound(B, A, IsFirst, Delta);
  } else {
    Value *Base;
    IsElsewhere = emitPage(B, Place, A.Address, Base);
    Delta = B.CreateSub(
        Base, B.CreateShl(B.CreateAnd(A.Address, ~(abi::PageBytes - 1)), 2));
  }
  C.At = B.CreateAdd(Delta, B.CreateShl(Word, 2));
  if (!A.mayBeShared())
    return IsElsewhere;
  C.At = B.CreateSelect(C.InShared, SharedCell, C.At);
  return B.CreateSelect(C.InShared, IsNowhere, IsElsewhere);
}

Value *CellLocator::emitIsSplit(IRBuilder<> &B, const LocatedAccess &L) {
  if ((L.Least == 0 && L.Most == 0) || !L.A.mayBeGlobal())
    return nullptr;
  Value *Offset = B.CreateAnd(B.CreateTrunc(L.A.Address, B.getInt32Ty()),
                              abi::PageBytes - 1);
  Value *Bounds = B.CreateOr(B.CreateAdd(Offset, B.getInt32(uint32_t(L.Least))),
                             B.CreateAdd(Offset, B.getInt32(uint32_t(L.Most))));
  Value *IsSplit = B.CreateICmpUGE(Bounds, B.getInt32(abi::PageBytes));
  return L.A.mayBeShared() ? B.CreateAnd(IsSplit, B.CreateNot(L.InShared))
                           : IsSplit;
}

void CellLocator::finish(SmallVectorImpl<AllocaInst *> &Variables) {
  for (const auto &[Object, Last] : FoundPages)
    Variables.append({Last.First, Last.Number, Last.Delta});
  RecursivelyDeleteTriviallyDeadInstructions(SharedCells);
}

} // namespace crsan
