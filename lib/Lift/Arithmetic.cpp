// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic.
//
// What LLVM gives no meaning to for some operands stays assembly: division, and
// shifts by amounts that are not known.

#include "Instructions.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace crsan::lift {

namespace {

using ptx::ScalarType;

bool isInteger(ScalarType T) {
  switch (T) {
  case ScalarType::B16:
  case ScalarType::B32:
  case ScalarType::B64:
  case ScalarType::U16:
  case ScalarType::U32:
  case ScalarType::U64:
  case ScalarType::S16:
  case ScalarType::S32:
  case ScalarType::S64:
    return true;
  default:
    return false;
  }
}

/// The operands from the second on, at most `Most`.
Expected<SmallVector<Value *, 3>> readSources(Values &V,
                                              const ptx::Instruction &I,
                                              IntegerType *T,
                                              size_t Most = ~size_t(0)) {
  SmallVector<Value *, 3> All;
  for (const ptx::Operand &Op :
       ArrayRef(I.Operands).drop_front().take_front(Most)) {
    Expected<Value *> Source = V.read(Op, T);
    if (!Source)
      return Source.takeError();
    All.push_back(*Source);
  }
  return All;
}

Expected<bool> finish(Values &V, const ptx::Instruction &I, Value *Result) {
  if (Error E = V.write(I.Operands[0], Result))
    return std::move(E);
  return true;
}

/// add, sub, and, or, xor, min, max, ...: two sources and a result of one type.
Value *applyBinary(IRBuilder<> &B, const ptx::Instruction &I, bool IsSigned,
                   Value *L, Value *R) {
  const StringRef Opcode = str(I.Opcode);
  if (Opcode == "min" || Opcode == "max") {
    const bool IsMin = Opcode == "min";
    return B.CreateBinaryIntrinsic(
        IsSigned ? (IsMin ? Intrinsic::smin : Intrinsic::smax)
                 : (IsMin ? Intrinsic::umin : Intrinsic::umax),
        L, R);
  }
  const auto Op = StringSwitch<std::optional<Instruction::BinaryOps>>(Opcode)
                      .Case("add", Instruction::Add)
                      .Case("sub", Instruction::Sub)
                      .Case("and", Instruction::And)
                      .Case("or", Instruction::Or)
                      .Case("xor", Instruction::Xor)
                      .Default(std::nullopt);
  return Op ? B.CreateBinOp(*Op, L, R) : nullptr;
}

/// shl, shr by a constant that is less than the width.
Expected<bool> liftShift(Values &V, const ptx::Instruction &I, IntegerType *T) {
  const ptx::Operand &Amount = I.Operands[2];
  if (Amount.What != ptx::Operand::Kind::Integer ||
      Amount.Bits >= T->getBitWidth())
    return false;
  Expected<Value *> Of = V.read(I.Operands[1], T);
  if (!Of)
    return Of.takeError();
  Value *By = ConstantInt::get(T, Amount.Bits);
  Value *Result = I.Opcode == "shl"         ? V.B.CreateShl(*Of, By)
                  : ptx::isSigned(I.type()) ? V.B.CreateAShr(*Of, By)
                                            : V.B.CreateLShr(*Of, By);
  return finish(V, I, Result);
}

/// mul.lo, mul.wide, mad.lo, mad.wide.
Expected<bool> liftProduct(Values &V, const ptx::Instruction &I,
                           IntegerType *T) {
  const bool IsWide = I.has("wide");
  if (I.Modifiers.size() != 2 || (!IsWide && !I.has("lo")))
    return false;
  IntegerType *Result = IsWide ? T->getExtendedType() : T;
  Value *Factors[2];
  for (unsigned Index : {0, 1}) {
    Expected<Value *> Factor = V.read(I.Operands[Index + 1], T);
    if (!Factor)
      return Factor.takeError();
    Factors[Index] =
        V.B.CreateIntCast(*Factor, Result, ptx::isSigned(I.type()));
  }
  Value *Product = V.B.CreateMul(Factors[0], Factors[1]);
  if (I.Opcode == "mad") {
    Expected<Value *> Addend = V.read(I.Operands[3], Result);
    if (!Addend)
      return Addend.takeError();
    Product = V.B.CreateAdd(Product, *Addend);
  }
  return finish(V, I, Product);
}

} // namespace

Expected<bool> liftArithmetic(Values &V, const ptx::Instruction &I) {
  const ScalarType Type = I.type();
  const bool IsPredicate = Type == ScalarType::Pred;
  if (!isInteger(Type) && !IsPredicate)
    return false;
  IntegerType *T = registerType(V.context(), Type);
  const size_t Operands = I.Operands.size();
  if ((I.Opcode == "mul" && Operands == 3) ||
      (I.Opcode == "mad" && Operands == 4))
    return liftProduct(V, I, T);
  if (I.Modifiers.size() != 1)
    return false; // .sat, .cc, .relu, ...
  if ((I.Opcode == "shl" || I.Opcode == "shr") && Operands == 3)
    return liftShift(V, I, T);
  const bool IsUnary = I.Opcode == "not" || I.Opcode == "neg";
  if (Operands != (IsUnary ? 2 : 3) ||
      !StringSwitch<bool>(str(I.Opcode))
           .Cases({"add", "sub", "min", "max"}, !IsPredicate)
           .Cases({"and", "or", "xor", "not"}, true)
           .Case("neg", !IsPredicate)
           .Default(false))
    return false;
  auto Sources = readSources(V, I, T);
  if (!Sources)
    return Sources.takeError();
  const auto &S = *Sources;
  Value *Result = I.Opcode == "not" ? V.B.CreateNot(S[0])
                  : I.Opcode == "neg"
                      ? V.B.CreateNeg(S[0])
                      : applyBinary(V.B, I, ptx::isSigned(Type), S[0], S[1]);
  return finish(V, I, Result);
}

namespace {

std::optional<CmpInst::Predicate> comparisonOf(const ptx::Instruction &I,
                                               bool IsSigned) {
  using P = CmpInst::Predicate;
  for (std::string_view M : I.Modifiers) {
    const auto Found = StringSwitch<std::optional<P>>(str(M))
                           .Case("eq", P::ICMP_EQ)
                           .Case("ne", P::ICMP_NE)
                           .Case("lt", IsSigned ? P::ICMP_SLT : P::ICMP_ULT)
                           .Case("le", IsSigned ? P::ICMP_SLE : P::ICMP_ULE)
                           .Case("gt", IsSigned ? P::ICMP_SGT : P::ICMP_UGT)
                           .Case("ge", IsSigned ? P::ICMP_SGE : P::ICMP_UGE)
                           .Case("lo", P::ICMP_ULT)
                           .Case("ls", P::ICMP_ULE)
                           .Case("hi", P::ICMP_UGT)
                           .Case("hs", P::ICMP_UGE)
                           .Default(std::nullopt);
    if (Found)
      return Found;
  }
  return std::nullopt;
}

Expected<bool> liftSelect(Values &V, const ptx::Instruction &I) {
  IntegerType *T = registerType(V.context(), I.type());
  if (I.Operands.size() != 4)
    return false;
  auto Sources = readSources(V, I, T, 2);
  if (!Sources)
    return Sources.takeError();
  Expected<Value *> If = V.read(I.Operands[3], V.B.getInt1Ty());
  if (!If)
    return If.takeError();
  return finish(V, I, V.B.CreateSelect(*If, (*Sources)[0], (*Sources)[1]));
}

} // namespace

Expected<bool> liftComparison(Values &V, const ptx::Instruction &I) {
  if (I.Opcode == "selp" && I.Modifiers.size() == 1)
    return liftSelect(V, I);
  const auto Compare = comparisonOf(I, ptx::isSigned(I.type()));
  const bool Combines = I.has("and") || I.has("or") || I.has("xor");
  if (I.Opcode != "setp" || !isInteger(I.type()) || !Compare ||
      I.Modifiers.size() != (Combines ? 3u : 2u) ||
      I.Operands.size() != (Combines ? 4u : 3u))
    return false;
  IntegerType *T = registerType(V.context(), I.type());
  auto Sources = readSources(V, I, T, 2);
  if (!Sources)
    return Sources.takeError();
  Value *Holds = V.B.CreateICmp(*Compare, (*Sources)[0], (*Sources)[1]);
  Value *Fails = V.B.CreateNot(Holds);
  if (Combines) {
    Expected<Value *> With = V.read(I.Operands[3], V.B.getInt1Ty());
    if (!With)
      return With.takeError();
    auto Combine = [&](Value *P) {
      return I.has("and")  ? V.B.CreateAnd(P, *With)
             : I.has("or") ? V.B.CreateOr(P, *With)
                           : V.B.CreateXor(P, *With);
    };
    Holds = Combine(Holds);
    Fails = Combine(Fails);
  }
  if (I.Operands[0].What != ptx::Operand::Kind::Pair)
    return finish(V, I, Holds);
  if (Error E = V.write(I.Operands[0].Elements[0], Holds))
    return std::move(E);
  if (Error E = V.write(I.Operands[0].Elements[1], Fails))
    return std::move(E);
  return true;
}

} // namespace crsan::lift
