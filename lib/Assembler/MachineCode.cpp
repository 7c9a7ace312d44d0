// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of a cubin.

#include "MachineCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using object::ELF64LE;

namespace crsan::assembler {

Error changeFile(const std::string &Path,
                 function_ref<Error(MutableArrayRef<uint8_t>)> Change) {
  auto Buffer = WriteThroughMemoryBuffer::getFile(Path);
  if (!Buffer)
    return createStringError("cannot change '" + Path +
                             "': " + Buffer.getError().message());
  const MutableArrayRef<char> Bytes = (*Buffer)->getBuffer();
  return Change({reinterpret_cast<uint8_t *>(Bytes.data()), Bytes.size()});
}

/// Calls `Visit` with the contents of each section whose name begins with
/// `Prefix`, and with the rest of its name.
static Error
forSections(MutableArrayRef<uint8_t> Object, StringRef Prefix,
            function_ref<Error(StringRef, MutableArrayRef<uint8_t>)> Visit) {
  auto File = object::ELFFile<ELF64LE>::create(toStringRef(Object));
  if (!File)
    return File.takeError();
  if (File->getHeader().e_ident[ELF::EI_CLASS] != ELF::ELFCLASS64 ||
      !File->getHeader().checkMagic())
    return createStringError("not a 64-bit ELF file");
  auto Sections = File->sections();
  if (!Sections)
    return Sections.takeError();
  for (const ELF64LE::Shdr &Section : *Sections) {
    Expected<StringRef> Name = File->getSectionName(Section);
    if (!Name)
      return Name.takeError();
    if (!Name->consume_front(Prefix) || Section.sh_type == ELF::SHT_NOBITS)
      continue;
    Expected<ArrayRef<uint8_t>> Bytes = File->getSectionContents(Section);
    if (!Bytes)
      return Bytes.takeError();
    if (Error E = Visit(*Name, Object.slice(Bytes->begin() - Object.begin(),
                                            Bytes->size())))
      return E;
  }
  return Error::success();
}

Expected<std::vector<MachineFunction>>
functionsOf(MutableArrayRef<uint8_t> Object) {
  std::vector<MachineFunction> Functions;
  if (Error E = forSections(Object, ".text.",
                            [&](StringRef Name, auto Bytes) -> Error {
                              Functions.emplace_back(Name, Bytes);
                              return Error::success();
                            }))
    return std::move(E);
  return Functions;
}

Error setRegisterLimits(MutableArrayRef<uint8_t> Object,
                        function_ref<unsigned(StringRef Kernel)> Permitted) {
  // An attribute has a byte for its format, one for its kind, and 16 bits: its
  // value, or the size of a value that follows.
  constexpr uint8_t HasSize = 4, MaxRegisterCount = 0x1b;
  constexpr size_t Head = 4;
  return forSections(
      Object, ".nv.info.",
      [&](StringRef Kernel, MutableArrayRef<uint8_t> All) -> Error {
        while (All.size() >= Head) {
          const size_t Size =
              All[0] == HasSize ? support::endian::read16le(&All[2]) : 0;
          if (All[1] == MaxRegisterCount && All[0] != HasSize)
            support::endian::write16le(&All[2], Permitted(Kernel));
          if (All.size() - Head < Size)
            return createStringError("the attributes of '" + Kernel +
                                     "' are incomplete");
          All = All.drop_front(Head + Size);
        }
        return Error::success();
      });
}

} // namespace crsan::assembler
