// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A PTX tree as text, for comparison.
//
// Every field of a tree but positions, with no regard to PTX's syntax: two
// trees are equal if their dumps are.
#ifndef CRSAN_UNITTESTS_PTX_DUMP_H
#define CRSAN_UNITTESTS_PTX_DUMP_H

#include "PTX/AST.h"

#include <sstream>

namespace crsan::ptx {

class Dump {
public:
  explicit Dump(const Module *M = nullptr) : M(M) {}

  std::string module() {
    Out << M->VersionMajor << '.' << M->VersionMinor << ' ' << M->AddressSize;
    for (std::string_view Target : M->Targets)
      Out << ' ' << Target;
    for (const Module::File &F : M->Files)
      Out << "\nfile " << F.Number << ' ' << F.Name;
    for (const auto &Item : M->Items)
      std::visit([this](const auto &I) { add(I); }, Item);
    for (std::string_view Section : M->Sections)
      Out << '\n' << Section;
    return Out.str();
  }

  std::string block(const Block &B) {
    add(B);
    return Out.str();
  }

private:
  void add(const Operand &Op) {
    Out << " (" << int(Op.What) << Op.IsNegated << Op.IsDouble << int(Op.Member)
        << ' ' << Op.Text << ' ' << Op.Bits;
    for (const Operand &Element : Op.Elements)
      add(Element);
    Out << ')';
  }

  void add(const Instruction &I) {
    Out << "\ninstruction ";
    if (I.If)
      Out << I.If->IsNegated << I.If->Register << ' ';
    Out << I.Opcode;
    for (std::string_view Modifier : I.Modifiers)
      Out << " ." << Modifier;
    for (const Operand &Op : I.Operands)
      add(Op);
    if (M)
      addLocation(I.Where);
  }

  void addLocation(int32_t Where) {
    for (; Where >= 0; Where = M->Locations[Where].InlinedAt) {
      const Location &L = M->Locations[Where];
      Out << " @" << L.File << ':' << L.Line << ':' << L.Column << ' '
          << L.Function << ' ' << L.Comment;
    }
  }

  void add(const Variable &V) {
    Out << "\nvariable " << int(V.Space) << ' ' << int(V.Link) << ' '
        << int(V.Type) << ' ' << int(V.VectorLength) << ' ' << V.Align << ' '
        << V.Name << ' ' << V.Count << ' ' << V.IsPointer << int(V.PointerSpace)
        << ' ' << V.PointerAlign;
    for (uint64_t Extent : V.Extents)
      Out << " [" << Extent;
    for (const Operand &Op : V.Initialiser)
      add(Op);
    for (std::string_view Attribute : V.Attributes)
      Out << ' ' << Attribute;
  }

  void add(const Label &L) { Out << "\nlabel " << L.Name; }

  void add(const Directive &D) {
    Out << "\ndirective " << D.Name << ' ' << D.Label << ' ' << D.Text;
    for (const Operand &Op : D.Operands)
      add(Op);
  }

  void add(const std::unique_ptr<Block> &B) { add(*B); }

  void add(const Block &B) {
    Out << "\n{";
    for (const Statement &S : B.Statements)
      std::visit([this](const auto &X) { add(X); }, S);
    Out << "\n}";
  }

  void add(const Function &F) {
    Out << "\nfunction " << F.IsKernel << int(F.Link) << ' ' << F.Name;
    for (const Variable &V : F.Results)
      add(V);
    Out << "\nparameters";
    for (const Variable &V : F.Parameters)
      add(V);
    for (const Directive &D : F.Directives)
      add(D);
    if (F.Body)
      add(*F.Body);
  }

  const Module *M;
  std::ostringstream Out;
};

} // namespace crsan::ptx

#endif // CRSAN_UNITTESTS_PTX_DUMP_H
