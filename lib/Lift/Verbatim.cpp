// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that stay as written, as inline assembly.

#include "Instructions.h"
#include "PTX/Classify.h"
#include "PTX/Printer.h"
#include "PTX/Results.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"

#include <deque>

using namespace llvm;

namespace crsan::lift {

namespace {

using Kind = ptx::Operand::Kind;
using ptx::Category;

/// Whether the result is a function of the operands, and nothing else happens.
bool isPure(const ptx::Instruction &I) {
  return ptx::classify(I).What == Category::Harmless &&
         StringSwitch<bool>(str(I.Opcode))
             .Cases({"nanosleep", "pmevent", "prefetch", "prefetchu",
                     "applypriority"},
                    false)
             .Default(true);
}

/// One statement of inline assembly, of one instruction or several.
class Statement {
public:
  explicit Statement(Values &V) : V(V) {}

  /// Instructions of one statement hand values on by the registers that they
  /// name: what one has written, a later one reads.
  Error add(const ptx::Instruction &I);
  /// The load that follows reads bytes that it need not.
  void keepUsedBytes(uint32_t Mask) {
    if (Mask != ptx::AllBytes)
      Text += ".pragma \"used_bytes_mask " + std::to_string(Mask) + "\";";
  }
  Error emit();

private:
  Error collectResults(const ptx::Operand &Op);
  void noteWritten(const ptx::Operand &Op) {
    Written.insert(str(Op.Text));
    for (const ptx::Operand &Part : Op.Elements)
      noteWritten(Part);
  }
  Expected<ptx::Operand> render(const ptx::Operand &Op,
                                const ptx::Instruction &I, bool IsResult);
  Expected<ptx::Operand> renderName(const ptx::Operand &Op,
                                    const ptx::Instruction &I);
  std::string_view number(size_t Index);
  ptx::Operand input(llvm::Value *From);
  void finish(CallInst *Call);
  static char constraintOf(Type *T);

  Values &V;
  /// Registers that are written, in order; their numbers are `$0`, ...
  SmallVector<ptx::Operand, 4> Results;
  StringMap<size_t> ResultNumbers;
  StringSet<> Written; ///< By the instructions that are rendered.
  SmallVector<Value *, 8> Inputs;
  std::vector<const ptx::Instruction *> Instructions;
  std::string Text;
  std::deque<std::string> Names; ///< What operands' names view.
  bool IsPure = true, IsConvergent = false, TouchesMemory = false;
};

char Statement::constraintOf(Type *T) {
  if (T->isPointerTy())
    return 'l';
  switch (T->getIntegerBitWidth()) {
  case 1:
    return 'b';
  case 16:
    return 'h';
  case 32:
    return 'r';
  case 64:
    return 'l';
  case 128:
    return 'q';
  }
  llvm_unreachable("no register has this width");
}

std::string_view Statement::number(size_t Index) {
  return Names.emplace_back("$" + std::to_string(Index));
}

Error Statement::collectResults(const ptx::Operand &Op) {
  if (Op.What == Kind::Vector || Op.What == Kind::Pair) {
    for (const ptx::Operand &Part : Op.Elements)
      if (Error E = collectResults(Part))
        return E;
    return Error::success();
  }
  if (Op.What == Kind::Discard)
    return Error::success();
  if (!V.registerOf(Op) || Op.Member || Op.IsNegated)
    return fail("the result '", ptx::print(Op), "' is not followed");
  if (ResultNumbers.try_emplace(str(Op.Text), Results.size()).second)
    Results.push_back(Op);
  return Error::success();
}

Error Statement::add(const ptx::Instruction &I) {
  const std::optional<unsigned> Number = ptx::resultsOf(I);
  if (!Number)
    return fail("the instruction '", str(I.Opcode), "' is not known");
  if (ptx::keepsRegisters(I))
    return fail("'", str(I.Opcode),
                "' keeps its registers until a later instruction");
  for (const ptx::Operand &Op : ArrayRef(I.Operands).take_front(*Number))
    if (Error E = collectResults(Op))
      return E;
  Instructions.push_back(&I);
  const Category What = ptx::classify(I).What;
  IsPure &= isPure(I);
  IsConvergent |= What != Category::Harmless;
  TouchesMemory |= What != Category::Harmless && What != Category::Convergent;
  return Error::success();
}

/// A value of the caller's as an operand of the statement.
ptx::Operand Statement::input(Value *From) {
  Inputs.push_back(From);
  ptx::Operand Op;
  Op.What = Kind::Name;
  Op.Text = number(Results.size() + Inputs.size() - 1);
  return Op;
}

Expected<ptx::Operand> Statement::renderName(const ptx::Operand &Op,
                                             const ptx::Instruction &I) {
  if (Written.contains(str(Op.Text))) {
    ptx::Operand Rendered = Op;
    Rendered.Text = number(ResultNumbers.lookup(str(Op.Text)));
    return Rendered;
  }
  if (Value *Place = V.place(Op.Text)) {
    if (const Named *Found = V.find(Op.Text);
        Found && Found->Space == ptx::StateSpace::Local)
      Place = V.B.CreateAddrSpaceCast(
          Place, PointerType::get(V.context(), NVPTXAS::ADDRESS_SPACE_LOCAL));
    else if (I.has("param"))
      return fail("'", ptx::print(I), "' is not followed");
    return input(Place);
  }
  ptx::Operand Positive = Op;
  Positive.IsNegated = false;
  Expected<Value *> Value =
      V.readWhole(Positive, registerType(V.context(), I.type()));
  if (!Value)
    return Value.takeError();
  ptx::Operand Rendered = input(*Value);
  Rendered.IsNegated = Op.IsNegated;
  return Rendered;
}

Expected<ptx::Operand> Statement::render(const ptx::Operand &Op,
                                         const ptx::Instruction &I,
                                         bool IsResult) {
  ptx::Operand Rendered = Op;
  switch (Op.What) {
  case Kind::Name:
    if (!IsResult)
      return renderName(Op, I);
    Rendered.Text = number(ResultNumbers.lookup(str(Op.Text)));
    return Rendered;
  case Kind::Address:
  case Kind::Vector:
  case Kind::Pair:
  case Kind::List:
    for (ptx::Operand &Part : Rendered.Elements) {
      Expected<ptx::Operand> New = render(Part, I, IsResult);
      if (!New)
        return New;
      Part = std::move(*New);
    }
    return Rendered;
  case Kind::Integer:
  case Kind::Float:
  case Kind::Discard:
    return Rendered;
  case Kind::Sum: {
    Expected<Value *> Value =
        V.readWhole(Op, registerType(V.context(), I.type()));
    if (!Value)
      return Value.takeError();
    return input(*Value);
  }
  case Kind::Symbols:
    break;
  }
  return fail("the operand '", ptx::print(Op), "' is not followed");
}

/// What the statement does beyond its results, as far as LLVM has to know.
void Statement::finish(CallInst *Call) {
  Call->setDoesNotThrow();
  if (IsPure)
    Call->setDoesNotAccessMemory();
  if (IsConvergent)
    Call->setConvergent();
}

Error Statement::emit() {
  for (const ptx::Instruction *I : Instructions) {
    ptx::Instruction Rendered = *I;
    Rendered.If.reset();
    const unsigned Number = *ptx::resultsOf(*I);
    for (auto [Index, Op] : enumerate(Rendered.Operands)) {
      Expected<ptx::Operand> New = render(Op, *I, Index < Number);
      if (!New)
        return New.takeError();
      Op = std::move(*New);
    }
    Text += (Text.empty() ? "" : "\n\t") + ptx::print(Rendered);
    if (Number)
      noteWritten(I->Operands[0]);
  }
  std::string Constraints;
  auto Constrain = [&](const Twine &Constraint) {
    Constraints += ((Constraints.empty() ? "" : ",") + Constraint).str();
  };
  SmallVector<Type *, 4> ResultTypes;
  for (const ptx::Operand &Op : Results) {
    ResultTypes.push_back(V.registerOf(Op));
    // A result of one instruction must not share a register with an operand
    // that a later one reads.
    Constrain(Twine(Instructions.size() > 1 ? "=&" : "=") +
              Twine(constraintOf(ResultTypes.back())));
  }
  SmallVector<Type *, 8> InputTypes;
  for (Value *Input : Inputs) {
    InputTypes.push_back(Input->getType());
    Constrain(Twine(constraintOf(Input->getType())));
  }
  if (TouchesMemory)
    Constrain("~{memory}");
  Type *Result = Results.empty() ? Type::getVoidTy(V.context())
                 : Results.size() == 1
                     ? ResultTypes.front()
                     : StructType::get(V.context(), ResultTypes);
  CallInst *Call = V.B.CreateCall(
      InlineAsm::get(FunctionType::get(Result, InputTypes, false), Text,
                     Constraints, /*hasSideEffects=*/!IsPure),
      Inputs);
  finish(Call);
  for (const auto &[Index, Op] : enumerate(Results)) {
    Value *Part =
        Results.size() == 1 ? Call : V.B.CreateExtractValue(Call, Index);
    if (Error E = V.write(Op, Part))
      return E;
  }
  return Error::success();
}

} // namespace

Expected<bool> liftVerbatim(Values &V, const ptx::Instruction &I) {
  Statement S(V);
  S.keepUsedBytes(V.UsedBytes);
  if (Error E = S.add(I))
    return std::move(E);
  if (Error E = S.emit())
    return std::move(E);
  return true;
}

bool usesCarry(const ptx::Instruction &I) {
  return ptx::writesCarry(I) || ptx::readsCarry(I);
}

Error liftCarryChain(Values &V, ArrayRef<const ptx::Instruction *> Chain) {
  Statement S(V);
  for (const ptx::Instruction *I : Chain) {
    if (I->If || !isPure(*I))
      return fail("'", ptx::print(*I), "' stands within a chain of carries");
    if (Error E = S.add(*I))
      return E;
  }
  return S.emit();
}

} // namespace crsan::lift
