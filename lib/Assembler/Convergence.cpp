// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine code that keeps warps together.

#include "Convergence.h"
#include "llvm/ADT/STLExtras.h"
#include <bitset>
#include <optional>

using namespace llvm;

namespace crsan::assembler {

namespace {

/// The lower half of an instruction.
using Word = uint64_t;

/// Without a condition: all lanes execute the instruction.
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
bool isBranch(Word W) {
  constexpr unsigned Bra = 0x947, BraToRegister = 0x949, Jmp = 0x94a,
                     JmpToRegister = 0x94c, CallToRegister = 0x943,
                     Call = 0x944, Exit = 0x94d, Ret = 0x950, Break = 0x942;
  return is_contained({Bra, BraToRegister, Jmp, JmpToRegister, CallToRegister,
                       Call, Exit, Ret, Break},
                      opcode(W));
}

/// If instruction `I` is a BSSY, the index of the BSYNC that ends its region,
/// provided that the region is a place where lanes of a parted warp gather and
/// that it does nothing else.
std::optional<size_t> endOfGathering(const MachineFunction &F, size_t I) {
  if ((F[I] & 0xffff) != Bssy)
    return std::nullopt;
  bool HasCollective = false;
  for (size_t End = I + 1; End < F.size(); ++End) {
    const Word W = F[End];
    HasCollective |= (W & 0xffff) == EndCollective;
    if (opcode(W) == opcode(Bsync)) {
      // The operand of BSSY is the distance in bytes, from the next
      // instruction, to the end of the region.
      const size_t Target =
          I + 1 + (F[I] >> 32) / MachineFunction::InstructionBytes;
      if (HasCollective && (W & 0xffff) == Bsync &&
          barrier(W) == barrier(F[I]) && Target == End + 1)
        return End;
      return std::nullopt;
    }
    if (opcode(W) == opcode(Bssy) || isBranch(W))
      return std::nullopt;
  }
  return std::nullopt;
}

} // namespace

unsigned removeYields(MutableArrayRef<MachineFunction> Functions,
                      FunctionFilter IsWanted) {
  unsigned Removed = 0;
  for (MachineFunction &F : Functions) {
    if (!IsWanted(F.Name))
      continue;
    for (size_t I = 0; I < F.size(); ++I)
      if (F[I] == Yield) {
        F.set(I, Nop);
        ++Removed;
      }
  }
  return Removed;
}

Gatherings reserveGatherings(MutableArrayRef<MachineFunction> Functions,
                             FunctionFilter IsWanted) {
  struct Gathering {
    MachineFunction &In;
    size_t Begin, End;
  };
  std::vector<Gathering> All;
  // Every use of a register begins with a BSSY.
  std::bitset<NumBarriers> Used;
  for (MachineFunction &F : Functions)
    for (size_t I = 0; I < F.size(); ++I) {
      if (opcode(F[I]) != opcode(Bssy))
        continue;
      const auto End = IsWanted(F.Name) ? endOfGathering(F, I) : std::nullopt;
      if (End)
        All.push_back({F, I, *End});
      else
        Used.set(barrier(F[I]));
    }
  unsigned Free = NumBarriers;
  while (Free > 0 && Used[Free - 1])
    --Free;
  const unsigned Count = All.size();
  if (Free == 0)
    return {.Reserved = 0, .Shared = Count};
  for (const Gathering &G : All)
    for (const size_t I : {G.Begin, G.End})
      G.In.set(I, withBarrier(G.In[I], Free - 1));
  return {.Reserved = Count, .Shared = 0};
}

} // namespace crsan::assembler
