// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an executable tells CUDA of its code.

#include "FatbinWrappers.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace crsan {

static constexpr uint32_t WrapperMagic = 0x466243b1;
static constexpr char SectionName[] = ".nvFatBinSegment";

namespace {
struct Section {
  uint64_t Address, Size;
};

/// Of the executable, as the loader has placed it.
struct Place {
  uint64_t Base = 0;
  std::vector<Section> Segments; ///< What is in memory.
};
} // namespace

template <typename T>
static bool readAt(std::ifstream &File, uint64_t Offset, T &Value) {
  return bool(File.seekg(std::streamoff(Offset)) &&
              File.read(reinterpret_cast<char *>(&Value), sizeof(T)));
}

/// The section, with its address in the file: sections are not loaded.
static std::optional<Section> findSection() {
  std::ifstream File("/proc/self/exe", std::ios::binary);
  Elf64_Ehdr Header;
  if (!readAt(File, 0, Header) ||
      std::memcmp(Header.e_ident, ELFMAG, SELFMAG) != 0 ||
      Header.e_ident[EI_CLASS] != ELFCLASS64)
    return std::nullopt;
  Elf64_Shdr Names, S;
  if (!readAt(File, Header.e_shoff + Header.e_shstrndx * sizeof(S), Names))
    return std::nullopt;
  for (unsigned I = 0; I < Header.e_shnum; ++I) {
    char Name[sizeof(SectionName)];
    if (readAt(File, Header.e_shoff + I * sizeof(S), S) &&
        readAt(File, Names.sh_offset + S.sh_name, Name) &&
        std::memcmp(Name, SectionName, sizeof(Name)) == 0)
      return Section{S.sh_addr, S.sh_size};
    File.clear(); // A name at the end of the file is shorter.
  }
  return std::nullopt;
}

static Place placeOfExecutable() {
  Place P;
  dl_iterate_phdr(
      [](dl_phdr_info *Object, size_t, void *Found) {
        auto &P = *static_cast<Place *>(Found);
        P.Base = Object->dlpi_addr;
        for (unsigned I = 0; I < Object->dlpi_phnum; ++I)
          if (const auto &S = Object->dlpi_phdr[I]; S.p_type == PT_LOAD)
            P.Segments.push_back({S.p_vaddr, S.p_filesz});
        return 1; // The executable comes first.
      },
      &P);
  return P;
}

std::vector<FatbinWrapper *> wrappersOfExecutable() {
  std::vector<FatbinWrapper *> Wrappers;
  const std::optional<Section> Found = findSection();
  const Place P = placeOfExecutable();
  if (!Found || std::ranges::none_of(P.Segments, [&](const Section &S) {
        return Found->Address >= S.Address &&
               Found->Address - S.Address <= S.Size &&
               Found->Size <= S.Size - (Found->Address - S.Address);
      }))
    return Wrappers;
  auto *Begin = reinterpret_cast<FatbinWrapper *>(P.Base + Found->Address);
  for (size_t I = 0; I < Found->Size / sizeof(FatbinWrapper); ++I)
    if (Begin[I].Magic == WrapperMagic && Begin[I].Data)
      Wrappers.push_back(Begin + I);
  return Wrappers;
}

bool replaceData(FatbinWrapper &Wrapper, const void *Data) {
  const auto Page = uint64_t(sysconf(_SC_PAGESIZE));
  const uint64_t Begin = uint64_t(&Wrapper) / Page * Page;
  // The section may be among those that the loader protects.
  if (mprotect(reinterpret_cast<void *>(Begin),
               uint64_t(&Wrapper) + sizeof(Wrapper) - Begin,
               PROT_READ | PROT_WRITE) != 0)
    return false;
  Wrapper.Data = Data;
  return true;
}

} // namespace crsan
