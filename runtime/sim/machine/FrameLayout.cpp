// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a function keeps what it declares.
#include "FrameLayout.h"

#include <algorithm>

using namespace crsan::sim;

Ref FrameLayout::newRow(unsigned Size) {
  uint32_t &Next = Fn.FrameBytes;
  if (!Size) {
    // Predicates are words: sixteen of them share a cache line.
    if (!PredicateRoom) {
      NextPredicate = Next;
      Next += 64;
      PredicateRoom = 16;
    }
    --PredicateRoom;
    Fn.Registers.push_back({NextPredicate, Rows::Frame, 0, true});
    NextPredicate += 4;
    return Fn.Registers.back();
  }
  Next = (Next + 31) / 32 * 32;
  Ref R{Next, Rows::Frame, uint8_t(Size), true};
  Next += Size * WarpSize;
  Fn.Registers.push_back(R);
  return R;
}

Ref FrameLayout::newFamily(unsigned Size, uint32_t Count) {
  // Predicates of a family are laid out one after the other, too.
  if (!Size)
    PredicateRoom = 0;
  const Ref First = newRow(Size);
  for (uint32_t N = 1; N < Count; ++N) {
    if (!Size && !PredicateRoom) {
      Fn.FrameBytes += 64; // Follows the last line, which is full.
      PredicateRoom = 16;
    }
    newRow(Size);
  }
  return First;
}

uint32_t FrameLayout::newLocal(uint64_t Size, uint32_t Align) {
  Align = std::max<uint32_t>(Align, 1);
  uint32_t At = (Fn.LocalBytes + Align - 1) / Align * Align;
  Fn.LocalBytes = uint32_t(At + Size);
  return At;
}
