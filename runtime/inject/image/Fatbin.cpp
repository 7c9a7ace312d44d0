// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The images in what a program loads.

#include "image/Fatbin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace crsan {

namespace {
/// What the compiler makes of a fat binary in a host program
/// (fatbinary_section.h).
struct Wrapper {
  uint32_t Magic, Version;
  const void *Data;
  /// Version 2: the fat binaries that were linked, ended by a null.
  const void *const *Prelinked;
};
constexpr uint32_t LinkedVersion = 2;
constexpr uint32_t WrapperMagic = 0x466243b1;

struct FatHeader {
  uint32_t Magic;
  uint16_t Version, HeaderSize;
  uint64_t Size; ///< Of all entries.
};
static_assert(sizeof(FatHeader) == 16);
constexpr uint32_t FatMagic = 0xba55ed50;

struct Entry {
  uint16_t Kind, Version;
  uint32_t HeaderSize;
  uint64_t Size;
  uint32_t CompressedSize, Unknown;
  uint16_t Minor, Major;
  uint32_t Architecture; ///< 90 for sm_90.
};
static_assert(sizeof(Entry) == 32);
constexpr uint16_t KindPTX = 1, KindElf = 2;

/// What follows an Entry if its header is long enough.
struct EntryTail {
  uint32_t NameOffset, NameSize;
  uint64_t Flags;
  uint64_t Zero;
  uint64_t PlainSize;
};
static_assert(sizeof(EntryTail) == 32);
constexpr uint64_t FlagLZ4 = 0x2000, FlagZstandard = 0x8000;
} // namespace

template <typename T> static T readFrom(const uint8_t *Where) {
  T Value;
  std::memcpy(&Value, Where, sizeof(T));
  return Value;
}

/// A cubin says its size nowhere; it ends with whatever comes last in it.
static std::span<const uint8_t> wholeElf(const uint8_t *Start) {
  auto Header = readFrom<Elf64_Ehdr>(Start);
  uint64_t End = Header.e_shoff + uint64_t(Header.e_shnum) * sizeof(Elf64_Shdr);
  End = std::max(End, Header.e_phoff +
                          uint64_t(Header.e_phnum) * sizeof(Elf64_Phdr));
  for (unsigned I = 0; I < Header.e_shnum; ++I) {
    auto Section =
        readFrom<Elf64_Shdr>(Start + Header.e_shoff + I * sizeof(Elf64_Shdr));
    if (Section.sh_type != SHT_NOBITS)
      End = std::max(End, Section.sh_offset + Section.sh_size);
  }
  return {Start, End};
}

static bool isElf(const uint8_t *Start) {
  return std::memcmp(Start, ELFMAG, SELFMAG) == 0;
}

static FatEntry readEntry(const Entry &E, const uint8_t *Header) {
  FatEntry Result;
  Result.What = E.Kind == KindPTX   ? FatEntry::Kind::PTX
                : E.Kind == KindElf ? FatEntry::Kind::Cubin
                                    : FatEntry::Kind::Other;
  Result.Architecture = E.Architecture;
  Result.Body = {Header + E.HeaderSize, E.Size};
  Result.PlainSize = E.Size;
  if (E.HeaderSize < sizeof(Entry) + sizeof(EntryTail) || !E.CompressedSize)
    return Result;
  auto Tail = readFrom<EntryTail>(Header + sizeof(Entry));
  Result.Packed = Tail.Flags & FlagZstandard ? FatEntry::Packing::Zstandard
                  : Tail.Flags & FlagLZ4     ? FatEntry::Packing::LZ4
                                             : FatEntry::Packing::Unknown;
  Result.PlainSize = Tail.PlainSize;
  if (E.CompressedSize <= E.Size)
    Result.Body = Result.Body.first(E.CompressedSize);
  return Result;
}

/// The fat binary, or what else was given, behind a wrapper if there is one.
static const uint8_t *unwrap(const void *Code) {
  const auto *Start = static_cast<const uint8_t *>(Code);
  if (Start && readFrom<uint32_t>(Start) == WrapperMagic)
    return static_cast<const uint8_t *>(readFrom<Wrapper>(Start).Data);
  return Start;
}

std::vector<FatEntry> fatEntries(const void *Code) {
  std::vector<FatEntry> Entries;
  const uint8_t *Start = unwrap(Code);
  if (!Start || readFrom<uint32_t>(Start) != FatMagic)
    return Entries;
  auto Header = readFrom<FatHeader>(Start);
  const uint8_t *At = Start + Header.HeaderSize, *End = At + Header.Size;
  while (size_t(End - At) >= sizeof(Entry)) {
    auto E = readFrom<Entry>(At);
    size_t Left = size_t(End - At);
    if (E.HeaderSize < sizeof(Entry) || E.HeaderSize > Left ||
        E.Size > Left - E.HeaderSize)
      break;
    Entries.push_back(readEntry(E, At));
    At += E.HeaderSize + E.Size;
  }
  return Entries;
}

bool isWholeImage(std::span<const uint8_t> Bytes) {
  constexpr size_t Least = sizeof(Elf64_Ehdr);
  if (Bytes.size() < Least)
    return false;
  const auto Magic = readFrom<uint32_t>(Bytes.data());
  if (Magic == FatMagic) {
    const auto Header = readFrom<FatHeader>(Bytes.data());
    return Header.HeaderSize >= sizeof(Header) &&
           Header.Size <= Bytes.size() - Header.HeaderSize;
  }
  if (!isElf(Bytes.data()))
    return Magic != WrapperMagic;
  const auto Header = readFrom<Elf64_Ehdr>(Bytes.data());
  const uint64_t Sections = uint64_t(Header.e_shnum) * sizeof(Elf64_Shdr);
  return Header.e_shoff <= Bytes.size() &&
         Sections <= Bytes.size() - Header.e_shoff &&
         wholeElf(Bytes.data()).size() <= Bytes.size();
}

std::vector<const void *> prelinkedFatbins(const void *Code) {
  std::vector<const void *> Fatbins;
  if (!Code ||
      readFrom<uint32_t>(static_cast<const uint8_t *>(Code)) != WrapperMagic)
    return Fatbins;
  auto W = readFrom<Wrapper>(static_cast<const uint8_t *>(Code));
  if (W.Version == LinkedVersion && W.Prelinked)
    for (const void *const *At = W.Prelinked; *At; ++At)
      Fatbins.push_back(*At);
  return Fatbins;
}

std::span<const uint8_t> findCubin(const void *Code, int Major, int Minor) {
  const uint8_t *Start = unwrap(Code);
  if (!Start)
    return {};
  if (isElf(Start))
    return wholeElf(Start);
  std::span<const uint8_t> Best;
  uint32_t BestArchitecture = 0;
  for (const FatEntry &E : fatEntries(Start)) {
    bool Runs =
        int(E.Architecture / 10) == Major && int(E.Architecture % 10) <= Minor;
    if (E.What != FatEntry::Kind::Cubin || !Runs ||
        E.Architecture <= BestArchitecture ||
        E.Body.size() < sizeof(Elf64_Ehdr))
      continue;
    BestArchitecture = E.Architecture;
    // A compressed body does not begin like an ELF file.
    Best = isElf(E.Body.data()) ? E.Body : std::span<const uint8_t>();
  }
  return Best;
}

} // namespace crsan
