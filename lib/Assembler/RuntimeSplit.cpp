// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module's PTX, without the runtime.

#include "RuntimeSplit.h"
#include "PTX/Lexer.h"
#include "crsan/abi/Config.h"
#include "crsan/abi/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace crsan::assembler {

namespace {

/// The part of a module to which an item belongs.
enum class Part { Header, Program, Runtime, Twin };

Part partOf(const ModuleItem &Item) {
  if (Item.What == ModuleItem::Kind::Header)
    return Part::Header;
  if (!Item.Name.starts_with("__crsan_"))
    return Part::Program;
  for (StringRef Own : {abi::SitesPrefix, abi::WindowsPrefix, abi::TablePrefix})
    if (Item.Name.starts_with(Own))
      return Part::Program;
  return Item.Name.starts_with(abi::TwinPrefix) ? Part::Twin : Part::Runtime;
}

/// Adds the names that occur in `PTX` to `Names`.
void addNames(StringRef PTX, StringSet<> &Names) {
  ptx::Lexer Lex(PTX, /*IsInline=*/false);
  for (ptx::Token Tok = Lex.next(); !Tok.is(ptx::Token::Kind::End);
       Tok = Lex.next())
    if (Tok.is(ptx::Token::Kind::Name))
      Names.insert(Tok.Text);
}

/// The native twins of a module as a module. They have variables of their own;
/// of the program, they need the functions that it calls and does not define.
std::string twinModule(ArrayRef<ModuleItem> Module, StringRef Header) {
  std::string Twins;
  StringSet<> Named;
  for (const ModuleItem &Item : Module)
    if (partOf(Item) == Part::Twin) {
      Twins += Item.Text.str() + "\n";
      addNames(Item.Text, Named);
    }
  if (Twins.empty())
    return Twins;
  std::string Declared;
  for (const ModuleItem &Item : Module)
    if (partOf(Item) == Part::Program && Item.Linkage == ".extern" &&
        Item.isCode() && Named.contains(Item.Name))
      Declared += Item.Text.str() + "\n";
  return Header.str() + Declared + Twins;
}

} // namespace

RuntimeSplit splitRuntime(ArrayRef<ModuleItem> Module) {
  RuntimeSplit Split;
  std::string Header, Runtime;
  for (const ModuleItem &Item : Module)
    switch (partOf(Item)) {
    case Part::Header:
      Split.Program += Item.Text.str() + "\n";
      // Runtime and twins have no debug information, which `debug` promises.
      Header += Item.Text.split(", debug").first.rtrim().str() + "\n";
      break;
    case Part::Program:
      Split.Program += Item.Text.str() + "\n";
      break;
    case Part::Runtime: {
      const std::string Signature = Item.signatureWithoutLinkage().str();
      Split.Program += ".extern " + Signature + ";\n";
      // A function is declared ahead of its definition; an object is not.
      Runtime += ".visible " + Signature +
                 Item.Text.drop_front(Item.Signature.size()).str() + "\n";
      break;
    }
    case Part::Twin:
      break;
    }
  Split.Twins = twinModule(Module, Header);
  if (any_of(Module, [](const ModuleItem &Item) {
        return partOf(Item) == Part::Runtime && Item.isCode() && Item.HasBody;
      }))
    Split.Runtime = Header + Runtime;
  return Split;
}

std::string dropTwins(StringRef PTX, ArrayRef<ModuleItem> Module) {
  std::string Rest;
  const char *Done = PTX.begin();
  for (const ModuleItem &Item : Module)
    if (partOf(Item) == Part::Twin) {
      Rest.append(Done, Item.Text.begin());
      Done = Item.Text.end();
    }
  return Rest.append(Done, PTX.end());
}

} // namespace crsan::assembler
