//===- RacyWords.h - Who else accessed a word that races --------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cell has one writer and one reader, so that of three lines that race with
// each other over a word, the third finds the second alone. Words that have
// raced are few, and whoever races again comes to the runtime anyway: it finds
// here who raced before, and is judged against them as well.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_RACYWORDS_H
#define CRSAN_DEVICE_RACYWORDS_H

#include "Races.h"

namespace crsan::device {

/// A compare-and-swap may have failed, but it has read.
DEVICE bool surelyWrites(const AccessSite &S) {
  return (S.Flags & WritesMemory) && !(S.Flags & IsSwap);
}

/// The entry of the word that `A` is in, made if need be; null if the table is
/// full. It stays that word's.
DEVICE RacyWord *racyWordOf(Address A) {
  uint64_t Key = A & ~Address(3);
  if (spaceOf(A) == Space::Shared)
    Key ^= (linearBlock() + 1) << 48;
  uint32_t At = mix(uint32_t(Key >> 2) ^ uint32_t(Key >> 34));
#pragma unroll 1
  for (uint32_t Tries = 0; Tries < 16; ++Tries, ++At) {
    RacyWord &W = table<RacyWord>(RacyWordsAt)[At & (NumRacyWords - 1)];
    if (loadRelaxed(W.Key) == 0)
      exchangeIf(W.Key, 0, Key);
    if (loadRelaxed(W.Key) == Key)
      return &W;
  }
  return nullptr;
}

/// Remembers `A`, in the place of an earlier one of its site.
DEVICE void noteRacing(RacyWord &W, Accessor A, uint32_t Floor) {
  constexpr uint32_t Places = sizeof(W.Accessors) / sizeof(W.Accessors[0]);
  uint32_t Place = A.site() % Places;
#pragma unroll 1
  for (uint32_t I = 0; I < Places; ++I) {
    const Accessor Old(loadRelaxed(W.Accessors[I]));
    if (Old.site() == A.site() && Old.bytes() == A.bytes()) {
      Place = I;
      break;
    }
    if (Old.clock() < Floor)
      Place = I;
  }
  storeRelaxed(W.Accessors[Place], A.Bits);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_RACYWORDS_H
