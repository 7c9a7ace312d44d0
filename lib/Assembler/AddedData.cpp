// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is added to a module's PTX.

#include "AddedData.h"
#include "crsan/abi/Config.h"
#include "crsan/abi/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace crsan::assembler {

/// Whether the item is the definition of a configuration of this version.
static bool definesConfig(const ModuleItem &Item) {
  static const std::string Declarator =
      std::string(abi::ConfigName) + "[" + utostr(sizeof(abi::Config)) + "]";
  return Item.Linkage != ".extern" && Item.Name == abi::ConfigName &&
         Item.Signature.ends_with(Declarator) &&
         Item.Signature.size() + 1 == Item.Text.size();
}

std::optional<std::string> withMark(StringRef PTX) {
  Expected<std::vector<ModuleItem>> Module = readItems(PTX);
  if (!Module) {
    consumeError(Module.takeError());
    return std::nullopt;
  }
  const auto Config = find_if(*Module, definesConfig);
  if (Config == Module->end())
    return std::nullopt;
  std::string Text(PTX.begin(), Config->Signature.end());
  raw_string_ostream Out(Text);
  Out << " = {";
  static_assert(offsetof(abi::Config, Assembled) + sizeof(uint64_t) ==
                sizeof(abi::Config));
  for (size_t I = 0; I < offsetof(abi::Config, Assembled); ++I)
    Out << "0,";
  for (unsigned Byte = 0; Byte < sizeof(uint64_t); ++Byte)
    Out << (Byte ? "," : "") << (abi::AssembledMark >> (8 * Byte) & 0xff);
  Out << "}" << PTX.substr(Config->Signature.end() - PTX.begin());
  return Text;
}

#if !LLVM_ENABLE_ZSTD
#error "CRSan needs LLVM with zstd, to put PTX into relocatable code"
#endif

std::string withItself(StringRef PTX) {
  SmallVector<uint8_t, 0> Packed;
  compression::zstd::compress(arrayRefFromStringRef(PTX), Packed);
  std::string Text = PTX.str();
  raw_string_ostream Out(Text);
  // Weak: the same unit may be linked twice.
  Out << "\n.weak .global .align 8 .b8 " << abi::PTXPrefix
      << format_hex_no_prefix(xxh3_64bits(PTX), 16) << '[' << Packed.size()
      << "] = {";
  for (size_t I = 0; I < Packed.size(); ++I)
    Out << (I == 0 ? "" : I % 32 ? "," : ",\n") << unsigned(Packed[I]);
  Out << "};\n";
  return Text;
}

} // namespace crsan::assembler
