//===- Convergence.cpp - Machine code that keeps warps together -----------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convergence.h"

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>

namespace crsan::ptx {

namespace {

constexpr size_t InstructionBytes = 16;

/// The lower half of an instruction; the upper one has modifiers, and which
/// results the instruction waits for.
using Word = uint64_t;

/// Without conditions.
constexpr Word Yield = 0x7946, Nop = 0x7918, EndCollective = 0x791b;

/// Of each of these, bits 16 to 19 name a convergence barrier register.
constexpr Word Bssy = 0x7945, Bsync = 0x7941;
constexpr unsigned BarrierShift = 16, NumBarriers = 16;

constexpr unsigned opcode(Word W) { return W & 0xfff; }
constexpr unsigned barrier(Word W) {
  return W >> BarrierShift & (NumBarriers - 1);
}
constexpr Word withBarrier(Word W, unsigned Barrier) {
  return (W & ~(Word(NumBarriers - 1) << BarrierShift)) | Word(Barrier)
                                                              << BarrierShift;
}
/// Whether control may go elsewhere than to the next instruction.
constexpr bool isBranch(Word W) {
  constexpr unsigned Bra = 0x947, BraToRegister = 0x949, Jmp = 0x94a,
                     JmpToRegister = 0x94c, CallToRegister = 0x943,
                     Call = 0x944, Exit = 0x94d, Ret = 0x950, Break = 0x942;
  const unsigned Op = opcode(W);
  for (const unsigned Leaving : {Bra, BraToRegister, Jmp, JmpToRegister,
                                 CallToRegister, Call, Exit, Ret, Break})
    if (Op == Leaving)
      return true;
  return false;
}

template <typename T>
std::optional<T> readAt(std::span<const char> Object, uint64_t Offset) {
  T Value;
  if (Offset > Object.size() || Object.size() - Offset < sizeof(T))
    return std::nullopt;
  std::memcpy(&Value, Object.data() + Offset, sizeof(T));
  return Value;
}

/// The instructions of a function.
class Code {
public:
  explicit Code(std::span<char> Bytes) : Bytes(Bytes) {}
  size_t size() const { return Bytes.size() / InstructionBytes; }
  Word operator[](size_t I) const {
    return *readAt<Word>(Bytes, I * InstructionBytes);
  }
  void set(size_t I, Word W) {
    std::memcpy(Bytes.data() + I * InstructionBytes, &W, sizeof(W));
  }

private:
  std::span<char> Bytes;
};

/// Calls `Do` with the name and the code of each function of an object file.
void forEachFunction(std::span<char> Object,
                     const std::function<void(std::string_view, Code)> &Do) {
  const auto Header = readAt<Elf64_Ehdr>(Object, 0);
  if (!Header || std::memcmp(Header->e_ident, ELFMAG, SELFMAG) != 0 ||
      Header->e_ident[EI_CLASS] != ELFCLASS64 ||
      Header->e_shentsize != sizeof(Elf64_Shdr))
    return;
  auto Section = [&](unsigned I) {
    return readAt<Elf64_Shdr>(Object, Header->e_shoff + I * sizeof(Elf64_Shdr));
  };
  const auto Names = Section(Header->e_shstrndx);
  if (!Names)
    return;
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
    if (Name.starts_with(Prefix))
      Do(Name.substr(Prefix.size()),
         Code(Object.subspan(S->sh_offset, S->sh_size)));
  }
}

/// If instruction `I` is a BSSY, the place of the BSYNC that ends its region,
/// provided that lanes of a parted warp gather in between and that nothing
/// else happens there.
std::optional<size_t> endOfGathering(const Code &C, size_t I) {
  if ((C[I] & 0xffff) != Bssy)
    return std::nullopt;
  bool HasCollective = false;
  for (size_t End = I + 1; End < C.size(); ++End) {
    const Word W = C[End];
    HasCollective |= (W & 0xffff) == EndCollective;
    if (opcode(W) == opcode(Bsync)) {
      // Counted in bytes, from the next instruction.
      const size_t Target = I + 1 + (C[I] >> 32) / InstructionBytes;
      if (HasCollective && (W & 0xffff) == Bsync &&
          barrier(W) == barrier(C[I]) && Target == End + 1)
        return End;
      return std::nullopt;
    }
    if (opcode(W) == opcode(Bssy) || isBranch(W))
      return std::nullopt;
  }
  return std::nullopt;
}

} // namespace

unsigned removeYields(std::span<char> Object, const FunctionFilter &IsWanted) {
  unsigned Removed = 0;
  forEachFunction(Object, [&](std::string_view Name, Code C) {
    if (!IsWanted(Name))
      return;
    for (size_t I = 0; I < C.size(); ++I)
      if (C[I] == Yield) {
        C.set(I, Nop);
        ++Removed;
      }
  });
  return Removed;
}

unsigned reserveGatherings(std::span<char> Object,
                           const FunctionFilter &IsWanted) {
  // Every use of a register begins with a BSSY.
  std::bitset<NumBarriers> Used;
  forEachFunction(Object, [&](std::string_view Name, Code C) {
    for (size_t I = 0; I < C.size(); ++I)
      if (opcode(C[I]) == opcode(Bssy) &&
          !(IsWanted(Name) && endOfGathering(C, I)))
        Used.set(barrier(C[I]));
  });
  unsigned Free = NumBarriers;
  while (Free > 0 && Used[Free - 1])
    --Free;
  if (Free == 0)
    return 0;
  unsigned Reserved = 0;
  forEachFunction(Object, [&](std::string_view Name, Code C) {
    if (!IsWanted(Name))
      return;
    for (size_t I = 0; I < C.size(); ++I)
      if (const auto End = endOfGathering(C, I)) {
        C.set(I, withBarrier(C[I], Free - 1));
        C.set(*End, withBarrier(C[*End], Free - 1));
        ++Reserved;
      }
  });
  return Reserved;
}

} // namespace crsan::ptx
