// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX in what a program registers.

#include "ProgramCode.h"

#include "crsan/abi/Names.h"
#include "image/CubinImage.h"
#include "image/Fatbin.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <unordered_set>

namespace crsan::api {

using namespace std::string_view_literals;

/// Bigger than any image: a damaged size must not take all memory.
static constexpr uint64_t MostBytes = uint64_t(1) << 31;

static std::variant<std::string, std::string_view /*error*/>
unpack(const FatEntry &E) {
  std::string Text;
  const auto *Bytes = reinterpret_cast<const char *>(E.Body.data());
  if (E.PlainSize > MostBytes)
    return "an image of impossible size"sv;
  switch (E.Packed) {
  case FatEntry::Packing::Plain:
    return std::string(Bytes, E.Body.size());
  case FatEntry::Packing::Zstandard: {
    // The frame's own end counts: what follows is padding.
    size_t Size = ZSTD_findFrameCompressedSize(Bytes, E.Body.size());
    Text.resize(E.PlainSize);
    if (ZSTD_isError(Size))
      return "a damaged Zstandard image"sv;
    size_t Got = ZSTD_decompress(Text.data(), Text.size(), Bytes, Size);
    if (ZSTD_isError(Got))
      return "a damaged Zstandard image"sv;
    Text.resize(Got);
    return Text;
  }
  case FatEntry::Packing::LZ4: {
    Text.resize(E.PlainSize);
    int Got = LZ4_decompress_safe(Bytes, Text.data(), int(E.Body.size()),
                                  int(Text.size()));
    if (Got < 0)
      return "a damaged LZ4 image"sv;
    Text.resize(size_t(Got));
    return Text;
  }
  case FatEntry::Packing::Unknown:
    return "an image compressed in a way that is not known"sv;
  }
  return ""sv;
}

/// Which of two architectures runs better here: the newest that this one can
/// run; failing that, the oldest that it cannot.
static bool isBetter(uint32_t New, uint32_t Old) {
  if ((New <= Architecture) != (Old <= Architecture))
    return New <= Architecture;
  return New <= Architecture ? New > Old : New < Old;
}

static const FatEntry *best(const std::vector<FatEntry> &Entries,
                            FatEntry::Kind What) {
  const FatEntry *Best = nullptr;
  for (const FatEntry &E : Entries)
    if (E.What == What &&
        (!Best || isBetter(E.Architecture, Best->Architecture)))
      Best = &E;
  return Best;
}

/// PTX that crsan-ptxas put into relocatable machine code: Zstandard frames.
static std::vector<std::string> ptxInCubin(std::span<const uint8_t> Cubin) {
  std::vector<std::string> Texts;
  auto Parsed = CubinImage::parse(Cubin);
  const auto *Image = std::get_if<CubinImage>(&Parsed);
  if (!Image)
    return Texts;
  for (const CubinImage::Symbol &Symbol : Image->symbols()) {
    if (!Symbol.Name.starts_with(abi::PTXPrefix))
      continue;
    auto Bytes = Image->bytesOf(Symbol);
    const auto *Body = std::get_if<std::span<const uint8_t>>(&Bytes);
    if (!Body)
      continue;
    FatEntry E;
    E.Packed = FatEntry::Packing::Zstandard;
    E.Body = *Body;
    E.PlainSize = ZSTD_getFrameContentSize(Body->data(), Body->size());
    auto Text = unpack(E);
    if (auto *PTX = std::get_if<std::string>(&Text))
      Texts.push_back(std::move(*PTX));
  }
  return Texts;
}

static std::vector<std::string>
ptxInCubins(const std::vector<FatEntry> &Entries) {
  const FatEntry *E = best(Entries, FatEntry::Kind::Cubin);
  if (!E)
    return {};
  auto Bytes = unpack(*E);
  const auto *Cubin = std::get_if<std::string>(&Bytes);
  if (!Cubin)
    return {};
  return ptxInCubin(
      {reinterpret_cast<const uint8_t *>(Cubin->data()), Cubin->size()});
}

bool hasMachineFunctions(const void *Code) {
  for (const FatEntry &E : fatEntries(Code)) {
    if (E.What != FatEntry::Kind::Cubin)
      continue;
    auto Bytes = unpack(E);
    const auto *Cubin = std::get_if<std::string>(&Bytes);
    if (!Cubin)
      return true; // For all that is known.
    auto Parsed = CubinImage::parse(
        {reinterpret_cast<const uint8_t *>(Cubin->data()), Cubin->size()});
    const auto *Image = std::get_if<CubinImage>(&Parsed);
    if (!Image ||
        std::ranges::any_of(Image->symbols(), &CubinImage::Symbol::IsFunction))
      return true;
  }
  return false;
}

static std::string trimmed(std::string Text) {
  // Trailing zeros: C strings in fat binaries.
  Text.erase(std::find(Text.begin(), Text.end(), '\0'), Text.end());
  return Text;
}

static std::string whyNone(const std::vector<FatEntry> &Entries) {
  std::string Found;
  for (const FatEntry &E : Entries)
    if (E.What == FatEntry::Kind::Cubin)
      Found +=
          fmt::format("{}sm_{}", Found.empty() ? "" : ", ", E.Architecture);
  return fmt::format(
      "the program holds no PTX{}; build it with -fsanitize=cuda-race, or "
      "embed "
      "PTX yourself (clang: --cuda-include-ptx=all; nvcc: -gencode "
      "arch=compute_{},code=compute_{})",
      Found.empty() ? "" : ", only machine code for " + Found, Architecture,
      Architecture);
}

/// A PTX text, not a fat binary or machine code.
static bool looksLikePTX(const char *Text) {
  for (unsigned I = 0; I < 4096; ++I) {
    if (std::strncmp(Text + I, ".version", 8) == 0)
      return true;
    if (!Text[I] || (unsigned char)Text[I] >= 0x7f)
      return false;
  }
  return false;
}

std::variant<std::vector<std::string>, std::string> findPTX(const void *Code) {
  std::vector<std::string> Texts;
  std::vector<FatEntry> Entries = fatEntries(Code);
  if (Entries.empty() && Code && looksLikePTX(static_cast<const char *>(Code)))
    return std::vector{std::string(static_cast<const char *>(Code))};

  if (const FatEntry *E = best(Entries, FatEntry::Kind::PTX)) {
    auto Text = unpack(*E);
    if (auto *Error = std::get_if<std::string_view>(&Text))
      return fmt::format("the program holds {}; rebuild it", *Error);
    Texts.push_back(trimmed(std::move(std::get<std::string>(Text))));
    return Texts;
  }
  // The device runtime, which nvcc links to all relocatable code, has PTX for
  // architectures to come only: leave that out.
  for (const void *Linked : prelinkedFatbins(Code)) {
    std::vector<FatEntry> Inner = fatEntries(Linked);
    const FatEntry *E = best(Inner, FatEntry::Kind::PTX);
    if (!E || E->Architecture > Architecture)
      continue;
    auto Text = unpack(*E);
    if (auto *PTX = std::get_if<std::string>(&Text))
      Texts.push_back(trimmed(std::move(*PTX)));
  }
  if (Texts.empty())
    Texts = ptxInCubins(Entries);
  if (Texts.empty() && Entries.empty())
    Texts = ptxInCubin(findCubin(Code, Architecture / 10, Architecture % 10));
  if (Texts.empty())
    return whyNone(Entries);
  return Texts;
}

//===----------------------------------------------------------------------===//
// Looking into PTX without parsing it
//===----------------------------------------------------------------------===//

static bool isWordCharacter(char C) {
  return std::isalnum((unsigned char)C) || C == '_' || C == '$' || C == '.' ||
         C == '%';
}

static std::string_view wordAt(std::string_view Text, size_t At) {
  size_t End = At;
  while (End < Text.size() && isWordCharacter(Text[End]))
    ++End;
  return Text.substr(At, End - At);
}

static size_t skipBlanks(std::string_view Text, size_t At) {
  return std::min(Text.find_first_not_of(" \t\r\n", At), Text.size());
}

/// Past a `( ... )` if there is one; parameters hold no parentheses but those
/// of attributes, which nest.
static size_t skipParameters(std::string_view Text, size_t At) {
  At = skipBlanks(Text, At);
  if (At >= Text.size() || Text[At] != '(')
    return At;
  for (unsigned Depth = 0; At < Text.size(); ++At) {
    Depth += Text[At] == '(';
    if (Text[At] == ')' && --Depth == 0)
      return skipBlanks(Text, At + 1);
  }
  return At;
}

unsigned targetOf(std::string_view PTX) {
  constexpr std::string_view Keyword = ".target sm_";
  size_t At = PTX.find(Keyword);
  unsigned Target = 0;
  if (At != PTX.npos)
    std::from_chars(PTX.data() + At + Keyword.size(), PTX.data() + PTX.size(),
                    Target);
  return Target;
}

std::vector<DefinedFunction> definedFunctions(std::string_view PTX) {
  std::vector<DefinedFunction> Functions;
  for (std::string_view Keyword : {".func", ".entry"})
    for (size_t At = PTX.find(Keyword); At != PTX.npos;
         At = PTX.find(Keyword, At + 1)) {
      std::string_view Word = wordAt(PTX, At);
      if (Word != Keyword || (At && isWordCharacter(PTX[At - 1])))
        continue;
      size_t NameAt = skipParameters(PTX, At + Keyword.size());
      std::string_view Name = wordAt(PTX, NameAt);
      size_t After = skipParameters(PTX, NameAt + Name.size());
      size_t Stop = PTX.find_first_of("{;", After);
      if (!Name.empty() && Stop != PTX.npos && PTX[Stop] == '{')
        Functions.push_back({Name, Keyword == ".entry"});
    }
  return Functions;
}

std::vector<std::string_view> wordsWithPrefix(std::string_view PTX,
                                              std::string_view Prefix) {
  std::vector<std::string_view> Words;
  std::unordered_set<std::string_view> Known;
  for (size_t At = PTX.find(Prefix); At != PTX.npos;
       At = PTX.find(Prefix, At + 1)) {
    if (At && isWordCharacter(PTX[At - 1]))
      continue;
    std::string_view Word = wordAt(PTX, At);
    if (Known.insert(Word).second)
      Words.push_back(Word);
  }
  return Words;
}

} // namespace crsan::api
