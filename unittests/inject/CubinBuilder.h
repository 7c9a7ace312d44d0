// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cubins for tests.
#ifndef CRSAN_UNITTESTS_INJECT_CUBINBUILDER_H
#define CRSAN_UNITTESTS_INJECT_CUBINBUILDER_H

#include "crsan/abi/Config.h"
#include "crsan/abi/Names.h"
#include "crsan/abi/SiteTable.h"
#include "crsan/abi/Version.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace crsan {

using Bytes = std::vector<uint8_t>;

/// Builds a small ELF file as ptxas lays it out: initialised objects in one
/// section, zeroed ones in another, kernels in a third.
class CubinBuilder {
public:
  static constexpr uint64_t ZeroSize = 1 << 20;

  void addObject(const std::string &Name, const Bytes &Content) {
    add(Name, DataSection, Data.size(), Content.size(), STT_OBJECT, 0);
    Data.insert(Data.end(), Content.begin(), Content.end());
  }
  void addZeroed(const std::string &Name, uint64_t Size) {
    add(Name, ZeroSection, 0, Size, STT_OBJECT, 0);
  }
  void addManaged(const std::string &Name, uint64_t Size) {
    add(Name, ZeroSection, 0, Size, STT_OBJECT, 4);
  }
  void addKernel(const std::string &Name) {
    add(Name, CodeSection, 0, 16, STT_FUNC, 0x10);
  }
  void addDeviceFunction(const std::string &Name) {
    add(Name, CodeSection, 0, 16, STT_FUNC, 0);
  }

  Bytes build() const {
    Bytes File(sizeof(Elf64_Ehdr));
    std::vector<Elf64_Shdr> Sections(6);
    auto Place = [&](unsigned Index, uint32_t Type, const void *Start,
                     size_t Size, uint64_t EntrySize) {
      Elf64_Shdr &S = Sections[Index];
      S.sh_type = Type;
      S.sh_offset = File.size();
      S.sh_size = Size;
      S.sh_entsize = EntrySize;
      if (Type == SHT_NOBITS)
        return;
      File.resize(File.size() + Size);
      if (Size)
        std::memcpy(File.data() + S.sh_offset, Start, Size);
    };
    Bytes Code(16);
    Place(StringSection, SHT_STRTAB, Strings.data(), Strings.size(), 0);
    Place(SymbolSection, SHT_SYMTAB, Symbols.data(),
          Symbols.size() * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
    Sections[SymbolSection].sh_link = StringSection;
    Place(DataSection, SHT_PROGBITS, Data.data(), Data.size(), 0);
    Sections[DataSection].sh_flags = SHF_WRITE | SHF_ALLOC;
    Place(CodeSection, SHT_PROGBITS, Code.data(), Code.size(), 0);
    Place(ZeroSection, SHT_NOBITS, nullptr, ZeroSize, 0);
    Sections[ZeroSection].sh_flags = SHF_WRITE | SHF_ALLOC;

    Elf64_Ehdr Header{};
    std::memcpy(Header.e_ident, ELFMAG, SELFMAG);
    Header.e_ident[EI_CLASS] = ELFCLASS64;
    Header.e_ident[EI_DATA] = ELFDATA2LSB;
    Header.e_machine = 190;
    Header.e_shoff = File.size();
    Header.e_shentsize = sizeof(Elf64_Shdr);
    Header.e_shnum = uint16_t(Sections.size());
    std::memcpy(File.data(), &Header, sizeof(Header));
    size_t End = File.size();
    File.resize(End + Sections.size() * sizeof(Elf64_Shdr));
    std::memcpy(File.data() + End, Sections.data(),
                Sections.size() * sizeof(Elf64_Shdr));
    return File;
  }

private:
  enum {
    StringSection = 1,
    SymbolSection,
    DataSection,
    CodeSection,
    ZeroSection
  };

  void add(const std::string &Name, uint16_t Section, uint64_t Value,
           uint64_t Size, unsigned char Type, unsigned char Other) {
    Elf64_Sym Symbol{};
    Symbol.st_name = uint32_t(Strings.size());
    Symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, Type);
    Symbol.st_other = Other;
    Symbol.st_shndx = Section;
    Symbol.st_value = Value;
    Symbol.st_size = Size;
    Symbols.push_back(Symbol);
    Strings += Name + '\0';
  }

  std::string Strings = std::string(1, '\0');
  std::vector<Elf64_Sym> Symbols{Elf64_Sym{}};
  Bytes Data;
};

/// The configuration in an image that crsan-ptxas has assembled.
inline Bytes makeConfig() {
  abi::Config Config = {};
  Config.Assembled = abi::AssembledMark;
  Bytes Content(sizeof(Config));
  std::memcpy(Content.data(), &Config, sizeof(Config));
  return Content;
}

/// The bytes of a site table whose sites all are at file.cu, lines 10, 11, ...
inline Bytes makeTable(uint64_t Unit, uint32_t NumSites,
                       const std::vector<std::string> &Kernels,
                       uint32_t Flags = 0, uint32_t Version = abi::Version) {
  std::string Strings = std::string(1, '\0');
  auto Intern = [&](const std::string &Text) {
    uint32_t Offset = uint32_t(Strings.size());
    Strings += Text + '\0';
    return Offset;
  };
  uint32_t File = Intern("file.cu"), Function = Intern("_Z1fPi");
  std::vector<uint32_t> Names;
  for (const std::string &Kernel : Kernels)
    Names.push_back(Intern(Kernel));
  Names.push_back(Function);

  abi::ModuleHeader Header{};
  Header.Magic = abi::Magic;
  Header.Version = Version;
  Header.Unit = Unit;
  Header.NumSites = NumSites;
  Header.NumWindows = NumSites;
  Header.NumFrames = NumSites;
  Header.NumKernels = uint32_t(Kernels.size());
  Header.NumFunctions = uint32_t(Names.size());
  Header.StringSize = uint32_t(Strings.size());
  Header.Flags = Flags;

  Bytes Table;
  auto Append = [&Table](const auto &Value) {
    const auto *Start = reinterpret_cast<const uint8_t *>(&Value);
    Table.insert(Table.end(), Start, Start + sizeof(Value));
  };
  Append(Header);
  for (uint32_t I = 0; I < NumSites; ++I) {
    abi::SiteEntry Entry{};
    Entry.Id = Unit * 1000 + I;
    Entry.Frame = I;
    Entry.MemorySpace = abi::Space::Global;
    Entry.Size = 4;
    Append(Entry);
  }
  for (uint32_t I = 0; I < NumSites; ++I)
    Append(abi::Frame{Function, File, 10 + I, 3, abi::NoFrame});
  for (uint32_t I = 0; I < Header.NumWindows; ++I)
    Append(uint32_t(1));
  for (uint32_t Name : Names)
    Append(Name);
  Table.insert(Table.end(), Strings.begin(), Strings.end());
  return Table;
}

} // namespace crsan

#endif // CRSAN_UNITTESTS_INJECT_CUBINBUILDER_H
