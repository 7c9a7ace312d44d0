// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands of an instruction, decoded.
#include "Decoder.h"
#include "Execution.h"

#include <fmt/format.h>

using namespace crsan::sim;
using crsan::ptx::Operand;
using crsan::ptx::ScalarType;
using crsan::ptx::StateSpace;

// Pseudo-instructions.

static Outcome addConstant(Execution &X, const Instruction &I) {
  forLanes(X.Mask, [&](unsigned L) {
    X.setValue(I.Op[0], L, X.value(I.Op[1], L) + uint64_t(I.Imm));
  });
  return Outcome::Next;
}

static Outcome notPredicate(Execution &X, const Instruction &I) {
  X.setBits(I.Op[0], ~X.bits(I.Op[1]));
  return Outcome::Next;
}

const Operand &Decoder::operand(size_t N) const {
  static const Operand None;
  return N < I->Operands.size() ? I->Operands[N] : None;
}

Ref Decoder::carry() {
  if (!Carry.IsValid)
    Carry = Frame.newRow(0);
  return Carry;
}

Ref Decoder::temporary(unsigned Size) { return Frame.newRow(Size); }

Ref Decoder::added(Ref From, int64_t Offset) {
  if (!Offset)
    return From;
  Ref To = temporary(From.Size);
  emit(addConstant, {To, From}).Imm = Offset;
  return To;
}

Ref Decoder::resized(Ref From, unsigned Size) {
  if (From.Size == Size)
    return From;
  Ref To = temporary(Size);
  emit(addConstant, {To, From}).Imm = 0;
  return To;
}

Ref Decoder::symbolAddress(std::string_view Name, int64_t Offset,
                           unsigned Size) {
  Ref Base{LocalBaseRow, Rows::Frame, 8, true};
  if (const Slot *S = Known->find(&Names::Params, Name)) {
    if (S->IsKernelParam)
      return constant(S->Offset + uint64_t(Offset), Size);
    if (!S->IsRow)
      return resized(added(Base, S->Offset + Offset), Size);
    fail(fmt::format("{} has no address here", Name));
    return {};
  }
  if (const uint32_t *At = Known->find(&Names::Locals, Name))
    return resized(added(Base, *At + Offset), Size);
  const uint32_t *Shared = Known->find(&Names::Shared, Name);
  if (auto It = Env.Shared.find(Name); !Shared && It != Env.Shared.end())
    Shared = &It->second;
  if (Shared) {
    Fn.UsesShared.push_back(*Shared);
    Ref Row{*Shared * SharedRowStride + (Size == 8 ? 0 : WarpSize * 8),
            Rows::Shared, uint8_t(Size == 8 ? 8 : 4), true};
    return resized(added(Row, Offset), Size);
  }
  if (const uint64_t *At = Known->find(&Names::Globals, Name))
    return constant(*At + uint64_t(Offset), Size);
  if (auto It = Env.Addresses.find(Name); It != Env.Addresses.end())
    return constant(It->second + uint64_t(Offset), Size);
  if (auto It = Env.Functions.find(Name); It != Env.Functions.end()) {
    Env.In.Functions[It->second].TakesAddress = true;
    Fn.Calls.push_back(It->second);
    return constant(window::codeAddress(It->second), Size);
  }
  fail(fmt::format("{} is not defined", Name));
  return {};
}

static std::string memberName(const Operand &O) {
  return fmt::format("{}.{}", O.Text, O.Member);
}

Ref Decoder::source(const Operand &O, unsigned Size) {
  switch (O.What) {
  case Operand::Kind::Integer:
    return constant(O.Bits, Size);
  case Operand::Kind::Float: {
    uint64_t Bits = O.Bits;
    if (O.IsDouble && Size == 4)
      Bits = std::bit_cast<uint32_t>(float(std::bit_cast<double>(Bits)));
    if (!O.IsDouble && Size == 8)
      Bits =
          std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(Bits))));
    return constant(Bits, Size);
  }
  case Operand::Kind::Sum:
    return symbolAddress(O.Text, int64_t(O.Bits), Size);
  case Operand::Kind::Name:
    break;
  default:
    fail("an operand is of a kind that is not known here");
    return {};
  }
  Ref R =
      Known->findRegister(O.Member ? std::string_view(memberName(O)) : O.Text);
  if (R.IsValid) {
    if (R.Size != Size)
      fail(fmt::format("{} has {} bytes, not {}", O.Text, R.Size, Size));
    return R;
  }
  if (O.Text == "WARP_SZ")
    return constant(WarpSize, Size);
  if (!O.Text.empty() && O.Text[0] == '%')
    if (Ref S = readSpecial(*this, O.Text, O.Member, Size); S.IsValid)
      return S;
  return symbolAddress(O.Text, 0, Size);
}

Ref Decoder::sourceOfAnySize(const Operand &O, unsigned Least) {
  if (O.What == Operand::Kind::Name)
    if (Ref R = Known->findRegister(O.Text); R.IsValid && R.Size >= Least)
      return R;
  return source(O, Least);
}

Ref Decoder::dest(const Operand &O, unsigned Size) {
  if (O.What == Operand::Kind::Discard)
    return temporary(Size);
  Ref R = O.What == Operand::Kind::Name
              ? Known->findRegister(O.Member ? std::string_view(memberName(O))
                                             : O.Text)
              : Ref();
  if (!R.IsValid || R.Size != Size)
    fail(R.IsValid
             ? fmt::format("{} has {} bytes, not {}", O.Text, R.Size, Size)
             : fmt::format("{} is not a register", O.Text));
  return R;
}

Ref Decoder::destOfAnySize(const Operand &O, unsigned Least) {
  if (O.What == Operand::Kind::Name)
    if (Ref R = Known->findRegister(O.Text); R.IsValid && R.Size >= Least)
      return R;
  return dest(O, Least);
}

Ref Decoder::predicate(const Operand &O) {
  if (O.What == Operand::Kind::Integer) {
    Ref R = temporary(0);
    emit(
        [](Execution &X, const Instruction &I) {
          X.setBits(I.Op[0], I.Imm ? AllLanes : 0);
          return Outcome::Next;
        },
        {R})
        .Imm = O.Bits != 0;
    return R;
  }
  Ref R = O.What == Operand::Kind::Name ? Known->findRegister(O.Text) : Ref();
  if (!R.IsValid || R.Size != 0) {
    fail(fmt::format("{} is not a predicate", O.Text));
    return R;
  }
  if (!O.IsNegated)
    return R;
  Ref Not = temporary(0);
  emit(notPredicate, {Not, R});
  return Not;
}

bool Decoder::isPredicate(const Operand &O) const {
  Ref R = Known->findRegister(O.Text);
  return R.IsValid && R.Size == 0;
}

Ref Decoder::destPredicate(const Operand &O) { return dest(O, 0); }

Address Decoder::address(const Operand &O, StateSpace Space) {
  Address A;
  if (O.What != Operand::Kind::Address) {
    fail("an address is expected");
    return A;
  }
  A.Offset = int64_t(O.Bits);
  if (O.Elements.empty() || O.Elements[0].What == Operand::Kind::Integer) {
    A.Base = constant(O.Elements.empty() ? 0 : O.Elements[0].Bits, 8);
    return A;
  }
  const Operand &Name = O.Elements[0];
  Ref R = Known->findRegister(Name.Text);
  if (R.IsValid) {
    A.Base = R;
    if (R.Size != 4 && R.Size != 8)
      fail(fmt::format("{} is not an address", Name.Text));
    // An address of 32 bits wraps: nvcc relies on that ([%r1+96] with -96 in
    // %r1). In the other spaces, the register is extended first.
    if (R.Size == 4 &&
        (Space == StateSpace::Shared || Space == StateSpace::Local ||
         Space == StateSpace::Const)) {
      A.Base = added(R, A.Offset);
      A.Offset = 0;
    }
    return A;
  }
  A.Base = symbolAddress(Name.Text, 0, 8);
  return A;
}

std::optional<uint64_t> Decoder::integer(const Operand &O) const {
  if (O.What != Operand::Kind::Integer)
    return std::nullopt;
  return O.Bits;
}

const Slot *Decoder::parameter(std::string_view Name) const {
  return Known->find(&Names::Params, Name);
}
