// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls.

#include "Instructions.h"
#include "PTX/Parser.h"
#include "PTX/Printer.h"

using namespace llvm;

namespace crsan::lift {

namespace {

using Kind = ptx::Operand::Kind;

/// What a call names: results, the callee, arguments and, of a call through a
/// pointer, the label of a prototype.
struct CallParts {
  ArrayRef<ptx::Operand> Results, Arguments;
  const ptx::Operand *Callee = nullptr;
  const ptx::Operand *Prototype = nullptr;
};

std::optional<CallParts> readParts(const ptx::Instruction &I) {
  CallParts Parts;
  ArrayRef<ptx::Operand> Rest = I.Operands;
  if (!Rest.empty() && Rest.front().What == Kind::List)
    Parts.Results = Rest.consume_front().Elements;
  if (Rest.empty() || Rest.front().What != Kind::Name)
    return std::nullopt;
  Parts.Callee = &Rest.consume_front();
  if (!Rest.empty() && Rest.front().What == Kind::List)
    Parts.Arguments = Rest.consume_front().Elements;
  if (!Rest.empty())
    Parts.Prototype = &Rest.consume_front();
  if (!Rest.empty() || Parts.Results.size() > 1)
    return std::nullopt;
  return Parts;
}

/// A callee's type, and its attributes.
struct Callee {
  FunctionType *Type;
  AttributeList Attributes;
};

/// Reads `.callprototype (.param .b32 _) _ (.param .b64 _)` as a declaration.
Expected<Callee> readPrototype(LLVMContext &C, const ptx::Directive &D) {
  StringRef Text = str(D.Text);
  if (!Text.consume_front(".callprototype"))
    return fail("'", str(D.Text), "' is no prototype");
  auto Parsed = ptx::parseModule(
      (".version 9.0\n.target sm_75\n.address_size 64\n.extern .func " + Text +
       ";")
          .str());
  const auto *M = std::get_if<ptx::Module>(&Parsed);
  const auto *F = M && M->Items.size() == 1
                      ? std::get_if<ptx::Function>(&M->Items.front())
                      : nullptr;
  if (!F)
    return fail("the prototype '", str(D.Text), "' is not followed");
  Expected<FunctionType *> T = typeOf(C, *F);
  if (!T)
    return T.takeError();
  AttributeList Attributes;
  addParameterAttributes(C, *F, Attributes);
  return Callee{*T, Attributes};
}

/// A number or a pointer as the type that a parameter or a result has.
Value *castTo(IRBuilder<> &B, Value *From, Type *T) {
  if (From->getType()->isIntegerTy() && T->isPointerTy())
    return B.CreateIntToPtr(From, T);
  if (From->getType()->isPointerTy() && T->isIntegerTy())
    return B.CreatePtrToInt(From, T);
  return From;
}

class CallLifter {
public:
  CallLifter(Values &V, const CallParts &Parts) : V(V), Parts(Parts) {}

  Error run() {
    Expected<Value *> Called = find();
    if (!Called)
      return Called.takeError();
    SmallVector<Value *, 8> Arguments;
    if (Parts.Arguments.size() != Of.Type->getNumParams())
      return fail("a call of '", str(Parts.Callee->Text),
                  "' has another number of arguments");
    for (const auto &[Index, Op] : enumerate(Parts.Arguments)) {
      Expected<Value *> Argument = read(Op, Index);
      if (!Argument)
        return Argument.takeError();
      Arguments.push_back(*Argument);
    }
    CallInst *Call = V.B.CreateCall(Of.Type, *Called, Arguments);
    Call->setAttributes(Of.Attributes);
    Call->setConvergent();
    Call->setDoesNotThrow();
    return Parts.Results.empty() ? Error::success()
                                 : write(Parts.Results.front(), Call);
  }

private:
  Expected<Value *> find() {
    GlobalValue *G = V.OfModule.find(str(Parts.Callee->Text));
    if (auto *F = dyn_cast_or_null<Function>(G)) {
      AttributeList ByParameter;
      for (unsigned I = 0; I < F->arg_size(); ++I)
        ByParameter = ByParameter.addParamAttributes(
            V.context(), I,
            AttrBuilder(V.context(), F->getAttributes().getParamAttrs(I)));
      Of = {F->getFunctionType(), ByParameter};
      return F;
    }
    const ptx::Directive *D =
        Parts.Prototype ? V.Local.directive(str(Parts.Prototype->Text))
                        : nullptr;
    if (!D || D->Name != ".callprototype")
      return fail("the callee '", str(Parts.Callee->Text), "' is not known");
    Expected<Callee> ByPrototype = readPrototype(V.context(), *D);
    if (!ByPrototype)
      return ByPrototype.takeError();
    Of = *ByPrototype;
    Expected<Value *> Address = V.read(*Parts.Callee, V.B.getInt64Ty());
    if (!Address)
      return Address;
    return V.B.CreateIntToPtr(*Address, PointerType::get(V.context(), 0));
  }

  /// An argument: a `.param` variable of the caller's, or a register or
  /// constant.
  Expected<Value *> read(const ptx::Operand &Op, unsigned Index) {
    Type *T = Of.Type->getParamType(Index);
    const Named *Found = Op.What == Kind::Name ? V.find(Op.Text) : nullptr;
    if (Found && Found->Space == ptx::StateSpace::Param) {
      if (Of.Attributes.hasParamAttr(Index, Attribute::ByVal))
        return Found->Storage;
      // A pointer's bits; Found may be larger than the parameter.
      return V.B.CreateLoad(T, Found->Storage);
    }
    auto *Bits = dyn_cast<IntegerType>(T);
    Expected<Value *> Value =
        V.read(Op, Bits ? Bits : IntegerType::get(V.context(), 64));
    if (!Value)
      return Value;
    return castTo(V.B, *Value, T);
  }

  Error write(const ptx::Operand &Op, Value *Result) {
    const Named *Found = Op.What == Kind::Name ? V.find(Op.Text) : nullptr;
    if (Found && Found->Space == ptx::StateSpace::Param) {
      V.B.CreateStore(Result, Found->Storage);
      return Error::success();
    }
    return V.write(Op, castTo(V.B, Result, V.B.getInt64Ty()));
  }

  Values &V;
  const CallParts Parts;
  Callee Of = {};
};

} // namespace

Expected<bool> liftCall(Values &V, const ptx::Instruction &I) {
  if (I.Opcode != "call")
    return false;
  const std::optional<CallParts> Parts = readParts(I);
  if (!Parts)
    return fail("the call '", ptx::print(I), "' is not followed");
  if (Error E = CallLifter(V, *Parts).run())
    return std::move(E);
  return true;
}

} // namespace crsan::lift
