// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The symbols of a loaded device image.

#include "image/CubinImage.h"

#include <fmt/format.h>

#include <elf.h>

#include <cstring>

namespace crsan {

// NVIDIA's machine number, newer than some systems' elf.h.
static constexpr uint16_t MachineCuda = 190;
/// In st_other of a function: it is a kernel.
static constexpr uint8_t OtherEntry = 0x10;
/// And of a variable: it is in managed memory.
static constexpr uint8_t OtherManaged = 0x04;

template <typename T>
static T readAt(std::span<const uint8_t> Bytes, uint64_t Offset) {
  T Value;
  std::memcpy(&Value, Bytes.data() + Offset, sizeof(T));
  return Value;
}

std::variant<CubinImage, std::string>
CubinImage::parse(std::span<const uint8_t> Bytes) {
  CubinImage Image;
  Image.Bytes = Bytes;
  if (std::string Error = Image.readSections(); !Error.empty())
    return Error;
  for (const Section &S : Image.Sections)
    if (S.Type == SHT_SYMTAB)
      if (std::string Error = Image.readSymbols(S); !Error.empty())
        return Error;
  return Image;
}

std::string CubinImage::readSections() {
  if (Bytes.size() < sizeof(Elf64_Ehdr) ||
      std::memcmp(Bytes.data(), ELFMAG, SELFMAG) != 0)
    return "not an ELF file";
  auto Header = readAt<Elf64_Ehdr>(Bytes, 0);
  if (Header.e_ident[EI_CLASS] != ELFCLASS64 ||
      Header.e_ident[EI_DATA] != ELFDATA2LSB)
    return "not a 64-bit little-endian ELF file";
  if (Header.e_machine != MachineCuda)
    return fmt::format("an ELF file for machine {}, not for CUDA",
                       Header.e_machine);
  if (Header.e_shoff == 0)
    return "an ELF file without sections";
  if (Header.e_shentsize != sizeof(Elf64_Shdr))
    return "an ELF file with section headers of an unknown size";
  if (!holds(Header.e_shoff, sizeof(Elf64_Shdr)))
    return "an ELF file whose section headers lie outside it";
  // More sections than fit into the header: the first section says how many.
  uint64_t Count = Header.e_shnum;
  if (Count == 0)
    Count = readAt<Section>(Bytes, Header.e_shoff).Size;
  if (Count == 0 || Count > Bytes.size() / sizeof(Elf64_Shdr) ||
      !holds(Header.e_shoff, Count * sizeof(Elf64_Shdr)))
    return "an ELF file whose section headers lie outside it";
  Sections.resize(Count);
  std::memcpy(Sections.data(), Bytes.data() + Header.e_shoff,
              Count * sizeof(Section));
  return {};
}

std::string CubinImage::readSymbols(const Section &Table) {
  if (Table.EntrySize != sizeof(Elf64_Sym) ||
      !holds(Table.Offset, Table.Size) || Table.Link >= Sections.size())
    return "an ELF file with a damaged symbol table";
  const Section &Strings = Sections[Table.Link];
  if (Strings.Type != SHT_STRTAB || !holds(Strings.Offset, Strings.Size) ||
      Strings.Size == 0 || Bytes[Strings.Offset + Strings.Size - 1] != 0)
    return "an ELF file with a damaged string table";
  const auto *Text =
      reinterpret_cast<const char *>(Bytes.data() + Strings.Offset);
  for (uint64_t I = 0, E = Table.Size / sizeof(Elf64_Sym); I < E; ++I) {
    auto Raw = readAt<Elf64_Sym>(Bytes, Table.Offset + I * sizeof(Elf64_Sym));
    if (Raw.st_name == 0 || Raw.st_shndx == SHN_UNDEF ||
        Raw.st_shndx >= SHN_LORESERVE)
      continue;
    if (Raw.st_name >= Strings.Size)
      return "an ELF file with a symbol whose name lies outside it";
    Symbols.push_back({.Name = Text + Raw.st_name,
                       .Value = Raw.st_value,
                       .Size = Raw.st_size,
                       .Section = Raw.st_shndx,
                       .IsFunction = ELF64_ST_TYPE(Raw.st_info) == STT_FUNC,
                       .IsKernel = ELF64_ST_TYPE(Raw.st_info) == STT_FUNC &&
                                   (Raw.st_other & OtherEntry) != 0,
                       .IsManaged = ELF64_ST_TYPE(Raw.st_info) == STT_OBJECT &&
                                    (Raw.st_other & OtherManaged) != 0});
  }
  return {};
}

uint64_t CubinImage::writableBytes(const Symbol &S) const {
  if (S.IsFunction || S.Section == 0 || S.Section >= Sections.size())
    return 0;
  const Section &Home = Sections[S.Section];
  return Home.Flags & SHF_WRITE ? Home.Size : 0;
}

std::span<const uint8_t> CubinImage::note(uint32_t Type) const {
  constexpr std::string_view Owner = "NVIDIA Corp";
  const auto Aligned = [](uint64_t N) { return (N + 3) & ~uint64_t(3); };
  for (const Section &S : Sections) {
    if (S.Type != SHT_NOTE || !holds(S.Offset, S.Size))
      continue;
    std::span<const uint8_t> Rest = Bytes.subspan(S.Offset, S.Size);
    while (Rest.size() >= sizeof(Elf64_Nhdr)) {
      const auto Header = readAt<Elf64_Nhdr>(Rest, 0);
      const uint64_t Begin = sizeof(Header) + Aligned(Header.n_namesz);
      if (Begin + Header.n_descsz > Rest.size())
        break;
      if (Header.n_type == Type && Header.n_namesz == Owner.size() + 1 &&
          std::memcmp(Rest.data() + sizeof(Header), Owner.data(),
                      Owner.size()) == 0)
        return Rest.subspan(Begin, Header.n_descsz);
      Rest = Rest.subspan(
          std::min(Begin + Aligned(Header.n_descsz), uint64_t(Rest.size())));
    }
  }
  return {};
}

std::variant<std::span<const uint8_t>, std::string>
CubinImage::bytesOf(const Symbol &S) const {
  if (S.Section == 0 || S.Section >= Sections.size())
    return fmt::format("{} is in no section", S.Name);
  const Section &Home = Sections[S.Section];
  if (Home.Type == SHT_NOBITS)
    return fmt::format("{} has no bytes in the file", S.Name);
  uint64_t Offset = S.Value - Home.Address;
  if (S.Value < Home.Address || Offset > Home.Size ||
      S.Size > Home.Size - Offset || !holds(Home.Offset, Home.Size))
    return fmt::format("{} lies outside its section", S.Name);
  return Bytes.subspan(Home.Offset + Offset, S.Size);
}

} // namespace crsan
