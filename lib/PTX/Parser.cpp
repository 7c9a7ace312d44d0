//===- Parser.cpp - PTX text -> AST ---------------------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTX/Parser.h"
#include "PTX/TokenStream.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace crsan::ptx {

namespace {

using TK = Token::Kind;

StateSpace stateSpace(std::string_view Dotted) {
  if (Dotted == ".reg")
    return StateSpace::Reg;
  if (Dotted == ".sreg")
    return StateSpace::SReg;
  if (Dotted == ".const")
    return StateSpace::Const;
  if (Dotted == ".global")
    return StateSpace::Global;
  if (Dotted == ".local")
    return StateSpace::Local;
  if (Dotted == ".param")
    return StateSpace::Param;
  if (Dotted == ".shared")
    return StateSpace::Shared;
  return StateSpace::None;
}

std::optional<Variable::Linkage> linkage(std::string_view Dotted) {
  if (Dotted == ".extern")
    return Variable::Linkage::Extern;
  if (Dotted == ".visible")
    return Variable::Linkage::Visible;
  if (Dotted == ".weak")
    return Variable::Linkage::Weak;
  if (Dotted == ".common")
    return Variable::Linkage::Common;
  return std::nullopt;
}

/// What a comment behind `.loc` says, if it says where code was inlined.
std::string_view inliningComment(std::string_view Rest) {
  const size_t At = Rest.find("//");
  if (At == Rest.npos || Rest.find(" @[ ", At) == Rest.npos)
    return {};
  Rest.remove_prefix(At + 2);
  const size_t First = Rest.find_first_not_of(" \t");
  const size_t Last = Rest.find_last_not_of(" \t\r");
  return Rest.substr(First, Last + 1 - First);
}

class Parser : TokenStream {
public:
  Parser(std::string_view Text, bool IsInline) : TokenStream(Text, IsInline) {}

  bool parseModule(Module &M);
  bool parseInline(Block &Body);
  using TokenStream::takeError;

private:
  // File scope.
  bool parseItem();
  bool parseVersion();
  bool parseTarget();
  bool parseFile();
  bool parseSection();
  bool parseFunction(Variable::Linkage Link);
  bool parseSignature(Function &F);
  bool parseParameters(std::vector<Variable> &Parameters);

  // Variables.
  bool parseVariablePrefix(Variable &V);
  bool parseAttributes(Variable &V);
  bool parseDeclarator(Variable &V);
  template <typename Add> bool parseVariables(Variable::Linkage Link, Add Each);

  // Statements.
  bool parseBlock(Block &B, bool IsWhole);
  bool parseStatement(Block &B);
  bool parseInstruction(Block &B);
  bool parseLocation();
  bool parseDirective(Directive &D);
  bool endStatement(std::string_view After);

  Module *M = nullptr; ///< Null for inline assembly.
  int32_t Where = -1;
  /// The latest `.loc` of this function by file, line and column.
  struct Key {
    uint32_t File, Line, Column;
    bool operator==(const Key &) const = default;
  };
  struct Hash {
    size_t operator()(const Key &K) const {
      return (size_t(K.File) * 1000003 + K.Line) * 1000003 + K.Column;
    }
  };
  std::unordered_map<Key, int32_t, Hash> Latest;
};

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// `.attribute(.managed, .unified(1, 2))`: kept without the leading dots.
bool Parser::parseAttributes(Variable &V) {
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

/// State space, alignment, type and so on, in any order, up to the name.
bool Parser::parseVariablePrefix(Variable &V) {
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
    if (StateSpace Space = stateSpace(Word); Space != StateSpace::None)
      (V.IsPointer ? V.PointerSpace : V.Space) = Space;
    else if (std::optional<Variable::Linkage> Link = linkage(Word))
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

/// `name<10>`, `name[4][] = { ... }`.
bool Parser::parseDeclarator(Variable &V) {
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

template <typename Add>
bool Parser::parseVariables(Variable::Linkage Link, Add Each) {
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
  return endStatement("a variable");
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Inline assembly may leave out the last ';'.
bool Parser::endStatement(std::string_view After) {
  if (Tok.is(';')) {
    advance();
    return true;
  }
  if (!M && (Tok.is(TK::End) || Tok.is('}')))
    return true;
  return expect(';', After);
}

/// `.loc file line column[, function_name label[+n], inlined_at f l c]`
bool Parser::parseLocation() {
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

/// The name and operands of a directive, up to what ends them.
bool Parser::parseDirective(Directive &D) {
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

bool Parser::parseInstruction(Block &B) {
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
  if (Tok.is(';')) {
    advance();
    return true;
  }
  if (!M && (Tok.is(TK::End) || Tok.is('}')))
    return true;
  do {
    if (!parseOperand(I.Operands.emplace_back()))
      return false;
  } while (accept(','));
  if (Tok.is(';')) {
    advance();
    return true;
  }
  return endStatement("'" + std::string(I.Opcode) + "'");
}

bool Parser::parseStatement(Block &B) {
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
    if (stateSpace(Tok.Text) != StateSpace::None || linkage(Tok.Text))
      return parseVariables(Variable::Linkage::Internal, [&](Variable V) {
        B.Statements.push_back(std::move(V));
      });
    Directive D;
    if (!parseDirective(D) || !endStatement("'" + std::string(D.Name) + "'"))
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
  if (!parseDirective(D) || !endStatement("'" + std::string(D.Name) + "'"))
    return false;
  B.Statements.push_back(std::move(D));
  return true;
}

/// Up to the closing brace, or the end of the whole text.
bool Parser::parseBlock(Block &B, bool IsWhole) {
  for (;;) {
    if (IsWhole ? Tok.is(TK::End) : accept('}'))
      return true;
    if (Tok.is(TK::End) || Tok.is('}'))
      return expected(IsWhole ? "a statement" : "a statement or '}'");
    if (!parseStatement(B))
      return false;
  }
}

bool Parser::parseInline(Block &Body) { return parseBlock(Body, true); }

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool Parser::parseParameters(std::vector<Variable> &Parameters) {
  advance();
  if (accept(')'))
    return true;
  do {
    Variable &V = Parameters.emplace_back();
    if (!parseVariablePrefix(V) || !parseDeclarator(V))
      return false;
  } while (accept(','));
  if (accept(')'))
    return true;
  return expected("',' or ')' after a parameter");
}

/// All but the body.
bool Parser::parseSignature(Function &F) {
  F.IsKernel = Tok.Text == ".entry";
  advance();
  while (Tok.isDotted(".attribute") || Tok.isDotted(".noreturn"))
    if (!parseDirective(F.Directives.emplace_back()))
      return false;
  if (Tok.is('(') && !parseParameters(F.Results))
    return false;
  while (Tok.isDotted(".attribute"))
    if (!parseDirective(F.Directives.emplace_back()))
      return false;
  F.Pos = Tok.Pos;
  if (!parseName(F.Name, "a function's name"))
    return false;
  if (Tok.is('(') && !parseParameters(F.Parameters))
    return false;
  while (Tok.is(TK::Dotted)) {
    Directive &D = F.Directives.emplace_back();
    if (!parseDirective(D))
      return false;
    if (D.Name == ".pragma" && Tok.is(';') &&
        (Next.is('{') || Next.is(TK::Dotted)))
      advance();
  }
  return true;
}

bool Parser::parseFunction(Variable::Linkage Link) {
  Function F;
  F.Link = Link;
  if (!parseSignature(F))
    return false;
  if (Tok.is('{')) {
    advance();
    Where = -1;
    Latest.clear();
    F.Body = std::make_unique<Block>();
    if (!parseBlock(*F.Body, /*IsWhole=*/false))
      return false;
  } else if (!accept(';'))
    return expected("'{' or ';' after a function's head");
  M->Items.push_back(std::move(F));
  return true;
}

//===----------------------------------------------------------------------===//
// File scope
//===----------------------------------------------------------------------===//

/// `.version 8.7`: a number with a point to the lexer.
bool Parser::parseVersion() {
  advance();
  const std::string_view Text = Tok.Text;
  const size_t Point = Text.find('.');
  auto Number = [](std::string_view S, unsigned &N) {
    const auto [At, Error] = std::from_chars(S.data(), S.data() + S.size(), N);
    return Error == std::errc() && At == S.data() + S.size();
  };
  if (Point == Text.npos || !Number(Text.substr(0, Point), M->VersionMajor) ||
      !Number(Text.substr(Point + 1), M->VersionMinor))
    return expected("a version like 8.7");
  advance();
  return true;
}

bool Parser::parseTarget() {
  advance();
  do {
    if (!parseName(M->Targets.emplace_back(), "a target"))
      return false;
  } while (accept(','));
  return true;
}

/// `.file 1 "name"[, timestamp, size]`
bool Parser::parseFile() {
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

bool Parser::parseSection() {
  const char *Begin = Tok.begin();
  advance();
  if (!Tok.is(TK::Dotted) && !Tok.is(TK::Name))
    return expected("a section's name");
  advance();
  if (!expect('{', "a section's name"))
    return false;
  while (!Tok.is('}')) {
    if (Tok.is(TK::End))
      return expected("'}' after a section");
    advance();
  }
  advance();
  M->Sections.push_back(textFrom(Begin));
  return true;
}

bool Parser::parseItem() {
  if (accept(';'))
    return true;
  if (!Tok.is(TK::Dotted))
    return expected("a directive");
  if (Tok.Text == ".version")
    return parseVersion();
  if (Tok.Text == ".target")
    return parseTarget();
  if (Tok.Text == ".address_size") {
    advance();
    return parseNumber(M->AddressSize, "an address size");
  }
  if (Tok.Text == ".file")
    return parseFile();
  if (Tok.Text == ".section")
    return parseSection();
  Variable::Linkage Link = Variable::Linkage::Internal;
  while (std::optional<Variable::Linkage> L = linkage(Tok.Text)) {
    Link = *L;
    advance();
  }
  if (Tok.isDotted(".entry") || Tok.isDotted(".func"))
    return parseFunction(Link);
  if (stateSpace(Tok.Text) != StateSpace::None)
    return parseVariables(
        Link, [&](Variable V) { M->Items.push_back(std::move(V)); });
  if (!Tok.isDotted(".pragma") && !Tok.isDotted(".alias"))
    return expected("a function, a variable or a directive of file scope");
  Directive D;
  if (!parseDirective(D) || !expect(';', D.Name))
    return false;
  M->Items.push_back(std::move(D));
  return true;
}

bool Parser::parseModule(Module &Into) {
  M = &Into;
  if (!Tok.isDotted(".version"))
    return expected("'.version'");
  while (!Tok.is(TK::End))
    if (!parseItem())
      return false;
  return true;
}

} // namespace

std::variant<Module, ParseError> parseModule(std::string Text) {
  Module M;
  M.Text = std::make_shared<const std::string>(std::move(Text));
  Parser P(*M.Text, /*IsInline=*/false);
  if (!P.parseModule(M))
    return P.takeError();
  return M;
}

std::variant<InlineBody, ParseError> parseInline(std::string Text) {
  InlineBody I;
  I.Text = std::make_shared<const std::string>(std::move(Text));
  Parser P(*I.Text, /*IsInline=*/true);
  if (!P.parseInline(I.Body))
    return P.takeError();
  return I;
}

} // namespace crsan::ptx
