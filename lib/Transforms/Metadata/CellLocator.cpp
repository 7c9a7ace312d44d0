// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the cells of accesses are.

#include "Metadata/CellLocator.h"
#include "DeviceRuntime.h"
#include "Metadata/WarpSnapshot.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace crsan {

CellLocator::CellLocator(Function &F, IRBuilder<> &B, Value *First)
    : F(F), Pages(First ? B.CreateExtractValue(First, Entered::Pages)
                        : callRuntime(B, PagesName, {})) {}

void CellLocator::emitSharedCells(IRBuilder<> &B, Value *Self) {
  SharedCells = emitStateField(B, Self, B.getInt64Ty(),
                               offsetof(abi::WarpState, SharedCells));
}

/// The cell of `A`, in the pages that an access of the same object was last
/// found in. `IsFirst`: `A` is the first access of its group to that object,
/// and looks the pages up; accesses beside it are near it, as a rule.
CallInst *CellLocator::emitFound(IRBuilder<> &B, const FastAccess &A,
                                 bool IsFirst) {
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  Found &Last = FoundPages[A.Object];
  if (!Last.First) {
    BasicBlock &Head = F.getEntryBlock();
    IRBuilder<> Entry(&*Head.getFirstNonPHIOrDbgOrAlloca());
    Last = {Entry.CreateAlloca(I32), Entry.CreateAlloca(I32),
            Entry.CreateAlloca(I64)};
    Entry.SetInsertPoint(Head.getTerminator());
    for (AllocaInst *Field : {Last.First, Last.Number, Last.Delta})
      Entry.CreateStore(Constant::getNullValue(Field->getAllocatedType()),
                        Field);
  }
  auto Load = [&](AllocaInst *Field) {
    return B.CreateLoad(Field->getAllocatedType(), Field);
  };
  if (IsFirst) {
    Value *Now = callRuntime(
        B, "__crsan_in_find",
        {A.Address, Load(Last.First), Load(Last.Number), Load(Last.Delta)});
    B.CreateStore(B.CreateExtractValue(Now, 0), Last.First);
    B.CreateStore(B.CreateExtractValue(Now, 1), Last.Number);
    B.CreateStore(B.CreateExtractValue(Now, 2), Last.Delta);
  }
  return callRuntime(B, "__crsan_in_locate_found",
                     {A.Address, Load(Last.First), Load(Last.Number),
                      Load(Last.Delta), B.getInt32(A.shape())});
}

Value *CellLocator::emitWhere(IRBuilder<> &B, Value *Place,
                              SmallVectorImpl<LocatedAccess> &All) {
  LocatedAccess &C = All.back();
  const FastAccess &A = C.A;
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
  // A few objects are worth their registers.
  constexpr size_t MostFound = 4;
  CallInst *Found;
  if (A.Object && !A.mayBeShared() &&
      (FoundPages.size() < MostFound || FoundPages.contains(A.Object)))
    Found = emitFound(B, A, none_of(drop_end(All), [&](const LocatedAccess &O) {
                        return O.A.Object == A.Object;
                      }));
  else
    Found = callRuntime(
        B, "__crsan_in_locate",
        {Pages, SharedCells, Place, A.Address, B.getInt32(A.shape())});
  C.At = B.CreateExtractValue(Found, 0);
  C.InShared = B.CreateTrunc(B.CreateExtractValue(Found, 1), B.getInt1Ty());
  return B.CreateTrunc(B.CreateExtractValue(Found, 2), B.getInt1Ty());
}

Value *CellLocator::emitIsSplit(IRBuilder<> &B, const LocatedAccess &L) {
  if ((L.Least == 0 && L.Most == 0) || !L.A.mayBeGlobal())
    return nullptr;
  return callRuntime(B, "__crsan_in_is_split",
                     {L.A.Address, B.getInt32(uint32_t(L.Least)),
                      B.getInt32(uint32_t(L.Most)), L.InShared,
                      B.getInt32(L.A.shape())});
}

void CellLocator::finish(SmallVectorImpl<AllocaInst *> &Variables) {
  for (const auto &[Object, Last] : FoundPages)
    Variables.append({Last.First, Last.Number, Last.Delta});
}

} // namespace crsan
