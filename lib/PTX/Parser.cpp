// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text -> AST.

#include "PTX/Parser.h"
#include "PTX/StatementParser.h"

#include <charconv>

namespace crsan::ptx {

namespace {

using TK = Token::Kind;

/// Parses what stands at file scope.
class Parser : StatementParser {
public:
  Parser(std::string_view Text, Module &Into)
      : StatementParser(Text, &Into), M(&Into) {}

  bool parseModule();
  using TokenStream::takeError;

private:
  bool parseItem();
  bool parseVersion();
  bool parseTarget();
  bool parseSection();
  bool parseFunction(Variable::Linkage Link);
  bool parseSignature(Function &F);
  bool parseParameters(std::vector<Variable> &Parameters);

  Module *M;
};

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
    F.Body = std::make_unique<Block>();
    if (!parseBody(*F.Body))
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
  while (std::optional<Variable::Linkage> L = linkageHere()) {
    Link = *L;
    advance();
  }
  if (Tok.isDotted(".entry") || Tok.isDotted(".func"))
    return parseFunction(Link);
  if (spaceHere() != StateSpace::None)
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

bool Parser::parseModule() {
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
  Parser P(*M.Text, M);
  if (!P.parseModule())
    return P.takeError();
  return M;
}

std::variant<InlineBody, ParseError> parseInline(std::string Text) {
  InlineBody I;
  I.Text = std::make_shared<const std::string>(std::move(Text));
  StatementParser P(*I.Text, /*M=*/nullptr);
  if (!P.parseBlock(I.Body, /*IsWhole=*/true))
    return P.takeError();
  return I;
}

} // namespace crsan::ptx
