// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a multiprocessor has written.
#include "StoreBuffer.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

using namespace crsan::sim;

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

void StoreBuffer::place(uint32_t Index) {
  Line &L = Lines[Index];
  L.Slot = slotOf(L.Number);
  while (Slots[L.Slot] != None)
    L.Slot = (L.Slot + 1) & uint32_t(Slots.size() - 1);
  Slots[L.Slot] = Index;
}

uint32_t StoreBuffer::insert(uint64_t Number) {
  const uint32_t Index = uint32_t(Lines.size());
  Lines.emplace_back().Number = Number;
  if (Lines.size() * 2 <= Slots.size()) {
    place(Index);
    return Index;
  }
  Slots.assign(std::max<size_t>(Slots.size() * 2, 64), None);
  for (uint32_t N = 0; N <= Index; ++N)
    place(N);
  return Index;
}

/// Bytes that nobody here has written, as they are in memory.
void StoreBuffer::fill(Line &L, uint32_t Offset, uint32_t Size) {
  const uint8_t *From = reinterpret_cast<const uint8_t *>(L.Number * LineBytes);
  for (uint32_t B = Offset; B < Offset + Size; ++B)
    if (!(L.Written >> B & 1))
      L.Bytes[B] = From[B];
}

void StoreBuffer::commit(const Line &L) {
  uint8_t *To = reinterpret_cast<uint8_t *>(L.Number * LineBytes);
  for (uint32_t Word = 0; Word < LineBytes; Word += 4) {
    const uint32_t Written = uint32_t(L.Written >> Word) & 15;
    if (Written == 15)
      std::memcpy(To + Word, L.Bytes + Word, 4);
    else
      for (uint32_t B = 0; Written >> B; ++B)
        if (Written >> B & 1)
          To[Word + B] = L.Bytes[Word + B];
  }
}

void StoreBuffer::commit() {
  if (Outside.Size)
    takeOutside();
  for (const Line &L : Lines) {
    commit(L);
    Slots[L.Slot] = None;
  }
  Lines.clear();
  Known = ~uint64_t(0);
  KnownLine = None;
}

//===----------------------------------------------------------------------===//
// More than a line
//===----------------------------------------------------------------------===//

void StoreBuffer::read(void *To, uint64_t From, size_t Size) {
  for (uint8_t *Out = static_cast<uint8_t *>(To); Size;) {
    const uint32_t Some =
        uint32_t(std::min<size_t>(Size, LineBytes - From % LineBytes));
    std::memcpy(Out, at(From, Some, true, false), Some);
    Out += Some;
    From += Some;
    Size -= Some;
  }
}

void StoreBuffer::write(uint64_t To, const void *From, size_t Size) {
  for (const uint8_t *In = static_cast<const uint8_t *>(From); Size;) {
    const uint32_t Some =
        uint32_t(std::min<size_t>(Size, LineBytes - To % LineBytes));
    std::memcpy(at(To, Some, false, true), In, Some);
    In += Some;
    To += Some;
    Size -= Some;
  }
}

uint8_t *StoreBuffer::outside(uint64_t Address, uint32_t Size, bool IsRead,
                              bool IsWrite) {
  assert(Size <= LineBytes && "no instruction moves so much at once");
  if (IsRead)
    read(Outside.Bytes, Address, Size);
  if (IsWrite) {
    Outside.Address = Address;
    Outside.Size = Size;
  }
  Known = ~uint64_t(0); // The next access looks here first.
  return Outside.Bytes;
}

void StoreBuffer::takeOutside() {
  uint32_t Size = std::exchange(Outside.Size, 0);
  write(Outside.Address, Outside.Bytes, Size);
}
