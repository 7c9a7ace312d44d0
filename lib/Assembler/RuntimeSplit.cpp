// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module's PTX, without the runtime.

#include "RuntimeSplit.h"
#include "PTX/Lexer.h"
#include "Reductions.h"
#include "crsan/abi/Config.h"
#include "crsan/abi/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace crsan::assembler {

namespace {

/// The part of a module to which an item belongs.
enum class Part { Header, Program, Runtime, SpareTwin };

Part partOf(const ModuleItem &Item) {
  if (Item.What == ModuleItem::Kind::Header)
    return Part::Header;
  if (!Item.Name.starts_with("__crsan_"))
    return Part::Program;
  for (StringRef Own : abi::ProgramPrefixes)
    if (Item.Name.starts_with(Own))
      return Part::Program;
  if (Item.Name.starts_with(abi::TwinPrefix))
    return Part::Program;
  return abi::isNativeTwin(Item.Name) ? Part::SpareTwin : Part::Runtime;
}

/// Adds the names that occur in `PTX` to `Names`.
void addNames(StringRef PTX, StringSet<> &Names) {
  ptx::Lexer Lex(PTX, /*IsInline=*/false);
  for (ptx::Token Tok = Lex.next(); !Tok.is(ptx::Token::Kind::End);
       Tok = Lex.next())
    if (Tok.is(ptx::Token::Kind::Name))
      Names.insert(Tok.Text);
}

/// The native twins of `Asked` kernels as a module, with the functions that
/// they call and with the variables that they mention, without their values.
std::string twinModule(ArrayRef<ModuleItem> Module, StringRef Header,
                       const StringSet<> &Asked) {
  StringSet<> Named;
  for (StringRef Kernel : Asked.keys()) {
    Named.insert((abi::TwinPrefix + Kernel).str());
    Named.insert((abi::SpareTwinPrefix + Kernel).str());
  }
  SmallPtrSet<const ModuleItem *, 8> Twins;
  for (size_t Before = ~size_t(0); Twins.size() != Before;) {
    Before = Twins.size();
    for (const ModuleItem &Item : Module)
      if (Item.HasBody && abi::isNativeTwin(Item.Name) &&
          Named.contains(Item.Name) && Twins.insert(&Item).second)
        addNames(Item.Text, Named);
  }
  if (Twins.empty())
    return {};
  std::string Text = Header.str();
  for (const ModuleItem &Item : Module) {
    if (!Named.contains(Item.Name))
      continue;
    if (abi::isNativeTwin(Item.Name) ||
        (Item.isCode() && Item.Linkage == ".extern"))
      Text += Item.Text.str() + "\n";
    else if (Item.What == ModuleItem::Kind::Other)
      Text += Item.Signature.rtrim().str() + ";\n";
  }
  return Text;
}

/// The text of a function without comments and without the function's number in
/// its module, which LLVM makes a part of names: `$L__BB3_1`.
std::string withoutNumber(StringRef Function) {
  std::string Text;
  for (StringRef Line : split(Function, '\n')) {
    Line = Line.split("//").first.rtrim();
    for (StringRef Name :
         {"$L__BB", "$L__func_begin", "$L__func_end", "__local_depot"})
      for (size_t At; (At = Line.find(Name)) != Line.npos;) {
        const size_t End = At + Name.size();
        Text += Line.take_front(End);
        Line = Line.drop_front(End).drop_while(isDigit);
      }
    if (!Line.empty())
      Text += Line.str() + "\n";
  }
  return Text;
}

/// The runtime's items as a module, in an order that only depends on which they
/// are: so that modules which need the same of the runtime have the same text.
std::string runtimeModule(std::vector<const ModuleItem *> Items,
                          StringRef Header) {
  // Functions are declared ahead of all definitions: LLVM declares only those
  // that are called in front of theirs, in its order. An object may refer to
  // those in front of it.
  const auto Rank = [](const ModuleItem *Item) {
    return Item->isCode() ? std::tuple(1, Item->Name, !Item->HasBody)
                          : std::tuple(0, StringRef(), false);
  };
  llvm::stable_sort(Items, [&](const ModuleItem *A, const ModuleItem *B) {
    return Rank(A) < Rank(B);
  });
  std::string Text = Header.str();
  StringSet<> Declared;
  for (const ModuleItem *Item : Items)
    if (Item->isCode() && Declared.insert(Item->Name).second)
      Text +=
          withoutNumber((".visible " + Item->signatureWithoutLinkage()).str()) +
          ";\n";
  for (const ModuleItem *Item : Items)
    if (!Item->isCode() || Item->HasBody)
      Text += withoutNumber(
          (".visible " + Item->Text.drop_front(Item->Linkage.size())).str());
  return Text;
}

} // namespace

RuntimeSplit splitRuntime(ArrayRef<ModuleItem> Module,
                          const StringSet<> &Asked) {
  RuntimeSplit Split;
  std::string Header;
  std::vector<const ModuleItem *> Runtime;
  for (const ModuleItem &Item : Module)
    switch (partOf(Item)) {
    case Part::Header:
      Split.Program += Item.Text.str() + "\n";
      // Neither the runtime nor the twins that are asked have debug
      // information, which `debug` promises.
      Header += Item.Text.split(", debug").first.rtrim().str() + "\n";
      break;
    case Part::Program:
      Split.Program +=
          (Item.isCode() ? useReductions(Item.Text) : Item.Text.str()) + "\n";
      break;
    case Part::Runtime:
      Split.Program +=
          ".extern " + Item.signatureWithoutLinkage().str() + ";\n";
      Runtime.push_back(&Item);
      break;
    case Part::SpareTwin:
      break;
    }
  Split.Twins = twinModule(Module, Header, Asked);
  if (any_of(Runtime, [](const ModuleItem *Item) {
        return Item->isCode() && Item->HasBody;
      }))
    Split.Runtime = runtimeModule(std::move(Runtime), Header);
  return Split;
}

std::string dropSpareTwins(StringRef PTX, ArrayRef<ModuleItem> Module) {
  std::string Rest;
  const char *Done = PTX.begin();
  for (const ModuleItem &Item : Module)
    if (partOf(Item) == Part::SpareTwin) {
      Rest.append(Done, Item.Text.begin());
      Done = Item.Text.end();
    }
  return Rest.append(Done, PTX.end());
}

} // namespace crsan::assembler
