// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watchpoints on the operands of a function's matrix products (wgmma).
//
// runtime/device/collider/ProductWatch.h says what the warps of a warp group
// do, docs/soundness.md why a finding is a race.

#include "Collider/ProductWatches.h"
#include "DeviceRuntime.h"
#include "Events/MatrixProducts.h"
#include "Events/Operands.h"
#include "crsan/abi/Watchpoints.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

#define DEBUG_TYPE "cuda-race"

STATISTIC(NumWatchedProducts, "Number of matrix products watched");

namespace crsan {

/// The product's operands in shared memory.
static SmallVector<OperandRead, 2> operandsOf(const Instruction &I) {
  SmallVector<OperandRead, 2> All;
  for (const Event &E : eventsOf(I).List)
    if (const auto *Operand = std::get_if<OperandRead>(&E))
      All.push_back(*Operand);
  return All;
}

static std::optional<AwaitCopies> productWait(const Events &All) {
  for (const Event &E : All.List)
    if (const auto *Awaited = std::get_if<AwaitCopies>(&E);
        Awaited && Awaited->By == Completion::Product)
      return *Awaited;
  return std::nullopt;
}

/// Whether the instruction may wait for a product elsewhere than behind itself.
static bool mayHideWait(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<IntrinsicInst>(Call))
    return false;
  const auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand());
  if (!Asm) {
    const Function *Callee = Call->getCalledFunction();
    return !Callee ||
           !(isHarmless(*Callee) || Callee->getName().starts_with("__crsan_"));
  }
  const StringRef Text = Asm->getAsmString();
  if (Text.contains("call"))
    return true;
  if (!Text.contains("wgmma"))
    return false;
  const Events All = eventsOf(I);
  return All.Branches || All.MayLeave || All.has<Unknown, Learn>() ||
         (productWait(All) && (!isProductWait(I) || I.isTerminator()));
}

/// Whether a product that the function issues may go on when the function
/// returns.
static bool leavesProducts(const Function &F) {
  enum : uint8_t { Issued = 1, Committed = 2 };
  DenseMap<const BasicBlock *, uint8_t> AtBegin;
  SmallVector<const BasicBlock *> Todo;
  for (const BasicBlock &BB : F)
    Todo.push_back(&BB);
  while (!Todo.empty()) {
    const BasicBlock *BB = Todo.pop_back_val();
    uint8_t Open = AtBegin.lookup(BB);
    for (const Instruction &I : *BB) {
      if (isa<ReturnInst>(I) && Open)
        return true;
      for (const Event &E : eventsOf(I).List) {
        const auto *Commit = std::get_if<CommitCopies>(&E);
        const auto *Awaited = std::get_if<AwaitCopies>(&E);
        if (isOneOf<OperandRead>(E))
          Open |= Issued;
        else if (Commit && Commit->By == Completion::Product && Open)
          Open = Committed;
        else if (Awaited && Awaited->By == Completion::Product &&
                 isa_and_nonnull<ConstantInt>(Awaited->Number) &&
                 cast<ConstantInt>(Awaited->Number)->isZero())
          Open &= ~Committed;
      }
    }
    for (const BasicBlock *Next : successors(BB))
      if (uint8_t &There = AtBegin[Next]; (There | Open) != There) {
        There |= Open;
        Todo.push_back(Next);
      }
  }
  return false;
}

bool watchesProducts(const Function &F) {
  return none_of(instructions(F), mayHideWait) &&
         (isKernel(F) || !leavesProducts(F));
}

void emitCommit(Instruction *Before, AllocaInst *Watched) {
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Held = B.CreateLoad(B.getInt32Ty(), Watched);
  Value *More = B.CreateAdd(Held, B.getInt32(1 << abi::CommitsAt));
  const uint32_t Most = 0u - (1u << abi::CommitsAt);
  Value *Counts = B.CreateAnd(B.CreateICmpNE(Held, B.getInt32(0)),
                              B.CreateICmpULT(Held, B.getInt32(Most)));
  B.CreateStore(B.CreateSelect(Counts, More, Held), Watched);
}

ProductWatches::ProductWatches(Function &F, SiteTableWriter &Table,
                               StringRef Kernel)
    : F(F), Table(Table), Kernel(Kernel) {
  if (!watchesProducts(F))
    return;
  for (Instruction &I : instructions(F)) {
    const Events All = eventsOf(I);
    if (All.has<OperandRead>() && !isIgnored(I))
      Products.push_back(&I);
    for (const Event &E : All.List)
      if (const auto *C = std::get_if<CommitCopies>(&E);
          C && C->By == Completion::Product)
        Commits.push_back(&I);
    if (productWait(All))
      Waits.push_back(&I);
    else if (isa<ReturnInst>(I) || All.MayLeave || All.has<Leave>())
      Ends.push_back(&I);
  }
}

/// Whether the product that the thread comes to is one of those that are
/// watched, which must be the same ones in all warps of the warp group: the
/// first one, and later ones more and more rarely. Each block has others.
Value *ProductWatches::isTurn(IRBuilder<> &B) {
  constexpr uint32_t MostInterval = 128;
  Type *I32 = B.getInt32Ty();
  Value *Before = B.CreateLoad(I32, Turn);
  B.CreateStore(B.CreateAdd(Before, B.getInt32(1)), Turn);
  // The block's place in the grid, not the one that the block works at.
  Value *Block = emitAssembly(B, I32, "mov.u32 $0, %ctaid.x;", "=r", {});
  Value *Random =
      B.CreateMul(B.CreateAdd(Before, Block), B.getInt32(0x9e3779b1u));
  Value *Interval =
      B.CreateAdd(B.CreateBinaryIntrinsic(Intrinsic::umin, Before,
                                          B.getInt32(MostInterval - 1)),
                  B.getInt32(1));
  Value *Product = B.CreateMul(B.CreateZExt(Random, B.getInt64Ty()),
                               B.CreateZExt(Interval, B.getInt64Ty()));
  return B.CreateICmpULT(Product, B.getInt64(uint64_t(1) << 32));
}

void ProductWatches::emitWatch(Instruction *Product) {
  ++NumWatchedProducts;
  const SmallVector<OperandRead, 2> Operands = operandsOf(*Product);
  const uint32_t Window = Table.addWindow();
  Table.addCheck(Window);
  SmallVector<Value *, 2> Descriptors;
  Constant *FirstSite = nullptr;
  for (const OperandRead &O : Operands) {
    Constant *Site = Table.addSite({O.What, Product}, Kernel, Window,
                                   /*Meets=*/0, /*Offset=*/0, /*Flags=*/0);
    FirstSite = FirstSite ? FirstSite : Site;
    Descriptors.push_back(O.What.Where.Base);
  }
  Instruction *At = beforeProducts(Product, Descriptors);
  IRBuilder<> B(At);
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Number = B.CreateLoad(B.getInt32Ty(), Turn);
  Value *IsTurn = isTurn(B);
  auto *Rare = MDBuilder(F.getContext()).createUnlikelyBranchWeights();
  B.SetInsertPoint(SplitBlockAndInsertIfThen(IsTurn, At->getIterator(),
                                             /*Unreachable=*/false, Rare));
  B.SetCurrentDebugLocation(Product->getDebugLoc());
  auto Generic = [&](Constant *C) {
    return ConstantExpr::getAddrSpaceCast(C, B.getPtrTy(0));
  };
  const bool HasSecond = Operands.size() > 1;
  B.CreateStore(
      callRuntime(B, WatchProductName,
                  {Generic(Table.windowAt(Window)), Generic(FirstSite),
                   Descriptors.front(), Descriptors.back(),
                   B.getInt32(Operands.front().Shape),
                   B.getInt32(HasSecond ? Operands.back().Shape : 0), Number,
                   B.CreateLoad(B.getInt32Ty(), Watched)}),
      Watched);
}

/// Takes the watchpoint away where `B` is, if `Ends`.
void ProductWatches::emitUnwatch(IRBuilder<> &B, Value *Ends,
                                 const DebugLoc &Location) {
  auto *Rare = MDBuilder(F.getContext()).createUnlikelyBranchWeights();
  B.SetInsertPoint(SplitBlockAndInsertIfThen(Ends, B.GetInsertPoint(),
                                             /*Unreachable=*/false, Rare));
  B.SetCurrentDebugLocation(Location);
  callRuntime(B, UnwatchProductName, B.CreateLoad(B.getInt32Ty(), Watched));
  B.CreateStore(B.getInt32(0), Watched);
}

void ProductWatches::emit() {
  if (Products.empty())
    return;
  IRBuilder<> Entry(&F.getEntryBlock(), F.getEntryBlock().begin());
  const unsigned Local = F.getDataLayout().getAllocaAddrSpace();
  for (AllocaInst **Variable : {&Watched, &Turn}) {
    *Variable = Entry.CreateAlloca(Entry.getInt32Ty(), Local);
    Variables.push_back(*Variable);
  }
  for (AllocaInst *Variable : Variables)
    Entry.CreateStore(Entry.getInt32(0), Variable);
  for (Instruction *I : Products)
    emitWatch(I);
  for (Instruction *I : Commits)
    emitCommit(I, Watched);
  auto Held = [&](IRBuilder<> &B) {
    B.SetCurrentDebugLocation(DebugLoc());
    return B.CreateLoad(B.getInt32Ty(), Watched);
  };
  for (Instruction *I : Waits) {
    // Behind the wait: the last warp to come to the product may have come while
    // this one waited.
    IRBuilder<> B(I->getNextNode());
    Value *Now = Held(B);
    const AwaitCopies Awaited = *productWait(eventsOf(*I));
    const bool IsKnown =
        Awaited.Number && Awaited.Number->getType()->isIntegerTy();
    // The last groups go on, and so does what belongs to no group yet.
    Value *Ends = IsKnown ? B.CreateICmpUGT(B.CreateLShr(Now, abi::CommitsAt),
                                            B.CreateZExtOrTrunc(Awaited.Number,
                                                                B.getInt32Ty()))
                          : B.CreateICmpNE(Now, B.getInt32(0));
    emitUnwatch(B, Ends, I->getDebugLoc());
  }
  for (Instruction *I : Ends) {
    IRBuilder<> B(I);
    Value *IsHeld = B.CreateICmpNE(Held(B), B.getInt32(0));
    emitUnwatch(B, IsHeld, I->getDebugLoc());
  }
}

} // namespace crsan
