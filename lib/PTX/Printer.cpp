// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AST -> PTX text.

#include "PTX/Printer.h"

#include <charconv>
#include <map>
#include <tuple>

namespace crsan::ptx {

namespace {

class Printer {
public:
  explicit Printer(const Module *M) : M(M) {}

  void module();
  void block(const Block &B, unsigned Depth);
  void instruction(const Instruction &I);
  void operand(const Operand &Op);
  void function(const Function &F);

  std::string Out;

private:
  /// Appends all parts: text, characters and unsigned numbers.
  template <typename... Parts> void put(Parts... All) { (add(All), ...); }
  void add(std::string_view Part) { Out += Part; }
  void add(char Part) { Out += Part; }
  void add(std::unsigned_integral auto Part) { number(Part); }

  template <typename T> void number(T Value);
  void hex(uint64_t Value, unsigned Digits);
  void offset(uint64_t Value);
  void word(std::string_view Name); ///< A dotted one, if it is not empty.
  void list(const std::vector<Operand> &Ops);
  void variable(const Variable &V);
  void statement(const Statement &S, unsigned Depth);
  void directive(const Directive &D);
  void parameters(const std::vector<Variable> &Parameters);
  void location(int32_t Index);
  void indent(unsigned Depth) { Out.append(Depth, '\t'); }

  const Module *M; ///< Null: no lines.
  int32_t Where = -1;
  /// The latest `.loc` printed in this function, as the parser looks for it.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, int32_t> Latest;
};

template <typename T> void Printer::number(T Value) {
  char Digits[24];
  Out.append(Digits, std::to_chars(Digits, std::end(Digits), Value).ptr);
}

void Printer::hex(uint64_t Value, unsigned Digits) {
  while (Digits--)
    Out += "0123456789ABCDEF"[Value >> 4 * Digits & 15];
}

/// ptxas reads [r+-4], not [r-4].
void Printer::offset(uint64_t Value) {
  if (Value == 0)
    return;
  Out += '+';
  number(static_cast<int64_t>(Value));
}

void Printer::word(std::string_view Name) {
  if (!Name.empty())
    put('.', Name, ' ');
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void Printer::list(const std::vector<Operand> &Ops) {
  bool IsFirst = true;
  for (const Operand &Op : Ops) {
    if (!IsFirst)
      Out += ", ";
    IsFirst = false;
    operand(Op);
  }
}

void Printer::operand(const Operand &Op) {
  auto Enclosed = [&](char Open, char Close) {
    Out += Open;
    list(Op.Elements);
    Out += Close;
  };
  auto Name = [&] {
    if (Op.IsNegated)
      Out += Op.Member == '-' ? '-' : '!';
    Out += Op.Text;
    if (Op.Member && Op.Member != '-')
      put('.', Op.Member);
  };
  switch (Op.What) {
  case Operand::Kind::Name:
    return Name();
  case Operand::Kind::Integer:
    return number(static_cast<int64_t>(Op.Bits));
  case Operand::Kind::Float:
    Out += Op.IsDouble ? "0d" : "0f";
    return hex(Op.Bits, Op.IsDouble ? 16 : 8);
  case Operand::Kind::Address:
    Out += '[';
    for (size_t I = 0; I < Op.Elements.size(); ++I) {
      if (I)
        Out += ", ";
      operand(Op.Elements[I]);
      if (I == 0)
        offset(Op.Bits);
    }
    Out += ']';
    return;
  case Operand::Kind::Vector:
    return Enclosed('{', '}');
  case Operand::Kind::List:
    return Enclosed('(', ')');
  case Operand::Kind::Pair:
    operand(Op.Elements[0]);
    Out += '|';
    return operand(Op.Elements[1]);
  case Operand::Kind::Sum:
    if (!Op.Elements.empty()) {
      operand(Op.Elements[0]);
      Out += '+';
      return operand(Op.Elements[1]);
    }
    Name();
    return offset(Op.Bits);
  case Operand::Kind::Discard:
    Out += '_';
    return;
  case Operand::Kind::Symbols:
    Out += "generic";
    Enclosed('(', ')');
    return offset(Op.Bits);
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Printer::instruction(const Instruction &I) {
  if (I.If) {
    Out += I.If->IsNegated ? "@!" : "@";
    put(I.If->Register, ' ');
  }
  Out += I.Opcode;
  for (std::string_view Modifier : I.Modifiers)
    put('.', Modifier);
  if (!I.Operands.empty())
    Out += ' ';
  list(I.Operands);
  Out += ';';
}

/// Without the final ';', which a parameter has not.
void Printer::variable(const Variable &V) {
  word(name(V.Link));
  word(name(V.Space));
  if (!V.Attributes.empty()) {
    Out += ".attribute(";
    for (size_t I = 0; I < V.Attributes.size(); ++I) {
      Out += I ? ", ." : ".";
      Out += V.Attributes[I];
    }
    Out += ") ";
  }
  if (V.Align)
    put(".align ", V.Align, ' ');
  if (V.VectorLength > 1)
    put(".v", V.VectorLength, ' ');
  word(name(V.Type));
  if (V.IsPointer) {
    Out += ".ptr ";
    word(name(V.PointerSpace));
    if (V.PointerAlign)
      put(".align ", V.PointerAlign, ' ');
  }
  Out += V.Name;
  if (V.Count)
    put('<', V.Count, '>');
  for (uint64_t Extent : V.Extents) {
    Out += '[';
    if (Extent)
      number(Extent);
    Out += ']';
  }
  if (V.Initialiser.empty())
    return;
  const bool IsList = !V.Extents.empty() || V.VectorLength > 1;
  Out += IsList ? " = {" : " = ";
  list(V.Initialiser);
  if (IsList)
    Out += '}';
}

void Printer::directive(const Directive &D) {
  if (!D.Label.empty())
    put(D.Label, ": ");
  Out += D.Text;
}

/// Line `Index`, after the lines that it refers to.
void Printer::location(int32_t Index) {
  const Location &L = M->Locations[Index];
  const Location *Outer = nullptr;
  if (L.InlinedAt >= 0) {
    Outer = &M->Locations[L.InlinedAt];
    auto It = Latest.find({Outer->File, Outer->Line, Outer->Column});
    if (It == Latest.end() || It->second != L.InlinedAt)
      location(L.InlinedAt);
  }
  Latest[{L.File, L.Line, L.Column}] = Index;
  auto Line = [&](const Location &At) {
    put(At.File, ' ', At.Line, ' ', At.Column);
  };
  Out += "\t.loc ";
  Line(L);
  if (!L.Function.empty())
    put(", function_name ", L.Function);
  if (Outer) {
    Out += ", inlined_at ";
    Line(*Outer);
  }
  if (!L.Comment.empty())
    put(" // ", L.Comment);
  Out += '\n';
}

void Printer::statement(const Statement &S, unsigned Depth) {
  if (const auto *I = std::get_if<Instruction>(&S)) {
    if (M && I->Where >= 0 && I->Where != Where) {
      location(I->Where);
      Where = I->Where;
    }
    indent(Depth);
    instruction(*I);
  } else if (const auto *V = std::get_if<Variable>(&S)) {
    indent(Depth);
    variable(*V);
    Out += ';';
  } else if (const auto *L = std::get_if<Label>(&S)) {
    put(L->Name, ':');
  } else if (const auto *D = std::get_if<Directive>(&S)) {
    indent(Depth);
    directive(*D);
    Out += ';';
  } else {
    indent(Depth);
    Out += "{\n";
    block(*std::get<std::unique_ptr<Block>>(S), Depth + 1);
    indent(Depth);
    Out += '}';
  }
  Out += '\n';
}

void Printer::block(const Block &B, unsigned Depth) {
  for (const Statement &S : B.Statements)
    statement(S, Depth);
}

//===----------------------------------------------------------------------===//
// File scope
//===----------------------------------------------------------------------===//

void Printer::parameters(const std::vector<Variable> &Parameters) {
  Out += '(';
  for (size_t I = 0; I < Parameters.size(); ++I) {
    Out += I ? ",\n\t" : "\n\t";
    variable(Parameters[I]);
  }
  Out += Parameters.empty() ? ")" : "\n)";
}

void Printer::function(const Function &F) {
  word(name(F.Link));
  Out += F.IsKernel ? ".entry " : ".func ";
  for (const Directive &D : F.Directives)
    if (D.Name == ".attribute") {
      directive(D);
      Out += ' ';
    }
  if (!F.Results.empty()) {
    parameters(F.Results);
    Out += ' ';
  }
  Out += F.Name;
  if (!F.IsKernel || !F.Parameters.empty())
    parameters(F.Parameters);
  for (const Directive &D : F.Directives)
    if (D.Name != ".attribute") {
      Out += '\n';
      directive(D);
      if (D.Name == ".pragma" && F.Body)
        Out += ';';
    }
  if (!F.Body) {
    Out += ";\n";
    return;
  }
  Where = -1;
  Latest.clear();
  Out += "\n{\n";
  block(*F.Body, 1);
  Out += "}\n";
}

void Printer::module() {
  put(".version ", M->VersionMajor, '.', M->VersionMinor, "\n.target ");
  for (size_t I = 0; I < M->Targets.size(); ++I) {
    Out += I ? ", " : "";
    Out += M->Targets[I];
  }
  put("\n.address_size ", M->AddressSize, '\n');
  for (const Module::File &F : M->Files)
    put(".file ", F.Number, " \"", F.Name, "\"\n");
  for (const auto &Item : M->Items) {
    Out += '\n';
    if (const auto *F = std::get_if<Function>(&Item))
      function(*F);
    else if (const auto *V = std::get_if<Variable>(&Item)) {
      variable(*V);
      Out += ";\n";
    } else {
      directive(std::get<Directive>(Item));
      Out += ";\n";
    }
  }
  for (std::string_view Section : M->Sections)
    put(Section, '\n');
}

} // namespace

std::string print(const Module &M) {
  Printer P(&M);
  P.Out.reserve(M.Text ? M.Text->size() : 0);
  P.module();
  return std::move(P.Out);
}

std::string print(const Function &F) {
  Printer P(nullptr);
  P.function(F);
  return std::move(P.Out);
}

std::string print(const Block &B) {
  Printer P(nullptr);
  P.block(B, 1);
  return std::move(P.Out);
}

std::string print(const Instruction &I) {
  Printer P(nullptr);
  P.instruction(I);
  return std::move(P.Out);
}

std::string print(const Operand &Op) {
  Printer P(nullptr);
  P.operand(Op);
  return std::move(P.Out);
}

} // namespace crsan::ptx
