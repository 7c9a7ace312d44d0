// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a multiprocessor has written.
//
// While multiprocessors run side by side, global memory does not change: each
// writes to a buffer of its own and reads through it.
#ifndef CRSAN_SIM_STOREBUFFER_H
#define CRSAN_SIM_STOREBUFFER_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace crsan::sim {

class StoreBuffer {
public:
  /// Where to read or write these bytes of global memory. Good until the next
  /// call.
  uint8_t *at(uint64_t Address, uint32_t Size, bool IsRead, bool IsWrite) {
    const uint64_t Number = Address / LineBytes;
    const uint32_t Offset = Address % LineBytes;
    if (Number != Known || Offset + Size > LineBytes) [[unlikely]] {
      if (Outside.Size)
        takeOutside();
      if (Offset + Size > LineBytes)
        return outside(Address, Size, IsRead, IsWrite);
      Known = Number;
      KnownLine = find(Number);
    }
    if (KnownLine == None) {
      if (!IsWrite)
        return reinterpret_cast<uint8_t *>(Address);
      KnownLine = insert(Number);
    }
    Line &L = Lines[KnownLine];
    const Mask Wanted = maskOf(Offset, Size);
    if (IsRead && (L.Written & Wanted) != Wanted) {
      if (!IsWrite && !(L.Written & Wanted))
        return reinterpret_cast<uint8_t *>(Address);
      fill(L, Offset, Size);
    }
    if (IsWrite)
      L.Written |= Wanted;
    return L.Bytes + Offset;
  }
  /// Any number of bytes.
  void read(void *To, uint64_t From, size_t Size);
  void write(uint64_t To, const void *From, size_t Size);

  /// Writes all to memory; empty afterwards.
  void commit();

private:
  static constexpr uint32_t LineBytes = 64, None = ~0u;
  using Mask = uint64_t; ///< A bit a byte.

  struct Line {
    uint64_t Number = 0;
    uint32_t Slot = 0;
    Mask Written = 0;
    uint8_t Bytes[LineBytes]; ///< Those that are not written: of no meaning.
  };

  static Mask maskOf(uint32_t Offset, uint32_t Size) {
    return ~Mask(0) >> (LineBytes - Size) << Offset;
  }
  uint32_t slotOf(uint64_t Number) const {
    return uint32_t(Number * 0x9E37'79B9'7F4A'7C15 >> 32) &
           uint32_t(Slots.size() - 1);
  }
  uint32_t find(uint64_t Number) const {
    if (Lines.empty())
      return None;
    for (uint32_t S = slotOf(Number); Slots[S] != None;
         S = (S + 1) & uint32_t(Slots.size() - 1))
      if (Lines[Slots[S]].Number == Number)
        return Slots[S];
    return None;
  }
  uint32_t insert(uint64_t Number);
  void place(uint32_t Index);
  static void fill(Line &L, uint32_t Offset, uint32_t Size);
  static void commit(const Line &L);

  /// An access that lies in two lines has its bytes here; if it writes, they
  /// are taken over before anything else is looked at.
  struct Straddling {
    uint64_t Address = 0;
    uint32_t Size = 0; ///< 0: nothing to take over.
    uint8_t Bytes[LineBytes];
  };
  uint8_t *outside(uint64_t Address, uint32_t Size, bool IsRead, bool IsWrite);
  void takeOutside();

  std::vector<Line> Lines;       ///< In order of the first write.
  std::vector<uint32_t> Slots;   ///< Hash table of lines; a power of two.
  uint64_t Known = ~uint64_t(0); ///< Number of the last line looked for.
  uint32_t KnownLine = None;
  Straddling Outside;
};

} // namespace crsan::sim

#endif // CRSAN_SIM_STOREBUFFER_H
