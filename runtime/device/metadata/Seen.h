// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which locations threads have read strongly.
//
// A strong read may have observed any strong write of its location, and what
// comes after the read then comes after that write (PTX ISA, "Causality order",
// second rule). A warp keeps, in 64 bits, what it may know to have been read
// since its block began (WarpState::Seen), and releases that with its clocks. A
// lane keeps, by words, what it may know to have been read since its block's
// last barrier (LaneStates::Seen).
#ifndef CRSAN_DEVICE_METADATA_SEEN_H
#define CRSAN_DEVICE_METADATA_SEEN_H

#include "metadata/ThreadState.h"

namespace crsan::device {

/// LaneStates::Seen of a lane that has read nothing since the barrier
/// `Barrier`.
DEVICE uint64_t seenNothingSince(uint32_t Barrier) {
  return uint64_t(Barrier) << AccessorLayout::ClockAt;
}

/// Adds the bits `Words` to what this lane has seen since the last barrier.
DEVICE void noteSeenWords(const Self &Me, uint32_t Words) {
  uint64_t &Seen = table<LaneStates>(LanesAt)[Me.number()].Seen[Me.Lane];
  const uint64_t None = seenNothingSince(loadNear(Me.warp().Barrier));
  const uint64_t Had = Seen;
  Seen = (Had >> 32 == None >> 32 ? Had : None) | Words;
}

/// Notes that this lane reads `Size` bytes at `A` strongly.
/// __crsan_in_note_read does the same in line.
DEVICE void noteRead(const Self &Me, Address A, uint32_t Size) {
  noteSeenNear(Me.warp().Seen, uint64_t(1) << seenBit(A));
  noteSeenWords(Me, seenWords(A, Size));
}

/// The words (seenWords) that this thread may know to have been read since the
/// block's last barrier, whose clock is `Barrier`. Once it has met lanes of its
/// warp, all lanes of the warp count.
DEVICE uint32_t wordsSeenSince(const Self &Me, uint32_t Barrier) {
  const WarpState &W = Me.warp();
  const LaneRef T = Me.thread();
  // Clocks of earlier blocks say nothing.
  const uint32_t Start = loadRelaxed(W.Start);
  const uint32_t Since = Barrier > Start ? Barrier : Start;
  const bool HasMet = T.WarpDepart > Since || T.PartDepart > Since ||
                      loadRelaxed(W.Met) > Since;
  const uint64_t *Seen = table<LaneStates>(LanesAt)[Me.number()].Seen;
  uint32_t Words = 0;
#pragma unroll 1
  for (uint32_t I = HasMet ? 0 : Me.Lane; I <= (HasMet ? 31 : Me.Lane); ++I) {
    const uint64_t Theirs = loadRelaxed(Seen[I]);
    if (Theirs >> 32 == seenNothingSince(Barrier) >> 32)
      Words |= uint32_t(Theirs);
  }
  return Words;
}

/// The locations (seenBit) that the warps of this block may know to have been
/// read. `IsNear`: as far as a barrier has handed them on; then the L1 cache is
/// good enough.
DEVICE uint64_t seenByBlock(const Self &Me, bool IsNear) {
  const uint32_t NumOfBlock = Me.warpsInBlock();
  uint64_t All = 0;
#pragma unroll 1
  for (uint32_t I = 0; I < NumOfBlock; I += 4) {
    uint64_t Seen[4];
#pragma unroll
    for (uint32_t J = 0; J < 4; ++J) {
      const uint32_t Place = I + J < NumOfBlock ? I + J : I;
      const WarpState &W =
          Self::stateOf((Me.firstWarp() + Place) & (NumWarps - 1));
      Seen[J] = IsNear ? loadNear(W.Seen) : loadRelaxed(W.Seen);
    }
    All |= Seen[0] | Seen[1] | Seen[2] | Seen[3];
  }
  return All;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_SEEN_H
