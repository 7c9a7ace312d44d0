// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of a cubin.

#include "MachineCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"

using namespace llvm;
using object::ELF64LE;

namespace crsan::assembler {

Expected<std::vector<MachineFunction>>
functionsOf(MutableArrayRef<uint8_t> Object) {
  auto File = object::ELFFile<ELF64LE>::create(toStringRef(Object));
  if (!File)
    return File.takeError();
  if (File->getHeader().e_ident[ELF::EI_CLASS] != ELF::ELFCLASS64 ||
      !File->getHeader().checkMagic())
    return createStringError("not a 64-bit ELF file");
  auto Sections = File->sections();
  if (!Sections)
    return Sections.takeError();
  std::vector<MachineFunction> Functions;
  for (const ELF64LE::Shdr &Section : *Sections) {
    if (Section.sh_type != ELF::SHT_PROGBITS)
      continue;
    Expected<StringRef> Name = File->getSectionName(Section);
    if (!Name)
      return Name.takeError();
    if (!Name->consume_front(".text."))
      continue;
    Expected<ArrayRef<uint8_t>> Bytes = File->getSectionContents(Section);
    if (!Bytes)
      return Bytes.takeError();
    Functions.emplace_back(
        *Name, Object.slice(Bytes->begin() - Object.begin(), Bytes->size()));
  }
  return Functions;
}

} // namespace crsan::assembler
