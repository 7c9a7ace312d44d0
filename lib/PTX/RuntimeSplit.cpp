//===- RuntimeSplit.cpp - A module's PTX, without the runtime -------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeSplit.h"
#include "crsan/ABI.h"

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

/// Whether the item declares or defines a name of the runtime's.
bool isRuntimes(const Item &It) {
  if (It.IsModuleHeader || startsWith(It.Text, 0, ".section") ||
      startsWith(It.Text, 0, ".file"))
    return false;
  const std::string_view Signature = It.Text.substr(0, It.Signature);
  const size_t At = Signature.find(Prefix);
  if (At == Signature.npos || (At && isNameChar(Signature[At - 1])))
    return false;
  for (std::string_view Own :
       {abi::SitesPrefix, abi::WindowsPrefix, abi::TablePrefix})
    if (startsWith(Signature, At, Own))
      return false;
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

} // namespace

std::optional<RuntimeSplit> splitRuntime(std::string_view PTX) {
  RuntimeSplit Split;
  bool HasRuntime = false;
  for (size_t I = skipBlank(PTX, 0); I < PTX.size(); I = skipBlank(PTX, I)) {
    const std::optional<Item> It = nextItem(PTX, I);
    if (!It)
      return std::nullopt;
    I += It->Text.size();
    const std::string Text = std::string(It->Text) + "\n";
    if (It->IsModuleHeader) {
      Split.Program += Text;
      // The runtime has no debug information, which `debug` would promise.
      Split.Runtime += Text.substr(0, Text.find(", debug"));
      Split.Runtime += '\n';
    } else if (!isRuntimes(*It)) {
      Split.Program += Text;
    } else {
      const std::string Signature = bareSignature(*It);
      const bool IsFunction = Signature.find(".func") != Signature.npos;
      Split.Program += ".extern " + Signature + ";\n";
      // A function is declared ahead of its definition; an object is not.
      Split.Runtime += ".visible " + Signature +
                       std::string(It->Text.substr(It->Signature)) + "\n";
      HasRuntime |= IsFunction && It->IsDefinition;
    }
  }
  if (!HasRuntime)
    return std::nullopt;
  return Split;
}

} // namespace crsan::ptx
