// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accessors that cells have forgotten.
//
// A cell keeps one writer and one reader for four bytes. So of three lines that
// race with each other over a word, the third line finds the second only; and
// of two lanes that write the halves of a word, the second replaces the first.
// A check that takes a closer look (lookCloser) adds the accessors that it sees
// to a cache, the victims of the word, and is judged against those already
// there.
#ifndef CRSAN_DEVICE_METADATA_VICTIMS_H
#define CRSAN_DEVICE_METADATA_VICTIMS_H

#include "metadata/Shadow.h"

namespace crsan::device {

/// The victims of one word.
class Victims {
  uint64_t Key; ///< A key that no two words share.
  Victim *Set;

public:
  DEVICE explicit Victims(Address A) {
    // An address in shared memory is a different word in each block.
    const uint64_t Block = isOwnShared(A) ? linearBlock() + 1
                           : spaceOf(A) == Space::Shared
                               ? linearBlockOf(rankOf(A)) + 1
                               : 0;
    Key = (A & ~Address(3)) ^ Block << 48;
    // A bijection (MurmurHash3), so keys stay unique.
    Key = (Key ^ Key >> 33) * 0xff51afd7ed558ccd;
    Key = (Key ^ Key >> 33) * 0xc4ceb9fe1a85ec53;
    Key ^= Key >> 33;
    Set =
        table<Victim>(VictimsAt) + Key % (NumVictims / VictimWays) * VictimWays;
  }

  /// Four victims, from `First` on. A victim of another word reads as no
  /// access. `Old` marks those that may be replaced: at clocks below `Floor`
  /// or, of this word, below `Past`.
  struct Some {
    uint64_t Bits[4];
    uint32_t Old = 0;
    DEVICE Some(const Victims &V, uint32_t First, uint32_t Floor,
                uint32_t Past) {
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
        // If another thread has written the element meanwhile, the two halves
        // do not match.
        Bits[I] = (Mixed[I] ^ V.Key) == Bits[I] ? Bits[I] : 0;
        Old |= uint32_t(Bits[I] && Accessor(Bits[I]).clock() < Past) << I;
      }
    }
  };

  /// One victim; 0: there is none at this place.
  DEVICE Accessor at(uint32_t Way) const {
    uint64_t Bits, Mixed;
    asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];"
                 : "=l"(Bits), "=l"(Mixed)
                 : "l"(Set + Way)
                 : "memory");
    return Accessor((Mixed ^ Key) == Bits ? Bits : 0);
  }

  /// Removes all victims of the word.
  DEVICE void forget() const {
#pragma unroll 1
    for (uint32_t From = 0; From < VictimWays; From += 4) {
      const Some These(*this, From, /*Floor=*/0, /*Past=*/0);
#pragma unroll
      for (uint32_t I = 0; I < 4; ++I)
        if (These.Bits[I])
          storeRelaxed(Set[From + I].Accessor, 0);
    }
  }

  /// Adds an accessor. It replaces one of the same bytes, site and lane, or if
  /// two lanes have one of these bytes at that site, one of these two at
  /// random; else it takes a free element; else it replaces another accessor of
  /// the same bytes and the same site or lane. Lanes that write the bytes of a
  /// word add their accessors at the same time, and all find the same elements
  /// free: so each byte has a quarter of the set in which its accessors look
  /// for a free element first. Accesses at clocks below `Floor`
  /// cannot race with later ones, and neither can accesses of this word at
  /// clocks below `Past`.
  DEVICE void add(Accessor A, uint32_t Floor, uint32_t Past) const {
    constexpr uint32_t None = ~0u;
    const uint32_t Hash = mix(A.site() ^ A.warp() << 8 ^ A.lane() << 3);
    const uint32_t Wanted = (uint32_t(A.bytes()) * 4 + Hash % 4) % VictimWays;
    // How far `Way` is behind the wanted one.
    auto DistanceOf = [&](uint32_t Way) { return (Way - Wanted) % VictimWays; };
    uint32_t Same = None, First = None, Second = None, Free = None, Own = None;
#pragma unroll 1
    for (uint32_t From = 0; From < VictimWays; From += 4) {
      const Some These(*this, From, Floor, Past);
#pragma unroll
      for (uint32_t I = 0; I < 4; ++I) {
        const Accessor Old(These.Bits[I]);
        const uint64_t Change = Old.Bits ^ A.Bits;
        const bool IsAlike = !(Change & AccessorLayout::BytesMask);
        const bool IsOwn = IsAlike && !(Change & AccessorLayout::Who);
        const bool IsOfSite = IsAlike && !(Change & AccessorLayout::SiteMask);
        if (These.Old >> I & 1) {
          if (Free == None || DistanceOf(From + I) < DistanceOf(Free))
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
