// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which variable or argument an address belongs to.

#include "Pointers.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace crsan::lift {

namespace {

/// How much a number looks like the base of an address.
enum class Rank { Index, Unknown, Pointer };

class PointerBuilder {
public:
  /// Pointers into `AddressSpace`.
  explicit PointerBuilder(unsigned AddressSpace) : AddressSpace(AddressSpace) {}

  /// A pointer with the bits of `Number`; null if its base is not known.
  Value *make(Value *Number);
  /// How much it looks like an address.
  Rank rankOf(Value *V);

private:
  bool canMake(Value *V);
  Value *build(Value *V);
  Value *buildPhi(PHINode &Phi);
  Value *pointerIn(Value *V);
  std::pair<Value *, Value *> splitSum(Value *V);
  PointerType *type(LLVMContext &C) const {
    return PointerType::get(C, AddressSpace);
  }

  const unsigned AddressSpace;
  DenseMap<Value *, Rank> Ranks;
  SmallPtrSet<Value *, 8> Checked; ///< Can be made, or is being looked at.
  DenseMap<Value *, Value *> Built;
};

/// 32-bit numbers are addresses within the block's shared memory only.
bool isAddress(const Value *V, unsigned AddressSpace) {
  return V->getType()->isIntegerTy(64) ||
         (V->getType()->isIntegerTy(32) &&
          AddressSpace == NVPTXAS::ADDRESS_SPACE_SHARED);
}

Rank PointerBuilder::rankOf(Value *V) {
  if (isa<PtrToIntOperator>(V))
    return Rank::Pointer;
  if (isa<ConstantInt, CastInst>(V))
    return Rank::Index;
  const auto [It, IsNew] = Ranks.try_emplace(V, Rank::Index);
  if (!IsNew)
    return It->second;
  Rank Found = Rank::Unknown;
  if (auto *Phi = dyn_cast<PHINode>(V)) {
    Found = Rank::Index;
    for (Value *In : Phi->incoming_values())
      Found = std::max(Found, rankOf(In));
  } else if (auto *Select = dyn_cast<SelectInst>(V)) {
    Found = std::max(rankOf(Select->getTrueValue()),
                     rankOf(Select->getFalseValue()));
  } else if (auto *Sum = dyn_cast<AddOperator>(V)) {
    Found = std::max(rankOf(Sum->getOperand(0)), rankOf(Sum->getOperand(1)));
  } else if (isa<BinaryOperator>(V))
    Found = Rank::Index;
  return Ranks[V] = Found;
}

/// The base and the index of a sum; null: it has none, or two.
std::pair<Value *, Value *> PointerBuilder::splitSum(Value *V) {
  auto *Sum = dyn_cast<AddOperator>(V);
  if (!Sum)
    return {};
  Value *L = Sum->getOperand(0), *R = Sum->getOperand(1);
  if (rankOf(L) < rankOf(R))
    std::swap(L, R);
  // A sum of 32 bits wraps, and a pointer of 64 bits and an index do not.
  if (V->getType()->isIntegerTy(32) && rankOf(L) != Rank::Pointer)
    return {};
  return rankOf(L) > rankOf(R) ? std::pair(L, R)
                               : std::pair<Value *, Value *>();
}

/// The pointer that the number `V` has been made of, if it has the same bits in
/// this builder's space; else null.
Value *PointerBuilder::pointerIn(Value *V) {
  auto *Cast = dyn_cast<PtrToIntOperator>(V);
  if (!Cast)
    return nullptr;
  auto IsFlat = [](unsigned Space) {
    return Space == NVPTXAS::ADDRESS_SPACE_GENERIC ||
           Space == NVPTXAS::ADDRESS_SPACE_GLOBAL;
  };
  const unsigned Space = Cast->getPointerAddressSpace();
  return Space == AddressSpace || (IsFlat(Space) && IsFlat(AddressSpace))
             ? Cast->getPointerOperand()
             : nullptr;
}

bool PointerBuilder::canMake(Value *V) {
  if (isa<PtrToIntOperator>(V))
    return pointerIn(V);
  if (!Checked.insert(V).second)
    return true;
  const auto All = [&](auto &&Values) {
    return llvm::all_of(Values, [&](Value *In) { return canMake(In); });
  };
  bool Can = false;
  if (auto *Phi = dyn_cast<PHINode>(V))
    Can = All(Phi->incoming_values());
  else if (auto *Select = dyn_cast<SelectInst>(V))
    Can = All(std::initializer_list<Value *>{Select->getTrueValue(),
                                             Select->getFalseValue()});
  else if (auto [Base, Index] = splitSum(V); Base)
    Can = canMake(Base);
  else
    // Where it comes from memory or a call, a pointer is made behind it.
    Can = rankOf(V) == Rank::Unknown && isAddress(V, AddressSpace);
  if (!Can)
    Checked.erase(V);
  return Can;
}

Value *PointerBuilder::buildPhi(PHINode &Phi) {
  auto *New =
      PHINode::Create(type(Phi.getContext()), Phi.getNumIncomingValues(), "",
                      Phi.getIterator());
  New->setDebugLoc(Phi.getDebugLoc());
  Built[&Phi] = New;
  for (unsigned I = 0; I < Phi.getNumIncomingValues(); ++I)
    New->addIncoming(build(Phi.getIncomingValue(I)), Phi.getIncomingBlock(I));
  return New;
}

Value *PointerBuilder::build(Value *V) {
  if (Value *Known = Built.lookup(V))
    return Known;
  if (auto *Phi = dyn_cast<PHINode>(V))
    return buildPhi(*Phi);
  if (auto *C = dyn_cast<Constant>(V)) {
    if (auto [Base, Index] = splitSum(V); Base)
      return ConstantExpr::getGetElementPtr(Type::getInt8Ty(V->getContext()),
                                            llvm::cast<Constant>(build(Base)),
                                            Index);
    auto *Pointer = llvm::cast_or_null<Constant>(pointerIn(V));
    return Pointer ? ConstantExpr::getPointerBitCastOrAddrSpaceCast(
                         Pointer, type(V->getContext()))
                   : ConstantExpr::getIntToPtr(C, type(V->getContext()));
  }
  // Behind the number's definition, so that all its uses have it.
  auto *Def = dyn_cast<Instruction>(V);
  IRBuilder<> B(V->getContext());
  if (Def) {
    B.SetInsertPoint(*Def->getInsertionPointAfterDef());
    B.SetCurrentDebugLocation(Def->getDebugLoc());
  } else {
    BasicBlock &Entry = llvm::cast<Argument>(V)->getParent()->getEntryBlock();
    B.SetInsertPoint(&Entry, Entry.getFirstInsertionPt());
  }
  Value *Made;
  if (Value *Pointer = pointerIn(V))
    Made = B.CreateAddrSpaceCast(Pointer, type(V->getContext()));
  else if (auto *Select = dyn_cast<SelectInst>(V))
    Made = B.CreateSelect(Select->getCondition(), build(Select->getTrueValue()),
                          build(Select->getFalseValue()));
  else if (auto [Base, Index] = splitSum(V); Base)
    Made = B.CreateGEP(B.getInt8Ty(), build(Base), Index);
  else
    Made = B.CreateIntToPtr(V, type(V->getContext()));
  return Built[V] = Made;
}

Value *PointerBuilder::make(Value *Number) {
  if (auto *Extended = dyn_cast<ZExtInst>(Number);
      Extended && AddressSpace == NVPTXAS::ADDRESS_SPACE_SHARED)
    Number = Extended->getOperand(0);
  return isAddress(Number, AddressSpace) && rankOf(Number) != Rank::Index &&
                 canMake(Number)
             ? build(Number)
             : nullptr;
}

/// Whether the number is an address, or the base of sums that are.
bool isBase(Value &Number, PointerBuilder &Ranks, unsigned Depth = 0) {
  constexpr unsigned MostSums = 4;
  return any_of(Number.users(), [&](User *U) {
    if (const auto *Call = dyn_cast<CallInst>(U))
      return Call->isInlineAsm() && Call->mayReadOrWriteMemory();
    if (!isa<AddOperator>(U))
      return isa<IntToPtrInst>(U);
    Value *Other = U->getOperand(U->getOperand(0) == &Number);
    return Depth < MostSums && Ranks.rankOf(Other) == Rank::Index &&
           isBase(*U, Ranks, Depth + 1);
  });
}

/// A pointer in a parameter or in constant memory: loaded as a pointer, it is
/// one of the kernel's arrays.
void loadPointers(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || !Load->getType()->isIntegerTy(64))
      continue;
    auto *From = dyn_cast<Argument>(
        getUnderlyingObject(Load->getPointerOperand(), /*MaxLookup=*/0));
    if (!From || !From->hasByValAttr())
      continue;
    PointerBuilder Ranks(NVPTXAS::ADDRESS_SPACE_GENERIC);
    if (!isBase(*Load, Ranks))
      continue;
    IRBuilder<> B(Load);
    auto *Pointer = B.CreateAlignedLoad(B.getPtrTy(), Load->getPointerOperand(),
                                        Load->getAlign());
    Load->replaceAllUsesWith(B.CreatePtrToInt(Pointer, Load->getType()));
    Load->eraseFromParent();
  }
}

using BuilderOfSpace = function_ref<PointerBuilder &(unsigned AddressSpace)>;

/// What assembly gets as a number is that of a pointer, where the base has been
/// a pointer before.
void givePointers(CallInst &Asm, BuilderOfSpace BuilderOf) {
  for (Use &U : Asm.args()) {
    // All 64 bits of a generic address count, and 32 of one in shared memory.
    if (!U->getType()->isIntegerTy(64) && !U->getType()->isIntegerTy(32))
      continue;
    PointerBuilder &Builder = BuilderOf(U->getType()->isIntegerTy(64)
                                            ? NVPTXAS::ADDRESS_SPACE_GENERIC
                                            : NVPTXAS::ADDRESS_SPACE_SHARED);
    if (isa<PtrToIntOperator>(U) || Builder.rankOf(U) != Rank::Pointer)
      continue;
    if (Value *Pointer = Builder.make(U))
      U.set(IRBuilder<>(&Asm).CreatePtrToInt(Pointer, U->getType()));
  }
}

/// The same constant, with the variables whose addresses its numbers are.
Constant *recover(Constant *C, BuilderOfSpace BuilderOf) {
  auto *E = dyn_cast<ConstantExpr>(C);
  if (!E)
    return C;
  if (E->getOpcode() == Instruction::IntToPtr) {
    Value *Pointer = BuilderOf(E->getType()->getPointerAddressSpace())
                         .make(E->getOperand(0));
    return Pointer ? cast<Constant>(Pointer) : C;
  }
  SmallVector<Constant *, 2> Operands;
  for (Value *Operand : E->operands())
    Operands.push_back(recover(cast<Constant>(Operand), BuilderOf));
  return E->getWithOperands(Operands);
}

} // namespace

PreservedAnalyses RecoverPointersPass::run(Function &F,
                                           FunctionAnalysisManager &) {
  loadPointers(F);
  DenseMap<unsigned, std::unique_ptr<PointerBuilder>> Builders;
  const auto BuilderOf = [&](unsigned AddressSpace) -> PointerBuilder & {
    auto &Builder = Builders[AddressSpace];
    if (!Builder)
      Builder = std::make_unique<PointerBuilder>(AddressSpace);
    return *Builder;
  };
  SmallVector<IntToPtrInst *> Casts;
  SmallVector<CallInst *> Statements;
  for (Instruction &I : instructions(F)) {
    if (auto *Cast = dyn_cast<IntToPtrInst>(&I))
      Casts.push_back(Cast);
    if (auto *Call = dyn_cast<CallInst>(&I);
        Call && Call->isInlineAsm() && Call->mayReadOrWriteMemory())
      Statements.push_back(Call);
    for (Use &U : I.operands())
      if (auto *C = dyn_cast<ConstantExpr>(U))
        U.set(recover(C, BuilderOf));
  }
  SmallVector<WeakTrackingVH, 16> Dead;
  for (IntToPtrInst *Cast : Casts) {
    Value *Pointer = BuilderOf(Cast->getType()->getPointerAddressSpace())
                         .make(Cast->getOperand(0));
    if (!Pointer || Pointer == Cast)
      continue;
    Cast->replaceAllUsesWith(Pointer);
    Dead.push_back(Cast);
  }
  for (CallInst *Asm : Statements)
    givePointers(*Asm, BuilderOf);
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(Dead);
  return PreservedAnalyses::none();
}

} // namespace crsan::lift
