// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a function.

#include "FunctionLifter.h"
#include "Instructions.h"
#include "PTX/Classify.h"
#include "PTX/Printer.h"
#include "PTX/Results.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace crsan::lift {

BasicBlock *FunctionLifter::newBlock(const Twine &Name) {
  return BasicBlock::Create(F.getContext(), Name, &F);
}

void FunctionLifter::declareParameters() {
  for (const auto &[P, Argument] : zip(From.Parameters, F.args())) {
    Named What = {&Argument, wholeType(F.getContext(), P), P.Space};
    if (!Argument.hasByValAttr()) {
      // A register's type, if it is one: it may be wider than the parameter.
      if (P.Space == ptx::StateSpace::Reg)
        What.Type = registerType(F.getContext(), P.Type);
      What.Storage = V.allocate(What.Type, alignmentOf(P), str(P.Name));
      Value *Given = Argument.getType()->isPointerTy()
                         ? V.B.CreatePtrToInt(&Argument, What.Type)
                         : V.B.CreateZExt(&Argument, What.Type);
      V.B.CreateStore(Given, What.Storage);
    }
    V.Local.add(str(P.Name), What);
  }
  for (const ptx::Variable &R : From.Results) {
    Result = {nullptr, F.getReturnType(), R.Space};
    Result.Storage = V.allocate(Result.Type, alignmentOf(R), str(R.Name));
    V.Local.add(str(R.Name), Result);
  }
}

Error FunctionLifter::run() {
  BasicBlock *Entry = newBlock("entry"), *Body = newBlock("body");
  V.B.SetInsertPoint(BranchInst::Create(Body, Entry));
  V.Local.enter();
  declareParameters();
  Lines.enter(F, From);
  V.B.SetInsertPoint(Body);
  if (Error E = liftBlock(*From.Body))
    return E;
  endFunction();
  // The block behind the end, and others like it, are reached by nothing.
  for (BasicBlock &Block : F)
    if (!Block.getTerminator())
      new UnreachableInst(F.getContext(), &Block);
  V.eraseUnreadZeros();
  return Error::success();
}

void FunctionLifter::declareLabels(const ptx::Block &B) {
  for (const ptx::Statement &S : B.Statements)
    if (const auto *L = std::get_if<ptx::Label>(&S))
      V.Local.addLabel(str(L->Name), newBlock(str(L->Name)));
    else if (const auto *D = std::get_if<ptx::Directive>(&S);
             D && !D->Label.empty())
      V.Local.addDirective(*D);
}

/// The instructions from `Begin` on that hand on a carry; empty: it hands on
/// none.
static std::vector<const ptx::Instruction *>
carryChain(ArrayRef<ptx::Statement> From) {
  std::vector<const ptx::Instruction *> All;
  size_t Length = 0;
  for (const ptx::Statement &S : From) {
    const auto *I = std::get_if<ptx::Instruction>(&S);
    if (!I || I->If || ptx::classify(*I).What != ptx::Category::Harmless)
      break;
    if (All.empty() && !usesCarry(*I))
      return {};
    All.push_back(I);
    if (usesCarry(*I))
      Length = All.size();
    else if (All.size() > Length + 16)
      break;
  }
  All.resize(Length);
  return All;
}

Error FunctionLifter::liftBlock(const ptx::Block &B) {
  V.Local.enter();
  declareLabels(B);
  ArrayRef<ptx::Statement> Rest = B.Statements;
  while (!Rest.empty()) {
    if (const auto Chain = carryChain(Rest); !Chain.empty()) {
      V.B.SetCurrentDebugLocation(Lines.at(*Chain.front()));
      if (ptx::readsCarry(*Chain.front()))
        return fail("'", ptx::print(*Chain.front()),
                    "' takes a carry from further away");
      if (Error E = liftCarryChain(V, Chain))
        return E;
      Rest = Rest.drop_front(Chain.size());
    } else if (Error E = liftStatement(Rest.consume_front()))
      return E;
  }
  V.Local.leave();
  return Error::success();
}

Error FunctionLifter::liftStatement(const ptx::Statement &S) {
  if (const auto *I = std::get_if<ptx::Instruction>(&S)) {
    Error E = liftGuarded(*I);
    V.UsedBytes = ptx::AllBytes;
    return E;
  }
  if (const auto *Variable = std::get_if<ptx::Variable>(&S))
    return V.declare(*Variable);
  if (const auto *L = std::get_if<ptx::Label>(&S)) {
    BasicBlock *Here = V.Local.label(str(L->Name));
    V.B.CreateBr(Here);
    Here->moveAfter(V.B.GetInsertBlock());
    V.B.SetInsertPoint(Here);
    return Error::success();
  }
  if (const auto *Inner = std::get_if<std::unique_ptr<ptx::Block>>(&S))
    return liftBlock(**Inner);
  // Labelled directives are looked up by the instructions that name them; most
  // of `.pragma` is advice to ptxas.
  const auto &D = std::get<ptx::Directive>(S);
  V.UsedBytes &= ptx::usedBytes(D);
  if (D.Label.empty() && D.Name != ".pragma")
    return fail("the directive '", str(D.Name), "' is not followed");
  return Error::success();
}

Error FunctionLifter::liftGuarded(const ptx::Instruction &I) {
  V.B.SetCurrentDebugLocation(Lines.at(I));
  if (I.Opcode == "bra")
    return liftBranch(I);
  if (!I.If)
    return liftInstruction(I);
  Expected<Value *> If = V.predicate(I.If->Register, I.If->IsNegated);
  if (!If)
    return If.takeError();
  BasicBlock *Then = newBlock(), *Behind = newBlock();
  V.B.CreateCondBr(*If, Then, Behind);
  V.B.SetInsertPoint(Then);
  if (Error E = liftInstruction(I))
    return E;
  V.B.CreateBr(Behind);
  V.B.SetInsertPoint(Behind);
  return Error::success();
}

/// What the program tells detectors (crsan/crsan.h) is told again, in the same
/// form: the register that says what it is exists within the statement.
Error FunctionLifter::liftAnnotation(const ptx::Instruction &I,
                                     ptx::Annotation What) {
  Expected<Value *> Address = V.read(I.Operands[1], V.B.getInt64Ty());
  if (!Address)
    return Address.takeError();
  const std::string Name = str(I.Operands[0].Text).str();
  const std::string Text =
      "{\n\t.reg .b64 " + Name + ";\n\tmov.b64 " + Name + ", $0;\n\t}";
  auto *T = FunctionType::get(V.B.getVoidTy(), {V.B.getInt64Ty()}, false);
  CallInst *Call = V.B.CreateCall(
      InlineAsm::get(T, Text, "l,~{memory}", /*hasSideEffects=*/true),
      {*Address});
  Call->setConvergent();
  Call->setDoesNotThrow();
  // What is built from here on is as this call: not to be checked, or to be.
  if (What == ptx::Annotation::BenignBegin)
    Call->setMetadata(LLVMContext::MD_nosanitize,
                      MDNode::get(F.getContext(), {}));
  if (What == ptx::Annotation::BenignBegin ||
      What == ptx::Annotation::BenignEnd)
    V.B.CollectMetadataToCopy(Call, {LLVMContext::MD_nosanitize});
  return Error::success();
}

Error FunctionLifter::liftInstruction(const ptx::Instruction &I) {
  if (const auto What = ptx::annotationOf(I))
    return liftAnnotation(I, *What);
  if (usesCarry(I))
    return fail("'", ptx::print(I), "' stands apart from what uses its carry");
  Expected<bool> IsDone = liftControlFlow(I);
  using Lifter = Expected<bool> (*)(Values &, const ptx::Instruction &);
  for (Lifter Lift :
       std::initializer_list<Lifter>{liftMove, liftArithmetic, liftComparison,
                                     liftMemory, liftAtomic, liftCall,
                                     liftVerbatim}) {
    if (!IsDone || *IsDone)
      break;
    IsDone = Lift(V, I);
  }
  return IsDone.takeError();
}

Error FunctionLifter::liftBranch(const ptx::Instruction &I) {
  BasicBlock *Target =
      I.Operands.size() == 1 ? V.Local.label(str(I.Operands[0].Text)) : nullptr;
  if (!Target)
    return fail("'", ptx::print(I), "' branches to no label");
  BasicBlock *Next = newBlock();
  if (I.If) {
    Expected<Value *> If = V.predicate(I.If->Register, I.If->IsNegated);
    if (!If)
      return If.takeError();
    V.B.CreateCondBr(*If, Target, Next);
  } else
    V.B.CreateBr(Target);
  V.B.SetInsertPoint(Next);
  return Error::success();
}

Error FunctionLifter::liftIndexedBranch(const ptx::Instruction &I) {
  const ptx::Directive *D = I.Operands.size() == 2
                                ? V.Local.directive(str(I.Operands[1].Text))
                                : nullptr;
  if (!D || D->Name != ".branchtargets")
    return fail("'", ptx::print(I), "' names no branch targets");
  Expected<Value *> Index = V.read(I.Operands[0], V.B.getInt32Ty());
  if (!Index)
    return Index.takeError();
  BasicBlock *Nowhere = newBlock();
  new UnreachableInst(F.getContext(), Nowhere);
  SwitchInst *Switch = V.B.CreateSwitch(*Index, Nowhere, D->Operands.size());
  for (const auto &[Number, Op] : enumerate(D->Operands)) {
    BasicBlock *Target = V.Local.label(str(Op.Text));
    if (!Target)
      return fail("'", str(Op.Text), "' is no label");
    Switch->addCase(V.B.getInt32(Number), Target);
  }
  startAfterEnd();
  return Error::success();
}

void FunctionLifter::endFunction() {
  if (F.getReturnType()->isVoidTy()) {
    V.B.CreateRetVoid();
    return;
  }
  V.B.CreateRet(V.B.CreateLoad(Result.Type, Result.Storage));
}

Expected<bool> FunctionLifter::liftControlFlow(const ptx::Instruction &I) {
  if (I.Opcode == "brx") {
    if (Error E = liftIndexedBranch(I))
      return std::move(E);
    return true;
  }
  const bool IsKernel = F.getCallingConv() == CallingConv::PTX_Kernel;
  if (I.Opcode == "ret" || (I.Opcode == "exit" && IsKernel))
    endFunction();
  else if (I.Opcode == "exit") {
    V.B.CreateCall(InlineAsm::get(FunctionType::get(V.B.getVoidTy(), false),
                                  "exit;", "~{memory}",
                                  /*hasSideEffects=*/true))
        ->setConvergent();
    V.B.CreateUnreachable();
  } else
    return false;
  startAfterEnd();
  return true;
}

} // namespace crsan::lift
