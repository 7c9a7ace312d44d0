// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX -> decoded code, one function at a time.
#include "Decoder.h"

#include "Execution.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ptx = crsan::ptx;
using namespace crsan::sim;
using crsan::ptx::Operand;
using crsan::ptx::ScalarType;
using crsan::ptx::StateSpace;

static std::string textOf(const ptx::Instruction &I) {
  return I.Modifiers.empty()
             ? std::string(I.Opcode)
             : fmt::format("{}.{}", I.Opcode, fmt::join(I.Modifiers, "."));
}

//===----------------------------------------------------------------------===//
// Instructions that are not known
//===----------------------------------------------------------------------===//

/// I.Aux is its text, in the image.
static Outcome unknown(Execution &X, const Instruction &I) {
  return X.fault(I, std::countr_zero(X.Mask), Fault::Kind::UnknownInstruction,
                 *reinterpret_cast<const std::string *>(I.Aux));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void Decoder::run() {
  Known = &AllNames.emplace_back();
  declareParameters();
  decodeBlock(*Fn.Tree->Body);
  // The end of a function returns.
  I = nullptr;
  Instruction &End = emit(returnFromFunction);
  End.NeedsWholeFragment = true;
  End.Flows = Instruction::Flow::Return;
  resolveLabels();
  Fn.LocalBytes = (Fn.LocalBytes + 15) / 16 * 16;
  findReconvergence(Fn);
}

void Decoder::declareParameters() {
  const ptx::Function &Tree = *Fn.Tree;
  if (!Fn.IsKernel) {
    for (const ptx::Variable &V : Tree.Parameters) {
      Fn.Parameters.push_back(newSlot(V, Tree.Body.get()));
      Known->Params[V.Name] = Fn.Parameters.back();
    }
    for (const ptx::Variable &V : Tree.Results) {
      Fn.Results.push_back(newSlot(V, Tree.Body.get()));
      Known->Params[V.Name] = Fn.Results.back();
    }
    return;
  }
  uint64_t Offset = 0;
  for (const ptx::Variable &V : Tree.Parameters) {
    uint64_t Align =
        std::max<uint64_t>(V.Align, ptx::sizeOf(V.Type) * V.VectorLength);
    Offset = (Offset + Align - 1) / Align * Align;
    Slot S;
    S.IsKernelParam = true;
    S.Offset = uint32_t(Offset);
    S.Size = uint32_t(V.size());
    Known->Params[V.Name] = S;
    Fn.Parameters.push_back(S);
    Offset += V.size();
  }
}

/// Is the parameter only loaded and stored, whole?
static bool isPlain(const ptx::Block &B, const ptx::Variable &V) {
  auto Mentions = [&](const Operand &O, auto &Self) -> bool {
    return O.Text == V.Name ||
           std::any_of(O.Elements.begin(), O.Elements.end(),
                       [&](const Operand &E) { return Self(E, Self); });
  };
  for (const ptx::Statement &S : B.Statements) {
    if (auto *Inner = std::get_if<std::unique_ptr<ptx::Block>>(&S)) {
      if (!isPlain(**Inner, V))
        return false;
      continue;
    }
    auto *I = std::get_if<ptx::Instruction>(&S);
    if (!I || I->Opcode == "call")
      continue;
    for (const Operand &O : I->Operands)
      if (Mentions(O, Mentions) &&
          !((I->Opcode == "ld" || I->Opcode == "st") &&
            O.What == Operand::Kind::Address && O.Bits == 0 && !I->has("v2") &&
            !I->has("v4") && ptx::sizeOf(I->type()) == V.size()))
        return false;
  }
  return true;
}

static uint32_t alignmentOf(const ptx::Variable &V) {
  return std::max<uint32_t>(V.Align, ptx::sizeOf(V.Type));
}

Slot Decoder::newSlot(const ptx::Variable &V, const ptx::Block *Uses) {
  Slot S;
  S.Size = uint32_t(V.size());
  bool IsScalar = V.Extents.empty() && V.VectorLength == 1 && S.Size <= 8;
  S.IsRow =
      V.Space == StateSpace::Reg || (IsScalar && (!Uses || isPlain(*Uses, V)));
  if (V.Space == StateSpace::Reg) {
    S.Row = Frame.newRow(V.Type == ScalarType::Pred ? 0 : S.Size);
    Known->Registers[V.Name] = S.Row;
  } else if (S.IsRow) {
    S.Row = Frame.newRow(S.Size);
  } else {
    S.Offset = Frame.newLocal(S.Size, alignmentOf(V));
  }
  return S;
}

void Decoder::declare(const ptx::Variable &V, const ptx::Block &In) {
  switch (V.Space) {
  case StateSpace::Reg: {
    unsigned Size = V.Type == ScalarType::Pred ? 0 : ptx::sizeOf(V.Type);
    if (V.Count) {
      Known->Families[V.Name] = {Frame.newFamily(Size, V.Count), V.Count};
      return;
    }
    for (unsigned E = 0; E < V.VectorLength; ++E) {
      Ref R = Frame.newRow(Size);
      if (V.VectorLength == 1)
        Known->Registers[V.Name] = R;
      else
        Known->Registers[Env.In.Texts.emplace_back(
            fmt::format("{}.{}", V.Name, "xyzw"[E]))] = R;
    }
    return;
  }
  case StateSpace::Param:
    Known->Params[V.Name] = newSlot(V, &In);
    return;
  case StateSpace::Local:
    Known->Locals[V.Name] = Frame.newLocal(V.size(), alignmentOf(V));
    return;
  case StateSpace::Shared: {
    SharedVariable Var;
    Var.Name = V.Name;
    Var.Size = V.size();
    Var.Align = alignmentOf(V);
    Known->Shared[V.Name] = uint32_t(Env.In.SharedVariables.size());
    Env.In.SharedVariables.push_back(std::move(Var));
    return;
  }
  default:
    Known->Globals[V.Name] = Env.Allocate(V);
  }
}

void Decoder::decodeBlock(const ptx::Block &B) {
  Names *const Outer = Known;
  Names &Mine = AllNames.emplace_back();
  Mine.Parent = Outer;
  Known = &Mine;
  // Directives with labels may follow what names them.
  for (const ptx::Statement &S : B.Statements)
    if (auto *D = std::get_if<ptx::Directive>(&S); D && !D->Label.empty())
      Mine.Directives[D->Label] = D;
  for (const ptx::Statement &S : B.Statements) {
    if (auto *V = std::get_if<ptx::Variable>(&S))
      declare(*V, B);
    else if (auto *L = std::get_if<ptx::Label>(&S))
      Mine.Labels[L->Name] = here();
    else if (auto *In = std::get_if<ptx::Instruction>(&S))
      decode(*In);
    else if (auto *D = std::get_if<ptx::Directive>(&S))
      UsedBytes &= ptx::usedBytes(*D);
    else if (auto *Inner = std::get_if<std::unique_ptr<ptx::Block>>(&S))
      decodeBlock(**Inner);
  }
  Known = Outer;
}

void Decoder::resolveLabels() {
  for (const Fixup &F : Fixups) {
    const uint32_t *To = F.In->find(&Names::Labels, F.Label);
    if (!To)
      Fn.Error = fmt::format("label {} is not defined", F.Label);
    else if (F.Into)
      F.Into->push_back(*To);
    else
      Fn.Code[F.At].Target = *To;
  }
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

bool Decoder::tryDecode(DecodeFunction F) {
  size_t Before = Fn.Code.size();
  Taken.assign(I->Modifiers.size(), false);
  IsBad = false;
  if (!F(*this)) {
    Fn.Code.resize(Before);
    return false;
  }
  for (size_t N = 0; !IsBad && N < Taken.size(); ++N)
    if (!Taken[N])
      fail(fmt::format("the modifier .{} is not known here", I->Modifiers[N]));
  if (IsBad) {
    Fn.Code.resize(Before);
    refuse(Why);
  }
  return true;
}

void Decoder::decode(const ptx::Instruction &In) {
  I = &In;
  const std::vector<DecodeFunction> *Functions =
      DecodeTable::get().find(In.Opcode);
  Why.clear();
  if (Functions)
    for (DecodeFunction F : *Functions)
      if (tryDecode(F)) {
        UsedBytes = ptx::AllBytes;
        return;
      }
  IsBad = false;
  refuse(!Why.empty() ? Why
         : Functions  ? "no such form of the instruction is known"
                      : "the instruction is not known");
}

void Decoder::refuse(std::string Reason) {
  Instruction &Bad = emit(unknown);
  std::string &Text = Env.In.Texts.emplace_back(fmt::format(
      "{}: {} (line {} of the PTX)", textOf(*I), Reason, I->Pos.Line));
  Bad.Aux = reinterpret_cast<uint64_t>(&Text);
  Bad.Flows = Instruction::Flow::Exit;
}

bool Decoder::fail(std::string Reason) {
  if (!IsBad)
    Why = std::move(Reason);
  IsBad = true;
  return true;
}

Instruction &Decoder::emit(Handler H, std::initializer_list<Ref> Ops) {
  Instruction New;
  New.Run = H;
  std::copy(Ops.begin(), Ops.end(), New.Op.begin());
  if (I && I->If) {
    Ref G = Known->findRegister(I->If->Register);
    if (!G.IsValid || G.Size != 0)
      fail(fmt::format("{} is not a predicate", I->If->Register));
    New.HasGuard = true;
    New.Guard = G;
    New.GuardIsNegated = I->If->IsNegated;
  }
  New.IsHidden = Fn.IsHidden;
  New.Id = Env.NewId(Fn.Tree, I ? I->Where : -1);
  return Fn.Code.emplace_back(std::move(New));
}

void Decoder::setMore(Instruction &To, std::vector<Ref> Elements) {
  const std::vector<Ref> &Kept = Env.In.Refs.emplace_back(std::move(Elements));
  To.More = Kept.data();
  To.NumMore = uint8_t(Kept.size());
}

void Decoder::branchTo(std::string_view Label) {
  Fixups.push_back({here() - 1, Label, Known, nullptr});
}

void Decoder::branchToOneOf(const std::vector<std::string_view> &Labels) {
  std::vector<uint32_t> &Into = Env.In.Targets.emplace_back();
  Into.reserve(Labels.size());
  Fn.Code.back().Targets = &Into;
  for (std::string_view Label : Labels)
    Fixups.push_back({here() - 1, Label, Known, &Into});
}

const ptx::Directive *Decoder::directive(std::string_view Label) const {
  auto *D = Known->find(&Names::Directives, Label);
  return D ? *D : nullptr;
}

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

bool Decoder::has(std::string_view Modifier) const {
  return std::find(I->Modifiers.begin(), I->Modifiers.end(), Modifier) !=
         I->Modifiers.end();
}

bool Decoder::take(std::string_view Modifier) {
  for (size_t N = 0; N < I->Modifiers.size(); ++N)
    if (!Taken[N] && I->Modifiers[N] == Modifier)
      return Taken[N] = true;
  return false;
}

std::string_view
Decoder::takeOneOf(std::initializer_list<std::string_view> Modifiers) {
  for (std::string_view M : Modifiers)
    if (take(M))
      return M;
  return {};
}

std::string_view Decoder::takePrefixed(std::string_view Prefix) {
  for (size_t N = 0; N < I->Modifiers.size(); ++N)
    if (!Taken[N] && I->Modifiers[N].substr(0, Prefix.size()) == Prefix) {
      Taken[N] = true;
      return I->Modifiers[N];
    }
  return {};
}

ScalarType Decoder::takeType() {
  for (size_t N = 0; N < I->Modifiers.size(); ++N)
    if (!Taken[N])
      if (auto T = ptx::parseScalarType(I->Modifiers[N])) {
        Taken[N] = true;
        return *T;
      }
  return ScalarType::None;
}

StateSpace Decoder::takeSpace() {
  if (take("global"))
    return StateSpace::Global;
  if (take("shared") || take("shared::cta") || take("shared::cluster"))
    return StateSpace::Shared;
  if (take("const"))
    return StateSpace::Const;
  if (take("local"))
    return StateSpace::Local;
  if (take("param") || take("param::entry") || take("param::func"))
    return StateSpace::Param;
  return StateSpace::Generic;
}

Scope Decoder::takeScope(Scope Default) {
  if (take("cta"))
    return Scope::Block;
  if (take("cluster"))
    return Scope::Cluster;
  if (take("gpu"))
    return Scope::Device;
  if (take("sys"))
    return Scope::System;
  return Default;
}
