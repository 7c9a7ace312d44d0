// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX tokens -> variables and statements.

#include "PTX/StatementParser.h"

namespace crsan::ptx {

using TK = Token::Kind;

StateSpace StatementParser::spaceHere() const {
  return Tok.is(TK::Dotted) ? parseStateSpace(Tok.Text.substr(1))
                            : StateSpace::None;
}

std::optional<Variable::Linkage> StatementParser::linkageHere() const {
  return Tok.is(TK::Dotted) ? parseLinkage(Tok.Text.substr(1)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// `.attribute(.managed, .unified(1, 2))`: kept without the leading dots.
bool StatementParser::parseAttributes(Variable &V) {
  advance();
  if (!expect('(', "'.attribute'"))
    return false;
  do {
    if (!Tok.is(TK::Dotted))
      return expected("an attribute");
    const char *Begin = Tok.begin() + 1;
    advance();
    if (accept('(')) {
      while (!Tok.is(')') && !Tok.is(TK::End))
        advance();
      if (!expect(')', "the attribute's arguments"))
        return false;
    }
    V.Attributes.push_back(textFrom(Begin));
  } while (accept(','));
  return expect(')', "the attributes");
}

bool StatementParser::parseVariablePrefix(Variable &V) {
  for (; Tok.is(TK::Dotted);) {
    const std::string_view Word = Tok.Text;
    if (Word == ".attribute") {
      if (!parseAttributes(V))
        return false;
      continue;
    }
    if (Word == ".align") {
      advance();
      if (!parseNumber(V.IsPointer ? V.PointerAlign : V.Align, "an alignment"))
        return false;
      continue;
    }
    if (StateSpace Space = spaceHere(); Space != StateSpace::None)
      (V.IsPointer ? V.PointerSpace : V.Space) = Space;
    else if (std::optional<Variable::Linkage> Link = linkageHere())
      V.Link = *Link;
    else if (std::optional<ScalarType> Type = parseScalarType(Word.substr(1)))
      V.Type = *Type;
    else if (Word == ".ptr")
      V.IsPointer = true;
    else if (Word == ".v2" || Word == ".v4" || Word == ".v8")
      V.VectorLength = static_cast<uint8_t>(Word[2] - '0');
    else
      return expected("a state space, a type, or a variable's name");
    advance();
  }
  if (V.Space == StateSpace::None)
    return expected("a state space");
  if (V.Type == ScalarType::None)
    return expected("a type");
  return true;
}

bool StatementParser::parseDeclarator(Variable &V) {
  V.Pos = Tok.Pos;
  if (!parseName(V.Name, "a variable's name"))
    return false;
  if (accept('<'))
    return parseNumber(V.Count, "a number of registers") &&
           expect('>', "the number of registers");
  while (accept('[')) {
    uint64_t Extent = 0;
    if (!Tok.is(']') && !parseConstant(Extent))
      return false;
    V.Extents.push_back(Extent);
    if (!expect(']', "an array's extent"))
      return false;
  }
  if (!accept('='))
    return true;
  Operand Value;
  if (!parseInitialiser(Value))
    return false;
  if (Value.What == Operand::Kind::Vector)
    V.Initialiser = std::move(Value.Elements);
  else
    V.Initialiser.push_back(std::move(Value));
  return true;
}

bool StatementParser::parseVariables(
    Variable::Linkage Link, const std::function<void(Variable)> &Each) {
  Variable Common;
  Common.Link = Link;
  if (!parseVariablePrefix(Common))
    return false;
  do {
    Variable V = Common;
    if (!parseDeclarator(V))
      return false;
    Each(std::move(V));
  } while (accept(','));
  return endStatement("a variable", /*Quote=*/"");
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// What a comment behind `.loc` says, if it says where code was inlined.
static std::string_view inliningComment(std::string_view Rest) {
  const size_t At = Rest.find("//");
  if (At == Rest.npos || Rest.find(" @[ ", At) == Rest.npos)
    return {};
  Rest.remove_prefix(At + 2);
  const size_t First = Rest.find_first_not_of(" \t");
  const size_t Last = Rest.find_last_not_of(" \t\r");
  return Rest.substr(First, Last + 1 - First);
}

/// Inline assembly may leave out the last ';'.
bool StatementParser::isAtEnd() const {
  return Tok.is(';') || (!M && (Tok.is(TK::End) || Tok.is('}')));
}

bool StatementParser::endStatement(std::string_view After,
                                   std::string_view Quote) {
  if (!isAtEnd())
    return expect(';', std::string(Quote).append(After).append(Quote));
  accept(';');
  return true;
}

/// `.loc file line column[, function_name label[+n], inlined_at f l c]`
bool StatementParser::parseLocation() {
  advance();
  Location L;
  if (!parseNumber(L.File, "a file's number") ||
      !parseNumber(L.Line, "a line") || !parseNumber(L.Column, "a column"))
    return false;
  while (accept(',')) {
    if (Tok.Text == "function_name") {
      advance();
      const char *Begin = Tok.begin();
      while (!Tok.is(',') && !Tok.is(';') && !Tok.is(TK::End))
        advance();
      L.Function = textFrom(Begin);
    } else if (Tok.Text == "inlined_at") {
      advance();
      Key At{};
      if (!parseNumber(At.File, "a file's number") ||
          !parseNumber(At.Line, "a line") ||
          !parseNumber(At.Column, "a column"))
        return false;
      auto [It, IsNew] = Latest.try_emplace(At, M->Locations.size());
      if (IsNew)
        M->Locations.push_back({At.File, At.Line, At.Column, {}, -1, {}});
      L.InlinedAt = It->second;
    } else
      return expected("'function_name' or 'inlined_at'");
  }
  if (L.InlinedAt < 0)
    L.Comment = inliningComment(restOfLine());
  Where = static_cast<int32_t>(M->Locations.size());
  Latest[{L.File, L.Line, L.Column}] = Where;
  M->Locations.push_back(L);
  return true;
}

bool StatementParser::parseDirective(Directive &D) {
  const char *Begin = Tok.begin();
  D.Name = Tok.Text;
  advance();
  if (D.Name == ".callprototype" || D.Name == ".attribute") {
    // Declarations of nameless variables: of use to ptxas only.
    int Depth = 0;
    while (!Tok.is(TK::End) && !Tok.is(';')) {
      Depth += Tok.is('(') - Tok.is(')');
      const bool IsLast = Tok.is(')') && Depth == 0;
      advance();
      if (IsLast && D.Name == ".attribute")
        break;
    }
  } else
    while (!Tok.is(';') && !Tok.is('{') && !Tok.is(TK::Dotted) &&
           !Tok.is(TK::End)) {
      Operand &Op = D.Operands.emplace_back();
      if (Tok.is(TK::String)) {
        Op.What = Operand::Kind::Name;
        Op.Text = Tok.Text;
        advance();
      } else if (!parseOperand(Op))
        return false;
      if (!accept(','))
        break;
    }
  D.Text = textFrom(Begin);
  return true;
}

bool StatementParser::parseInstruction(Block &B) {
  Instruction &I =
      std::get<Instruction>(B.Statements.emplace_back(Instruction()));
  I.Pos = Tok.Pos;
  I.Where = Where;
  if (accept('@')) {
    I.If.emplace();
    I.If->IsNegated = accept('!');
    if (!parseName(I.If->Register, "a predicate after '@'"))
      return false;
  }
  if (!parseName(I.Opcode, "an instruction"))
    return false;
  for (; Tok.is(TK::Dotted); advance())
    I.Modifiers.push_back(Tok.Text.substr(1));
  if (!isAtEnd())
    do {
      if (!parseOperand(I.Operands.emplace_back()))
        return false;
    } while (accept(','));
  return endStatement(I.Opcode);
}

bool StatementParser::parseStatement(Block &B) {
  if (accept(';'))
    return true;
  if (Tok.is('{')) {
    advance();
    auto Inner = std::make_unique<Block>();
    if (!parseBlock(*Inner, /*IsWhole=*/false))
      return false;
    B.Statements.push_back(std::move(Inner));
    return true;
  }
  if (Tok.is(TK::Dotted)) {
    if (M && Tok.Text == ".loc")
      return parseLocation();
    if (M && Tok.Text == ".file")
      return parseFile();
    if (spaceHere() != StateSpace::None || linkageHere())
      return parseVariables(Variable::Linkage::Internal, [&](Variable V) {
        B.Statements.push_back(std::move(V));
      });
    Directive D;
    if (!parseDirective(D) || !endStatement(D.Name))
      return false;
    B.Statements.push_back(std::move(D));
    return true;
  }
  if (!Tok.is(TK::Name) || !Next.is(':'))
    return parseInstruction(B);
  const std::string_view Name = Tok.Text;
  advance();
  advance();
  if (!Tok.isDotted(".callprototype") && !Tok.isDotted(".branchtargets") &&
      !Tok.isDotted(".calltargets")) {
    B.Statements.push_back(Label{Name});
    return true;
  }
  Directive D;
  D.Label = Name;
  if (!parseDirective(D) || !endStatement(D.Name))
    return false;
  B.Statements.push_back(std::move(D));
  return true;
}

bool StatementParser::parseFile() {
  advance();
  Module::File F;
  if (!parseNumber(F.Number, "a file's number"))
    return false;
  if (!Tok.is(TK::String))
    return expected("a file's name in quotes");
  F.Name = Tok.Text.substr(1, Tok.Text.size() - 2);
  advance();
  while (accept(',')) {
    uint32_t Ignored = 0;
    if (!parseNumber(Ignored, "a time or a size"))
      return false;
  }
  M->Files.push_back(F);
  return true;
}

bool StatementParser::parseBlock(Block &B, bool IsWhole) {
  for (;;) {
    if (IsWhole ? Tok.is(TK::End) : accept('}'))
      return true;
    if (Tok.is(TK::End) || Tok.is('}'))
      return expected(IsWhole ? "a statement" : "a statement or '}'");
    if (!parseStatement(B))
      return false;
  }
}

bool StatementParser::parseBody(Block &B) {
  Where = -1;
  Latest.clear();
  return parseBlock(B, /*IsWhole=*/false);
}

} // namespace crsan::ptx
