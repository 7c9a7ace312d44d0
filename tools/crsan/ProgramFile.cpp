// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program needs to run.
#include "ProgramFile.h"

#include <cstring>
#include <fstream>
#include <string_view>

#include <elf.h>

using namespace crsan;

namespace {
/// The few reads that are needed, each checked.
class Reader {
public:
  explicit Reader(const std::string &Path) : In(Path, std::ios::binary) {}

  template <typename T> bool at(uint64_t Offset, T &Value) {
    return bytes(Offset, reinterpret_cast<char *>(&Value), sizeof(T));
  }
  std::string text(uint64_t Offset) {
    char Buffer[512] = {};
    In.clear();
    In.seekg(std::streamoff(Offset));
    In.read(Buffer, sizeof(Buffer) - 1);
    return Buffer;
  }

private:
  bool bytes(uint64_t Offset, char *To, size_t Size) {
    In.clear();
    In.seekg(std::streamoff(Offset));
    return bool(In.read(To, std::streamsize(Size)));
  }

  std::ifstream In;
};
} // namespace

/// Where the bytes at an address of the loaded program are in the file.
static uint64_t offsetOf(Reader &In, const Elf64_Ehdr &Header,
                         uint64_t Address) {
  for (unsigned I = 0; I < Header.e_phnum; ++I) {
    Elf64_Phdr Segment;
    if (In.at(Header.e_phoff + I * sizeof(Segment), Segment) &&
        Segment.p_type == PT_LOAD && Address >= Segment.p_vaddr &&
        Address - Segment.p_vaddr < Segment.p_filesz)
      return Segment.p_offset + (Address - Segment.p_vaddr);
  }
  return 0;
}

static void readDynamic(Reader &In, const Elf64_Ehdr &Header,
                        const Elf64_Phdr &Dynamic, ProgramFile &Program) {
  uint64_t Strings = 0;
  std::vector<uint64_t> Needed;
  for (uint64_t At = 0; At + sizeof(Elf64_Dyn) <= Dynamic.p_filesz;
       At += sizeof(Elf64_Dyn)) {
    Elf64_Dyn Entry;
    if (!In.at(Dynamic.p_offset + At, Entry) || Entry.d_tag == DT_NULL)
      break;
    if (Entry.d_tag == DT_STRTAB)
      Strings = offsetOf(In, Header, Entry.d_un.d_ptr);
    else if (Entry.d_tag == DT_NEEDED)
      Needed.push_back(Entry.d_un.d_val);
    else if (Entry.d_tag == DT_RPATH)
      Program.HasOldRunPath = true;
  }
  if (Strings)
    for (uint64_t Offset : Needed)
      Program.Libraries.push_back(In.text(Strings + Offset));
}

static bool hasSection(Reader &In, const Elf64_Ehdr &Header,
                       std::string_view Name) {
  Elf64_Shdr Names;
  if (!In.at(Header.e_shoff + Header.e_shstrndx * sizeof(Names), Names))
    return false;
  for (unsigned I = 0; I < Header.e_shnum; ++I) {
    Elf64_Shdr Section;
    if (In.at(Header.e_shoff + I * sizeof(Section), Section) &&
        In.text(Names.sh_offset + Section.sh_name) == Name)
      return true;
  }
  return false;
}

std::optional<ProgramFile> ProgramFile::read(const std::string &Path) {
  Reader In(Path);
  Elf64_Ehdr Header;
  if (!In.at(0, Header) || std::memcmp(Header.e_ident, ELFMAG, SELFMAG) != 0 ||
      Header.e_ident[EI_CLASS] != ELFCLASS64 ||
      Header.e_phentsize != sizeof(Elf64_Phdr))
    return std::nullopt;
  ProgramFile Program;
  for (unsigned I = 0; I < Header.e_phnum; ++I) {
    Elf64_Phdr Segment;
    if (!In.at(Header.e_phoff + I * sizeof(Segment), Segment) ||
        Segment.p_type != PT_DYNAMIC)
      continue;
    Program.IsDynamic = true;
    readDynamic(In, Header, Segment, Program);
  }
  Program.HasDeviceCode = hasSection(In, Header, ".nvFatBinSegment");
  return Program;
}

std::string ProgramFile::cudaRuntime() const {
  for (const std::string &Library : Libraries)
    if (Library.starts_with("libcudart.so"))
      return Library;
  return {};
}
