//===- Fatbin.cpp - The cubins in what a program loads --------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fatbin.h"

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
  void *Unused;
};
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
constexpr uint16_t KindElf = 2;
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

std::span<const uint8_t> findCubin(const void *Code, int Major, int Minor) {
  const auto *Start = static_cast<const uint8_t *>(Code);
  if (!Start)
    return {};
  if (readFrom<uint32_t>(Start) == WrapperMagic)
    Start = static_cast<const uint8_t *>(readFrom<Wrapper>(Start).Data);
  if (isElf(Start))
    return wholeElf(Start);
  if (readFrom<uint32_t>(Start) != FatMagic)
    return {};

  auto Header = readFrom<FatHeader>(Start);
  const uint8_t *At = Start + Header.HeaderSize, *End = At + Header.Size;
  std::span<const uint8_t> Best;
  uint32_t BestArchitecture = 0;
  while (size_t(End - At) >= sizeof(Entry)) {
    auto E = readFrom<Entry>(At);
    size_t Left = size_t(End - At);
    if (E.HeaderSize < sizeof(Entry) || E.HeaderSize > Left ||
        E.Size > Left - E.HeaderSize)
      break;
    const uint8_t *Body = At + E.HeaderSize;
    bool Runs =
        int(E.Architecture / 10) == Major && int(E.Architecture % 10) <= Minor;
    // A compressed body does not begin like an ELF file.
    if (E.Kind == KindElf && Runs && E.Size >= sizeof(Elf64_Ehdr) &&
        E.Architecture > BestArchitecture) {
      BestArchitecture = E.Architecture;
      Best = isElf(Body) ? std::span(Body, E.Size) : std::span<const uint8_t>();
    }
    At = Body + E.Size;
  }
  return Best;
}

} // namespace crsan
