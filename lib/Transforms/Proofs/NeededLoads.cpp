// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads whose value is needed.

#include "Proofs/NeededLoads.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace crsan {

namespace {

/// Whether the user has an effect that depends on the value, beyond its result.
bool hasEffect(const Use &U) {
  const auto *I = cast<Instruction>(U.getUser());
  if (isa<StoreInst, AtomicRMWInst, AtomicCmpXchgInst, ReturnInst>(I))
    return true;
  if (isa<BranchInst, SwitchInst>(I))
    return true;
  const auto *Call = dyn_cast<CallBase>(I);
  return Call && Call->mayHaveSideEffects();
}

/// Whether no operand of a statement without effects can make its result
/// independent of the others.
bool isFaithful(const InlineAsm &Asm) {
  const auto [Opcode, Modifiers] = Asm.getAsmString().split('.');
  // A comparison may be combined with another condition.
  if (Opcode == "setp")
    return none_of(std::initializer_list<StringRef>{".and.", ".or.", ".xor."},
                   [Of = Modifiers](StringRef M) { return Of.contains(M); });
  return StringSwitch<bool>(Opcode)
      .Cases({"add", "sub", "mul", "fma", "div", "sqrt", "rcp", "rsqrt"}, true)
      .Cases({"neg", "abs", "cvt", "ex2", "lg2", "sin", "cos", "tanh"}, true)
      .Cases({"popc", "clz", "brev", "bfind", "min", "max"}, true)
      .Default(false);
}

/// Whether a different value makes a different result, whatever the other
/// operands are: no select is hidden in the operation.
bool isFaithful(const Use &U) {
  const auto *I = cast<Instruction>(U.getUser());
  if (isa<CastInst, GetElementPtrInst, LoadInst, ICmpInst, FreezeInst,
          ExtractElementInst, InsertElementInst, ExtractValueInst,
          UnaryOperator>(I))
    return true;
  if (isa<SelectInst>(I))
    return U.getOperandNo() == 0;
  if (const auto *B = dyn_cast<BinaryOperator>(I)) {
    const unsigned Opcode = B->getOpcode();
    if (Opcode == Instruction::Add || Opcode == Instruction::Sub ||
        Opcode == Instruction::Xor)
      return true;
    const Value *Other = B->getOperand(1 - U.getOperandNo());
    return isa<ConstantInt>(Other) && !cast<ConstantInt>(Other)->isZero();
  }
  if (const auto *Call = dyn_cast<CallBase>(I)) {
    if (const auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
      return isFaithful(*Asm);
    switch (Call->getIntrinsicID()) {
    case Intrinsic::smin:
    case Intrinsic::smax:
    case Intrinsic::umin:
    case Intrinsic::umax:
      return true;
    default:
      return false;
    }
  }
  return false;
}

const BasicBlock *blockOf(const Value &V) {
  const auto *I = dyn_cast<Instruction>(&V);
  return I ? I->getParent() : nullptr;
}

/// Whether the end of the block is the end of the kernel, by an error: no
/// function is asked what it would have done.
bool endsInError(const BasicBlock &Block) {
  if (!isa<UnreachableInst>(Block.getTerminator()))
    return false;
  const Instruction *Last = Block.getTerminator()->getPrevNode();
  const auto *Call = dyn_cast_or_null<CallBase>(Last);
  return !Call || !Call->isInlineAsm(); // `exit` ends one thread.
}

} // namespace

unsigned NeededLoads::pointOf(Point P) {
  const auto [It, IsNew] = Numbers.try_emplace(P, States.size());
  if (IsNew) {
    States.push_back({P, true, true, {}});
    Queue.push_back(It->second);
  }
  return It->second;
}

bool NeededLoads::ask(Point P, unsigned For) {
  const unsigned Number = pointOf(P);
  States[Number].AskedBy.push_back(For);
  return States[Number].Holds;
}

/// The selections in `Block` that choose between two values which both depend
/// on `V`, as a comparison and exchange does.
static SmallVector<const SelectInst *, 2>
selectionsOf(const Value &V, const BasicBlock &Block) {
  constexpr size_t Most = 16;
  SmallVector<const SelectInst *, 2> Found;
  SmallSetVector<const Value *, 16> Dependent;
  Dependent.insert(&V);
  for (size_t I = 0; I < Dependent.size() && I < Most; ++I)
    for (const Use &U : Dependent[I]->uses()) {
      const auto *User = cast<Instruction>(U.getUser());
      if (User->getParent() != &Block)
        continue;
      const auto *Select = dyn_cast<SelectInst>(User);
      if (isFaithful(U))
        Dependent.insert(User);
      else if (Select && Dependent.contains(Select->getTrueValue()) &&
               Dependent.contains(Select->getFalseValue()))
        Found.push_back(Select);
    }
  return Found;
}

/// By an instruction of `Block`, whose own result is needed if it is no effect.
bool NeededLoads::isUsedIn(const Value &V, const BasicBlock &Block,
                           unsigned For) {
  for (const Use &U : V.uses()) {
    const auto *I = cast<Instruction>(U.getUser());
    if (I->getParent() != &Block || isa<PHINode>(I))
      continue;
    if (hasEffect(U) || (isFaithful(U) && ask({I, nullptr}, For)))
      return true;
  }
  return V.hasNUsesOrMore(2) &&
         any_of(selectionsOf(V, Block), [&](const SelectInst *Select) {
           return ask({Select, nullptr}, For);
         });
}

/// Whether the function computes the value once.
static bool isComputedOnce(const Value &V) {
  const auto *I = dyn_cast<Instruction>(&V);
  return !I || I->getParent()->isEntryBlock();
}

/// The value as a condition, and what it is if the value is true.
std::optional<std::pair<NeededLoads::Condition, bool>>
NeededLoads::conditionOf(const Value &V) {
  if (const Value * Inner; match(&V, m_Not(m_Value(Inner)))) {
    auto Found = conditionOf(*Inner);
    if (Found)
      Found->second = !Found->second;
    return Found;
  }
  const auto *Compare = dyn_cast<ICmpInst>(&V);
  if (!Compare || !isComputedOnce(*Compare->getOperand(0)) ||
      !isComputedOnce(*Compare->getOperand(1)))
    return isComputedOnce(V)
               ? std::optional(std::pair(Condition(0, &V, nullptr), true))
               : std::nullopt;
  const CmpInst::Predicate Is = Compare->getPredicate();
  const CmpInst::Predicate IsNot = Compare->getInversePredicate();
  return std::pair(Condition(std::min(Is, IsNot), Compare->getOperand(0),
                             Compare->getOperand(1)),
                   Is < IsNot);
}

/// What branches on the way to the instruction have found out.
NeededLoads::Facts NeededLoads::factsAt(const Instruction &I) const {
  Facts All;
  const DomTreeNode *Node = Dominators.getNode(I.getParent());
  while (Node && (Node = Node->getIDom())) {
    const auto *Branch =
        dyn_cast<BranchInst>(Node->getBlock()->getTerminator());
    if (!Branch || !Branch->isConditional())
      continue;
    const auto Found = conditionOf(*Branch->getCondition());
    for (bool IsTrue : {true, false})
      if (Found && Dominators.dominates(
                       BasicBlockEdge(Node->getBlock(),
                                      Branch->getSuccessor(IsTrue ? 0 : 1)),
                       I.getParent()))
        All[Found->first] = Found->second == IsTrue;
  }
  return All;
}

/// Where the block goes if that is known; null: anywhere.
const BasicBlock *NeededLoads::onlySuccessor(const BasicBlock &Block) const {
  const auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
  if (Known.empty() || !Branch || !Branch->isConditional())
    return nullptr;
  const auto Found = conditionOf(*Branch->getCondition());
  const auto It = Found ? Known.find(Found->first) : Known.end();
  return It == Known.end()
             ? nullptr
             : Branch->getSuccessor(It->second == Found->second ? 0 : 1);
}

bool NeededLoads::isUsedBehind(const Value &V, const BasicBlock &Block,
                               unsigned For) {
  const Instruction *End = Block.getTerminator();
  if (End->getNumSuccessors() == 0)
    return endsInError(Block);
  const BasicBlock *Only = onlySuccessor(Block);
  for (const BasicBlock *Next : successors(&Block)) {
    if (Only && Next != Only)
      continue;
    bool Holds = false;
    for (const PHINode &Phi : Next->phis())
      Holds |= Phi.getIncomingValueForBlock(&Block) == &V &&
               ask({&Phi, nullptr}, For);
    if (!Holds && !ask({&V, Next}, For))
      return false;
  }
  return true;
}

bool NeededLoads::evaluate(unsigned Number) {
  const auto [V, From] = States[Number].Of;
  // Where the value is defined again, it is another one.
  if (From && From == blockOf(*V))
    return false;
  const BasicBlock &Block = From ? *From : *blockOf(*V);
  return isUsedIn(*V, Block, Number) || isUsedBehind(*V, Block, Number);
}

void NeededLoads::settle() {
  while (!Queue.empty()) {
    const unsigned Number = Queue.back();
    Queue.pop_back();
    States[Number].IsQueued = false;
    if (!States[Number].Holds || evaluate(Number))
      continue;
    States[Number].Holds = false;
    for (unsigned Asking : std::exchange(States[Number].AskedBy, {}))
      if (!std::exchange(States[Asking].IsQueued, true))
        Queue.push_back(Asking);
  }
}

bool NeededLoads::holds(const Value &V) {
  const unsigned Number = pointOf({&V, nullptr});
  settle();
  return States[Number].Holds;
}

/// The element that `User` takes out of a vector; nullopt: another use.
static std::optional<uint64_t> elementOf(const User &User) {
  const auto *Part = dyn_cast<ExtractElementInst>(&User);
  const auto *Index =
      Part ? dyn_cast<ConstantInt>(Part->getIndexOperand()) : nullptr;
  return Index ? std::optional(Index->getZExtValue()) : std::nullopt;
}

bool NeededLoads::usesAllElements(const LoadInst &Load) {
  const auto *T = dyn_cast<FixedVectorType>(Load.getType());
  if (!T)
    return true;
  SmallBitVector Used(T->getNumElements());
  for (const User *U : Load.users())
    if (const auto Element = elementOf(*U); Element && *Element < Used.size())
      Used.set(*Element);
  return Used.all();
}

bool NeededLoads::isNeeded(const LoadInst &Load) {
  if (holdsForAllElements(Load))
    return true;
  NeededLoads Here(Dominators);
  Here.Known = factsAt(Load);
  return !Here.Known.empty() && Here.holdsForAllElements(Load);
}

bool NeededLoads::holdsForAllElements(const LoadInst &Load) {
  const auto *T = dyn_cast<FixedVectorType>(Load.getType());
  if (!T)
    return holds(Load);
  // A longer load than the source's has elements that nothing uses.
  SmallBitVector Needed(T->getNumElements());
  for (const User *U : Load.users())
    if (const auto Element = elementOf(*U);
        Element && *Element < Needed.size() &&
        cast<Instruction>(U)->getParent() == Load.getParent() && holds(*U))
      Needed.set(*Element);
  return Needed.all();
}

} // namespace crsan
