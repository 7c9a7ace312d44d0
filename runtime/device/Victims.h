//===- Victims.h - What cells have forgotten --------------------*- C++ -*-===//
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
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_VICTIMS_H
#define CRSAN_DEVICE_VICTIMS_H

#include "Races.h"

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

  /// Nobody, if another word has the place.
  DEVICE Accessor at(uint32_t Way) const {
    // Written by another thread meanwhile, the two do not belong together.
    const uint64_t A = loadRelaxed(Set[Way].Accessor);
    return Accessor((loadRelaxed(Set[Way].Mixed) ^ Key) == A ? A : 0);
  }

  /// In the place of an earlier one of the site, if there is one.
  DEVICE void add(Accessor A, uint32_t Floor) const {
    uint32_t Way = mix(A.site() ^ A.warp() << 8) % VictimWays;
#pragma unroll 1
    for (uint32_t I = 0; I < VictimWays; ++I) {
      const Accessor Old = at(I);
      if (Old.site() == A.site() && Old.bytes() == A.bytes()) {
        Way = I;
        break;
      }
      if (Accessor(loadRelaxed(Set[I].Accessor)).clock() < Floor)
        Way = I;
    }
    storeRelaxed(Set[Way].Accessor, A.Bits);
    storeRelaxed(Set[Way].Mixed, A.Bits ^ Key);
  }
};

} // namespace crsan::device

#endif // CRSAN_DEVICE_VICTIMS_H
