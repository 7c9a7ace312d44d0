// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses that the compiler widened.
//
// PTX has no atomics on one byte, and LLVM uses none on two: it makes them of
// operations on the aligned word around the bytes,
//
//   and.b64 A, P, -4;                  // the word that holds the bytes at P
//   cvt.u32.u64 L, P; and.b32 O, L, 3; shl.b32 S, O, 3;
//   mov.b32 K, 65535; shl.b32 M, K, S; // the bytes in the word
//   ld.b32 V, [A];                     // a guess
//   atom.cas.b32 R, [A], ..., ...;     // until it succeeds
//
// and so does libcu++, with a strong load. Atomics that the GPU does not have
// are made of compare-and-swap, too, which also begins with a guess. None of
// that is an access of the source's to the neighbouring bytes, nor a plain one.
#ifndef CRSAN_SIM_IDIOMS_H
#define CRSAN_SIM_IDIOMS_H

#include "PTX/AST.h"

#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace crsan::sim {

/// What an instruction accesses by the source.
struct Intent {
  /// Nothing: it loads what the compare-and-swap that follows verifies.
  bool IsGuess = false;
  /// Register with the address of the bytes that are meant; empty: they are the
  /// first ones.
  std::string_view Address;
  uint8_t Size = 0;        ///< Bytes that are meant.
  bool MayBeWider = false; ///< Or more: the code does not tell.
};

/// Of one function.
class Idioms {
public:
  Idioms(const ptx::Function &F, const ptx::Module &In);

  /// Of a load or an atomic; nothing: it is what it says.
  std::optional<Intent> intentOf(const ptx::Instruction &I) const;

private:
  using Instruction = ptx::Instruction;
  void collect(const ptx::Block &B);
  const Instruction *definition(std::string_view Register) const;
  std::optional<uint64_t> constant(const ptx::Operand &O) const;
  std::string_view alignedFrom(std::string_view Register, unsigned Size) const;
  std::set<std::string_view> derivedFrom(std::string_view Register) const;
  std::optional<Intent> partOfWord(const Instruction &I,
                                   std::string_view Pointer) const;
  bool isSwapped(const ptx::Operand &Address) const;
  bool isOfOneLine(const Instruction &A, const Instruction &B) const;
  /// The load and the compare-and-swap that one atomic of the source became.
  const Instruction *partner(const Instruction &I) const;

  const ptx::Module &In;
  std::vector<const Instruction *> Code;
  /// Null: there are several.
  std::unordered_map<std::string_view, const Instruction *> Definitions;
  std::vector<const Instruction *> Swaps; ///< atom.cas
};

} // namespace crsan::sim

#endif // CRSAN_SIM_IDIOMS_H
