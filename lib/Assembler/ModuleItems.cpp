// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a PTX module declares.

#include "ModuleItems.h"
#include "PTX/Lexer.h"

using namespace llvm;
using crsan::ptx::Lexer;
using crsan::ptx::Token;

namespace crsan::assembler {

namespace {

class Reader {
public:
  explicit Reader(StringRef PTX) : PTX(PTX), Lex(PTX, /*IsInline=*/false) {
    Tok = Lex.next();
  }
  bool isAtEnd() const { return Tok.is(Token::Kind::End); }
  /// The item that begins at the current token.
  Expected<ModuleItem> next();

private:
  void readLine(ModuleItem &Item);
  bool readUntilEnd(ModuleItem &Item);
  bool readBody();
  void classify(ModuleItem &Item);
  void endSignature(ModuleItem &Item) const {
    Item.Signature = StringRef(Begin, Tok.begin() - Begin);
  }
  void advance() {
    PreviousEnd = Tok.end();
    Tok = Lex.next();
  }

  StringRef PTX;
  Lexer Lex;
  Token Tok;
  const char *Begin = nullptr; ///< Of the current item.
  const char *PreviousEnd = nullptr;
};

/// A directive that ends where its line ends.
void Reader::readLine(ModuleItem &Item) {
  const char *const LineEnd = StringRef(Begin, PTX.end() - Begin)
                                  .take_until([](char C) { return C == '\n'; })
                                  .end();
  while (!isAtEnd() && Tok.begin() < LineEnd)
    advance();
  Item.Text = Item.Signature = StringRef(Begin, LineEnd - Begin);
}

/// Passes a body, whose opening brace is the current token.
bool Reader::readBody() {
  unsigned Depth = 0;
  do {
    if (isAtEnd())
      return false;
    Depth += Tok.is('{');
    Depth -= Tok.is('}');
    advance();
  } while (Depth);
  return true;
}

/// Notes what the current token, of the signature and outside of parentheses,
/// says of the item.
void Reader::classify(ModuleItem &Item) {
  if (Tok.isDotted(".entry"))
    Item.What = ModuleItem::Kind::Kernel;
  else if (Tok.isDotted(".func"))
    Item.What = ModuleItem::Kind::Function;
  else if (Tok.is(Token::Kind::Name) && Item.Name.empty())
    Item.Name = Tok.Text;
}

/// Passes an item that ends with its body or with a semicolon.
bool Reader::readUntilEnd(ModuleItem &Item) {
  unsigned Depth = 0;
  bool IsInitialiser = false;
  for (; !isAtEnd(); advance()) {
    const bool IsOutermost = Depth == 0;
    if (IsOutermost && Tok.is(';')) {
      if (!IsInitialiser)
        endSignature(Item);
      advance();
      return true;
    }
    if (IsOutermost && Tok.is('{') && !IsInitialiser) {
      endSignature(Item);
      Item.HasBody = true;
      return readBody();
    }
    if (IsOutermost && Tok.is('=') && !IsInitialiser) {
      endSignature(Item);
      IsInitialiser = true;
    } else if (IsOutermost && !IsInitialiser)
      classify(Item);
    if (Tok.is('(') || Tok.is('{'))
      ++Depth;
    else if ((Tok.is(')') || Tok.is('}')) && Depth)
      --Depth;
  }
  return false;
}

Expected<ModuleItem> Reader::next() {
  ModuleItem Item;
  Begin = Tok.begin();
  const unsigned Line = Tok.Pos.Line;
  for (StringRef Directive : {".version", ".target", ".address_size", ".file"})
    if (Tok.isDotted(Directive)) {
      if (Directive != ".file")
        Item.What = ModuleItem::Kind::Header;
      readLine(Item);
      return Item;
    }
  for (StringRef Linkage : {".visible", ".weak", ".extern"})
    if (Tok.isDotted(Linkage))
      Item.Linkage = Tok.Text;
  if (!readUntilEnd(Item))
    return createStringError("the declaration at line " + Twine(Line) +
                             " has no end");
  Item.Text = StringRef(Begin, PreviousEnd - Begin);
  return Item;
}

} // namespace

Expected<std::vector<ModuleItem>> readItems(StringRef PTX) {
  std::vector<ModuleItem> Items;
  for (Reader R(PTX); !R.isAtEnd();) {
    Expected<ModuleItem> Item = R.next();
    if (!Item)
      return Item.takeError();
    Items.push_back(*Item);
  }
  return Items;
}

} // namespace crsan::assembler
