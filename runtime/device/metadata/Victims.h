//===- Victims.h - What cells have forgotten -------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cell has one writer and one reader for four bytes. So of three lines that
// race with each other over a word, the third finds the second alone; and of
// two lanes that write the halves of a word, the second takes the first one's
// place. Both are seen on the way to a closer look, which is rare enough for a
// cache of such accessors: who comes there is judged against them as well.
//
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_VICTIMS_H
#define CRSAN_DEVICE_METADATA_VICTIMS_H

#include "metadata/Races.h"

namespace crsan::device {

/// A compare-and-swap may have failed, but it has read.
DEVICE bool surelyWrites(const AccessSite &S) {
  return (S.Flags & WritesMemory) && !(S.Flags & IsSwap);
}

/// Those of one word.
class Victims {
  uint64_t Key; ///< No two words have the same.
  Victim *Set;

public:
  DEVICE explicit Victims(Address A) {
    // A place in shared memory is a word of each block.
    Key = (A & ~Address(3)) ^
          (spaceOf(A) == Space::Shared ? (linearBlock() + 1) << 48 : 0);
    // One to one (MurmurHash3).
    Key = (Key ^ Key >> 33) * 0xff51afd7ed558ccd;
    Key = (Key ^ Key >> 33) * 0xc4ceb9fe1a85ec53;
    Key ^= Key >> 33;
    Set =
        table<Victim>(VictimsAt) + Key % (NumVictims / VictimWays) * VictimWays;
  }

  /// Four of them, nobody where another word has the place. `Old`: which of
  /// those places are of the past.
  struct Some {
    uint64_t Bits[4];
    uint32_t Old = 0;
    DEVICE Some(const Victims &V, uint32_t First, uint32_t Floor) {
      uint64_t Mixed[4];
#pragma unroll
      for (uint32_t I = 0; I < 4; ++I)
        asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];"
                     : "=l"(Bits[I]), "=l"(Mixed[I])
                     : "l"(V.Set + First + I)
                     : "memory");
#pragma unroll
      for (uint32_t I = 0; I < 4; ++I) {
        Old |= uint32_t(Accessor(Bits[I]).clock() < Floor) << I;
        // Written by another thread meanwhile, the two do not belong together.
        Bits[I] = (Mixed[I] ^ V.Key) == Bits[I] ? Bits[I] : 0;
      }
    }
  };

  /// All of them.
  DEVICE void forget() const {
#pragma unroll 1
    for (uint32_t From = 0; From < VictimWays; From += 4) {
      const Some These(*this, From, /*Floor=*/0);
#pragma unroll
      for (uint32_t I = 0; I < 4; ++I)
        if (These.Bits[I])
          storeRelaxed(Set[From + I].Accessor, 0);
    }
  }

  /// In the place of an earlier one of the site and the thread, or of the site
  /// if two threads have one there: the last two, and none is preferred. If
  /// there is no room, of another one of the thread, for which this one stands
  /// as a rule.
  DEVICE void add(Accessor A, uint32_t Floor) const {
    constexpr uint32_t None = ~0u;
    const uint32_t Hash = mix(A.site() ^ A.warp() << 8 ^ A.lane() << 3);
    uint32_t Same = None, First = None, Second = None, Free = None, Own = None;
#pragma unroll 1
    for (uint32_t From = 0; From < VictimWays; From += 4) {
      const Some These(*this, From, Floor);
#pragma unroll
      for (uint32_t I = 0; I < 4; ++I) {
        const Accessor Old(These.Bits[I]);
        const uint64_t Change = Old.Bits ^ A.Bits;
        const bool IsOwn = (Change & AccessorLayout::Who) == 0;
        const bool IsOfSite =
            (Change & (AccessorLayout::SiteMask | AccessorLayout::BytesMask)) ==
            0;
        if (These.Old >> I & 1) {
          Free = From + I;
        } else if (!Old.isNobody()) {
          if (IsOwn)
            Own = From + I;
          if (IsOfSite && IsOwn)
            Same = From + I;
          if (IsOfSite) {
            Second = First;
            First = From + I;
          }
        }
      }
    }
    const uint32_t Way = Same != None     ? Same
                         : Second != None ? (Hash & 1 ? First : Second)
                         : Free != None   ? Free
                         : First != None  ? First
                         : Own != None    ? Own
                                          : Hash % VictimWays;
    storeRelaxed(Set[Way].Accessor, A.Bits);
    storeRelaxed(Set[Way].Mixed, A.Bits ^ Key);
  }
};

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_VICTIMS_H
