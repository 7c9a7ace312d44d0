//===- RuntimeSplit.cpp - A module's PTX, without the runtime -------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeSplit.h"
#include "crsan/abi/Names.h"

#include <algorithm>
#include <charconv>
#include <functional>

namespace crsan::ptx {

namespace {

constexpr std::string_view Prefix = "__crsan_";

/// One directive of file scope with what belongs to it.
struct Item {
  std::string_view Text;
  size_t Signature;    ///< Length of the text before a body or initialiser.
  bool IsDefinition;   ///< A function with a body.
  bool IsModuleHeader; ///< .version, .target or .address_size.
};

bool isNameChar(char C) {
  return std::isalnum(static_cast<unsigned char>(C)) || C == '_' || C == '$';
}

/// The end of a comment or a string that begins at `I`, or `I`.
size_t skipQuoted(std::string_view S, size_t I) {
  auto After = [&](std::string_view End, size_t From) {
    const size_t At = S.find(End, From);
    return At == S.npos ? S.size() : At + End.size();
  };
  if (S.substr(I, 2) == "//")
    return After("\n", I);
  if (S.substr(I, 2) == "/*")
    return After("*/", I + 2);
  return S[I] == '"' ? After("\"", I + 1) : I;
}

size_t skipBlank(std::string_view S, size_t I) {
  while (I < S.size()) {
    if (std::isspace(static_cast<unsigned char>(S[I])))
      ++I;
    else if (size_t End = skipQuoted(S, I); S[I] != '"' && End != I)
      I = End;
    else
      break;
  }
  return I;
}

bool startsWith(std::string_view S, size_t I, std::string_view Word) {
  return S.substr(I, Word.size()) == Word;
}

/// The item that begins at `I`, which is neither blank nor a comment.
std::optional<Item> nextItem(std::string_view S, size_t I) {
  const size_t Begin = I;
  for (std::string_view Line :
       {".version", ".target", ".address_size", ".file"})
    if (startsWith(S, I, Line)) {
      const size_t End = std::min(S.find('\n', I), S.size());
      return Item{S.substr(Begin, End - Begin), End - Begin, false,
                  Line != ".file"};
    }
  size_t Initialiser = 0;
  for (int Depth = 0; I < S.size();) {
    if (size_t End = skipQuoted(S, I); End != I) {
      I = End;
      continue;
    }
    const char C = S[I++];
    if (C == '=' && Depth == 0 && !Initialiser)
      Initialiser = I - 1 - Begin;
    else if (C == '{' && Depth == 0 && !Initialiser) {
      const size_t Body = I - 1 - Begin;
      for (Depth = 1; Depth && I < S.size();) {
        if (size_t End = skipQuoted(S, I); End != I) {
          I = End;
          continue;
        }
        Depth += (S[I] == '{') - (S[I] == '}');
        ++I;
      }
      if (Depth)
        return std::nullopt;
      return Item{S.substr(Begin, I - Begin), Body, true, false};
    } else if (C == '(' || C == '{')
      ++Depth;
    else if (C == ')' || C == '}')
      --Depth;
    else if (C == ';' && Depth == 0)
      return Item{S.substr(Begin, I - Begin),
                  Initialiser ? Initialiser : I - 1 - Begin, false, false};
  }
  return std::nullopt;
}

/// What a module consists of.
enum class Owner { Program, Runtime, Twin };

/// To what the item belongs that declares or defines a name.
Owner ownerOf(const Item &It) {
  if (It.IsModuleHeader || startsWith(It.Text, 0, ".section") ||
      startsWith(It.Text, 0, ".file"))
    return Owner::Program;
  const std::string_view Signature = It.Text.substr(0, It.Signature);
  const size_t At = Signature.find(Prefix);
  if (At == Signature.npos || (At && isNameChar(Signature[At - 1])))
    return Owner::Program;
  for (std::string_view Own :
       {abi::SitesPrefix, abi::WindowsPrefix, abi::TablePrefix})
    if (startsWith(Signature, At, Own))
      return Owner::Program;
  return startsWith(Signature, At, abi::TwinPrefix) ? Owner::Twin
                                                    : Owner::Runtime;
}

/// Calls `Visit` for each item; false: the text is not understood.
bool forEachItem(std::string_view PTX,
                 const std::function<void(const Item &)> &Visit) {
  for (size_t I = skipBlank(PTX, 0); I < PTX.size(); I = skipBlank(PTX, I)) {
    const std::optional<Item> It = nextItem(PTX, I);
    if (!It)
      return false;
    I += It->Text.size();
    Visit(*It);
  }
  return true;
}

/// The signature without its linkage, comments dropped.
std::string bareSignature(const Item &It) {
  std::string Bare;
  for (size_t I = 0; I < It.Signature;) {
    if (size_t End = skipQuoted(It.Text, I); End != I) {
      I = End;
      Bare += '\n';
      continue;
    }
    Bare += It.Text[I++];
  }
  for (std::string_view Linkage : {".visible", ".weak", ".extern"})
    if (Bare.starts_with(Linkage))
      Bare.erase(0, Linkage.size());
  return Bare;
}

/// The name of the kernel that the item defines; empty if it defines none.
std::string_view entryName(const Item &It) {
  constexpr std::string_view Directive = ".entry";
  const std::string_view Signature = It.Text.substr(0, It.Signature);
  const size_t At = Signature.find(Directive);
  if (!It.IsDefinition || At == Signature.npos)
    return {};
  const size_t Begin = skipBlank(Signature, At + Directive.size());
  size_t End = Begin;
  while (End < Signature.size() && isNameChar(Signature[End]))
    ++End;
  return Signature.substr(Begin, End - Begin);
}

/// The name of the function that the item declares.
std::string_view functionName(const Item &It) {
  const std::string_view Text = It.Text;
  size_t Begin = skipBlank(Text, Text.find(".func") + 5);
  if (Begin < Text.size() && Text[Begin] == '(')
    Begin =
        skipBlank(Text, std::min(Text.find(')', Begin), Text.size() - 1) + 1);
  size_t End = Begin;
  while (End < Text.size() && isNameChar(Text[End]))
    ++End;
  return Text.substr(Begin, End - Begin);
}

/// The product of the numbers behind a directive; 0 if it is not there.
unsigned numbersBehind(std::string_view Signature, std::string_view Directive) {
  size_t At = Signature.find(Directive);
  if (At == Signature.npos)
    return 0;
  unsigned Product = 1;
  At += Directive.size();
  for (;;) {
    At = skipBlank(Signature, At);
    unsigned Number = 0;
    const auto [End, Error] = std::from_chars(
        Signature.data() + At, Signature.data() + Signature.size(), Number);
    if (Error != std::errc())
      return 0;
    Product *= Number;
    At = skipBlank(Signature, End - Signature.data());
    if (At == Signature.size() || Signature[At] != ',')
      return Product;
    ++At;
  }
}

} // namespace

std::optional<RuntimeSplit> splitRuntime(std::string_view PTX) {
  RuntimeSplit Split;
  std::string Header, Twins;
  std::vector<Item> Declared;
  bool HasRuntime = false;
  auto Add = [&](const Item &It) {
    const std::string Text = std::string(It.Text) + "\n";
    if (It.IsModuleHeader) {
      Split.Program += Text;
      // Neither part has debug information, which `debug` would promise.
      const std::string Bare = Text.substr(0, Text.find(", debug")) + "\n";
      Split.Runtime += Bare;
      Header += Bare;
      return;
    }
    const std::string Signature = bareSignature(It);
    const bool IsFunction = Signature.find(".func") != Signature.npos ||
                            Signature.find(".entry") != Signature.npos;
    switch (ownerOf(It)) {
    case Owner::Program:
      Split.Program += Text;
      if (startsWith(Text, 0, ".extern") && IsFunction)
        Declared.push_back(It);
      break;
    case Owner::Twin:
      Twins += Text;
      break;
    case Owner::Runtime:
      Split.Program += ".extern " + Signature + ";\n";
      // A function is declared ahead of its definition; an object is not.
      Split.Runtime += ".visible " + Signature +
                       std::string(It.Text.substr(It.Signature)) + "\n";
      HasRuntime |= IsFunction && It.IsDefinition;
      break;
    }
  };
  if (!forEachItem(PTX, Add) || !HasRuntime)
    return std::nullopt;
  if (Twins.empty())
    return Split;
  // Twins have variables of their own; of the program, they need the functions
  // that it calls and does not define.
  for (const Item &It : Declared)
    if (Twins.find(std::string(functionName(It)) + ",") != Twins.npos)
      Header += std::string(It.Text) + "\n";
  Split.Twins = Header + Twins;
  return Split;
}

std::optional<std::string> dropTwins(std::string_view PTX) {
  std::string Rest;
  size_t Done = 0;
  if (!forEachItem(PTX, [&](const Item &It) {
        const size_t At = It.Text.data() - PTX.data();
        if (ownerOf(It) == Owner::Twin) {
          Rest += PTX.substr(Done, At - Done);
          Done = At + It.Text.size();
        }
      }))
    return std::nullopt;
  return Rest += PTX.substr(Done);
}

unsigned EntryBounds::registersThatFit() const {
  constexpr unsigned Registers = 65536, Warp = 32, Unit = 8;
  unsigned Fit = MaxRegisters;
  if (MaxThreads) {
    const unsigned Threads =
        (MaxThreads + Warp - 1) / Warp * Warp * std::max(MinBlocks, 1u);
    const unsigned Each = Registers / Threads / Unit * Unit;
    Fit = Fit ? std::min(Fit, Each) : Each;
  }
  return Fit;
}

std::vector<EntryBounds> entryBounds(std::string_view PTX) {
  std::vector<EntryBounds> Bounds;
  forEachItem(PTX, [&](const Item &It) {
    const std::string_view Name = entryName(It);
    if (Name.empty())
      return;
    const std::string Signature = bareSignature(It);
    Bounds.push_back({std::string(Name),
                      std::max(numbersBehind(Signature, ".maxntid"),
                               numbersBehind(Signature, ".reqntid")),
                      numbersBehind(Signature, ".minnctapersm"),
                      numbersBehind(Signature, ".maxnreg")});
  });
  return Bounds;
}

std::string limitRegisters(std::string_view PTX,
                           const std::map<std::string, unsigned> &Limits) {
  std::string Limited;
  size_t Done = 0;
  forEachItem(PTX, [&](const Item &It) {
    const auto Limit = Limits.find(std::string(entryName(It)));
    if (Limit == Limits.end() || numbersBehind(bareSignature(It), ".maxnreg"))
      return;
    const size_t Body = It.Text.data() - PTX.data() + It.Signature;
    Limited += PTX.substr(Done, Body - Done);
    Limited += "\n.maxnreg " + std::to_string(Limit->second) + "\n";
    Done = Body;
  });
  return Limited += PTX.substr(Done);
}

std::map<std::string, unsigned> usedRegisters(std::string_view PtxasOutput) {
  constexpr std::string_view Entry = "Compiling entry function '",
                             Used = ": Used ";
  std::map<std::string, unsigned> Registers;
  std::string Name;
  for (size_t I = 0; I < PtxasOutput.size();) {
    const size_t End = std::min(PtxasOutput.find('\n', I), PtxasOutput.size());
    const std::string_view Line = PtxasOutput.substr(I, End - I);
    I = End + 1;
    if (const size_t At = Line.find(Entry); At != Line.npos) {
      const std::string_view Rest = Line.substr(At + Entry.size());
      Name = Rest.substr(0, Rest.find('\''));
    } else if (const size_t At = Line.find(Used);
               At != Line.npos && !Name.empty()) {
      std::from_chars(Line.data() + At + Used.size(), Line.data() + Line.size(),
                      Registers[Name]);
      Name.clear();
    }
  }
  return Registers;
}

} // namespace crsan::ptx
