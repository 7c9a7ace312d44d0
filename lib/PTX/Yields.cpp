//===- Yields.cpp - Hints to let other lanes go first ---------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Yields.h"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>

namespace crsan::ptx {

namespace {

/// The lower half of an instruction, on sm_70 and later.
constexpr uint64_t Yield = 0x7946, Nop = 0x7918;
constexpr size_t InstructionBytes = 16;

template <typename T>
std::optional<T> readAt(std::span<const char> Object, uint64_t Offset) {
  T Value;
  if (Offset > Object.size() || Object.size() - Offset < sizeof(T))
    return std::nullopt;
  std::memcpy(&Value, Object.data() + Offset, sizeof(T));
  return Value;
}

} // namespace

unsigned
removeYields(std::span<char> Object,
             const std::function<bool(std::string_view Function)> &IsWanted) {
  const auto Header = readAt<Elf64_Ehdr>(Object, 0);
  if (!Header || std::memcmp(Header->e_ident, ELFMAG, SELFMAG) != 0 ||
      Header->e_ident[EI_CLASS] != ELFCLASS64 ||
      Header->e_shentsize != sizeof(Elf64_Shdr))
    return 0;
  auto Section = [&](unsigned I) {
    return readAt<Elf64_Shdr>(Object, Header->e_shoff + I * sizeof(Elf64_Shdr));
  };
  const auto Names = Section(Header->e_shstrndx);
  if (!Names)
    return 0;
  unsigned Removed = 0;
  for (unsigned I = 0; I < Header->e_shnum; ++I) {
    const auto S = Section(I);
    if (!S || S->sh_type != SHT_PROGBITS || S->sh_offset > Object.size() ||
        S->sh_size > Object.size() - S->sh_offset)
      continue;
    const uint64_t NameAt = Names->sh_offset + S->sh_name;
    if (NameAt >= Object.size())
      continue;
    constexpr std::string_view Prefix = ".text.";
    const std::string_view Rest(Object.data() + NameAt, Object.size() - NameAt);
    const std::string_view Name = Rest.substr(0, Rest.find('\0'));
    if (!Name.starts_with(Prefix) || !IsWanted(Name.substr(Prefix.size())))
      continue;
    for (uint64_t At = S->sh_offset;
         At + InstructionBytes <= S->sh_offset + S->sh_size;
         At += InstructionBytes)
      if (*readAt<uint64_t>(Object, At) == Yield) {
        std::memcpy(Object.data() + At, &Nop, sizeof(Nop));
        ++Removed;
      }
  }
  return Removed;
}

} // namespace crsan::ptx
