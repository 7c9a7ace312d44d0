// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX in what a program loads.

#include "image/ProgramCode.h"

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

namespace crsan {

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

/// Which of two architectures runs better on a third: the newest that it can
/// run; failing that, the oldest that it cannot.
static bool isBetter(uint32_t New, uint32_t Old, uint32_t On) {
  if ((New <= On) != (Old <= On))
    return New <= On;
  return New <= On ? New > Old : New < Old;
}

static const FatEntry *best(const std::vector<FatEntry> &Entries,
                            FatEntry::Kind What, uint32_t On) {
  const FatEntry *Best = nullptr;
  for (const FatEntry &E : Entries)
    if (E.What == What &&
        (!Best || isBetter(E.Architecture, Best->Architecture, On)))
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
ptxInCubins(const std::vector<FatEntry> &Entries, unsigned Architecture) {
  const FatEntry *E = best(Entries, FatEntry::Kind::Cubin, Architecture);
  if (!E)
    return {};
  auto Bytes = unpack(*E);
  const auto *Cubin = std::get_if<std::string>(&Bytes);
  if (!Cubin)
    return {};
  return ptxInCubin(
      {reinterpret_cast<const uint8_t *>(Cubin->data()), Cubin->size()});
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

static bool holds(std::string_view Bytes, std::string_view Name) {
  return Bytes.find(Name) != Bytes.npos;
}

/// The machine code that the driver takes for a GPU: the newest of the GPU's
/// generation that is not newer than the GPU; null: the driver compiles PTX.
static const FatEntry *taken(const std::vector<FatEntry> &Entries,
                             unsigned Architecture) {
  const FatEntry *Taken = nullptr;
  for (const FatEntry &E : Entries)
    if (E.What == FatEntry::Kind::Cubin && E.Architecture <= Architecture &&
        E.Architecture / 10 == Architecture / 10 &&
        (!Taken || E.Architecture > Taken->Architecture))
      Taken = &E;
  return Taken;
}

bool hasChecks(const void *Code, unsigned Architecture) {
  const std::vector<FatEntry> Entries = fatEntries(Code);
  for (const FatEntry *E : {best(Entries, FatEntry::Kind::PTX, Architecture),
                            taken(Entries, Architecture)}) {
    if (!E)
      continue;
    const auto Bytes = unpack(*E);
    const auto *Image = std::get_if<std::string>(&Bytes);
    if (Image && holds(*Image, abi::ConfigName))
      return true;
  }
  if (!Entries.empty() || !Code)
    return false;
  const auto *Text = static_cast<const char *>(Code);
  if (looksLikePTX(Text))
    return holds(Text, abi::ConfigName);
  const std::span<const uint8_t> Cubin = findCubin(Code, 0, 0);
  return holds({reinterpret_cast<const char *>(Cubin.data()), Cubin.size()},
               abi::ConfigName);
}

//===----------------------------------------------------------------------===//
// Notes of NVIDIA's in machine code
//===----------------------------------------------------------------------===//

static constexpr uint32_t NoteOfCuda = 1000, NoteOfTool = 2000;

template <typename T>
static T numberAt(std::span<const uint8_t> Bytes, size_t At) {
  T Value{};
  if (At <= Bytes.size() && sizeof(T) <= Bytes.size() - At)
    std::memcpy(&Value, Bytes.data() + At, sizeof(T));
  return Value;
}

/// A text of a note about a tool: a version, the offsets of five texts, and the
/// texts.
static std::string_view textOf(std::span<const uint8_t> Note, unsigned Number) {
  constexpr size_t NumHeader = 6;
  const size_t At = NumHeader * sizeof(uint32_t) +
                    numberAt<uint32_t>(Note, (1 + Number) * sizeof(uint32_t));
  if (At >= Note.size())
    return {};
  const std::string_view Text(reinterpret_cast<const char *>(Note.data()) + At,
                              Note.size() - At);
  return Text.substr(0, Text.find('\0'));
}

/// The words of ptxas's command line; none if another tool has made the code.
static std::vector<std::string> toolOptions(std::span<const uint8_t> Note) {
  constexpr unsigned Tool = 1, CommandLine = 4;
  std::vector<std::string> Words;
  if (textOf(Note, Tool) != "ptxas")
    return Words;
  std::string_view Text = textOf(Note, CommandLine);
  while (!Text.empty()) {
    const size_t End = std::min(Text.find(' '), Text.size());
    if (End)
      Words.emplace_back(Text.substr(0, End));
    Text.remove_prefix(std::min(End + 1, Text.size()));
  }
  return Words;
}

/// The machine code that the driver takes, unpacked: of a fat binary, or the
/// cubin itself.
static std::string machineCode(const void *Code, unsigned Architecture) {
  const std::vector<FatEntry> Entries = fatEntries(Code);
  if (const FatEntry *Taken = taken(Entries, Architecture)) {
    auto Bytes = unpack(*Taken);
    auto *Cubin = std::get_if<std::string>(&Bytes);
    return Cubin ? std::move(*Cubin) : std::string();
  }
  if (!Entries.empty() || !Code ||
      looksLikePTX(static_cast<const char *>(Code)))
    return {};
  const std::span<const uint8_t> Cubin = findCubin(Code, 0, 0);
  return {reinterpret_cast<const char *>(Cubin.data()), Cubin.size()};
}

static std::optional<CubinImage> parsed(const std::string &Cubin) {
  auto Result = CubinImage::parse(
      {reinterpret_cast<const uint8_t *>(Cubin.data()), Cubin.size()});
  auto *Image = std::get_if<CubinImage>(&Result);
  return Image ? std::optional(std::move(*Image)) : std::nullopt;
}

std::optional<CubinOrigin> originOfMachineCode(const void *Code,
                                               unsigned Architecture) {
  const std::string Cubin = machineCode(Code, Architecture);
  const std::optional<CubinImage> Image = parsed(Cubin);
  if (!Image)
    return std::nullopt;
  CubinOrigin Origin;
  Origin.Options = toolOptions(Image->note(NoteOfTool));
  // A version, then the number. Its suffix is that of the machine code.
  Origin.Virtual.Number =
      numberAt<uint16_t>(Image->note(NoteOfCuda), sizeof(uint16_t));
  const auto Word = std::ranges::find(Origin.Options, "-arch");
  if (Word != Origin.Options.end() && Word + 1 != Origin.Options.end() &&
      !Word[1].empty() && std::isalpha((unsigned char)Word[1].back()))
    Origin.Virtual.Suffix = Word[1].back();
  // Older tools write no notes.
  if (Origin.Virtual.Number == 0)
    if (const auto Entries = fatEntries(Code);
        const FatEntry *Taken = taken(Entries, Architecture))
      Origin.Virtual.Number = Taken->Architecture;
  return Origin;
}

std::vector<std::string> kernelsOfMachineCode(const void *Code,
                                              unsigned Architecture) {
  std::vector<std::string> Names;
  const std::string Cubin = machineCode(Code, Architecture);
  if (const std::optional<CubinImage> Image = parsed(Cubin))
    for (const CubinImage::Symbol &S : Image->symbols())
      if (S.IsKernel)
        Names.emplace_back(S.Name);
  return Names;
}

bool canRun(const void *Code, unsigned Architecture) {
  const std::string Cubin = machineCode(Code, Architecture);
  const std::optional<CubinImage> Image = parsed(Cubin);
  return Image &&
         std::ranges::any_of(Image->symbols(), &CubinImage::Symbol::IsFunction);
}

bool isRelocatable(const void *Code) {
  if (!Code || looksLikePTX(static_cast<const char *>(Code)))
    return false;
  return std::ranges::none_of(fatEntries(Code), [](const FatEntry &E) {
    return E.What == FatEntry::Kind::PTX;
  });
}

static std::string trimmed(std::string Text) {
  // Trailing zeros: C strings in fat binaries.
  Text.erase(std::find(Text.begin(), Text.end(), '\0'), Text.end());
  return Text;
}

static std::string whyNone(const std::vector<FatEntry> &Entries,
                           unsigned Architecture) {
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

std::variant<std::vector<std::string>, std::string>
findPTX(const void *Code, unsigned Architecture) {
  std::vector<std::string> Texts;
  std::vector<FatEntry> Entries = fatEntries(Code);
  if (Entries.empty() && Code && looksLikePTX(static_cast<const char *>(Code)))
    return std::vector{std::string(static_cast<const char *>(Code))};

  if (const FatEntry *E = best(Entries, FatEntry::Kind::PTX, Architecture)) {
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
    const FatEntry *E = best(Inner, FatEntry::Kind::PTX, Architecture);
    if (!E || E->Architecture > Architecture)
      continue;
    auto Text = unpack(*E);
    if (auto *PTX = std::get_if<std::string>(&Text))
      Texts.push_back(trimmed(std::move(*PTX)));
  }
  if (Texts.empty())
    Texts = ptxInCubins(Entries, Architecture);
  if (Texts.empty() && Entries.empty())
    Texts = ptxInCubin(findCubin(Code, Architecture / 10, Architecture % 10));
  if (Texts.empty())
    return whyNone(Entries, Architecture);
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

std::string Target::digits() const {
  return std::to_string(Number) + (Suffix ? std::string(1, Suffix) : "");
}

Target targetIn(std::string_view PTX) {
  constexpr std::string_view Keyword = ".target sm_";
  Target T;
  const size_t At = PTX.find(Keyword);
  if (At == PTX.npos)
    return T;
  const char *End = PTX.data() + PTX.size();
  const auto Read =
      std::from_chars(PTX.data() + At + Keyword.size(), End, T.Number);
  if (Read.ptr != End && (*Read.ptr == 'a' || *Read.ptr == 'f'))
    T.Suffix = *Read.ptr;
  return T;
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

} // namespace crsan
