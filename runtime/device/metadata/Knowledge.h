// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a thread hands on at a release.
#ifndef CRSAN_DEVICE_METADATA_KNOWLEDGE_H
#define CRSAN_DEVICE_METADATA_KNOWLEDGE_H

#include "metadata/ClockRow.h"

namespace crsan::device {

/// What a thread hands on at a release, besides the clock of its own warp.
struct Knowledge {
  bool HasRow;      ///< The row of its warp is not all zero.
  uint32_t Barrier; ///< The block's last barrier, which all its warps have
                    ///< passed ...
  uint32_t OfBlock; ///< ... and the entries of these warps in a row; 0: no
                    ///< barrier was passed.
  uint64_t Seen;

  DEVICE explicit Knowledge(const Self &Me) : OfBlock(0) {
    const WarpState &W = Me.warp();
    HasRow = loadNear(W.Flags) & HasKnown;
    Barrier = loadNear(W.Barrier);
    const uint32_t Start = loadNear(W.Start);
    Seen = loadNear(W.Seen);
    // Clocks from before the block are of no use to an acquiring thread.
    if (Barrier <= Start)
      return;
    Seen |= seenByBlock(Me, /*IsNear=*/true);
#pragma unroll 1
    for (uint32_t I = 0; I < Me.warpsInBlock(); ++I)
      OfBlock |= 1u << knownEntry(Me.firstWarp() + I);
  }

  /// Raises the cell `To` to what this thread knows, and the entry of its own
  /// warp to `OwnClock`. What the cell already says is not written again, which
  /// is most of it as a rule.
  DEVICE void giveTo(const Self &Me, SyncCell &To, uint32_t OwnClock) const {
    uint32_t &Own = To.Known[knownEntry(Me.number())];
    const uint64_t HasSeen = Seen ? loadRelaxed(To.Seen) : 0;
    uint32_t HasOwn = 0;
    if (HasRow || OfBlock) {
      HasOwn = loadRelaxed(Own);
      const uint32_t *Known = HasRow ? Me.known() : NoClocks;
#pragma unroll 1
      for (uint32_t At = 0; At < KnownEntries; At += HalfRow::Entries) {
        const HalfRow Theirs(To.Known + At);
        uint32_t IsNews = 0, Behind = 0;
#pragma unroll
        for (uint32_t I = 0; I < HalfRow::Entries; I += 4) {
          const NearClocks Ours(Known + At + I);
#pragma unroll
          for (uint32_t J = 0; J < 4; ++J)
            IsNews |= Ours.Of[J] > Theirs.Of[I + J];
        }
        if (OfBlock)
#pragma unroll
          for (uint32_t I = 0; I < HalfRow::Entries; ++I)
            Behind |= uint32_t(Theirs.Of[I] < Barrier) << I;
        if (IsNews)
#pragma unroll
          for (uint32_t I = 0; I < HalfRow::Entries; I += 4)
            raiseTo(To.Known + At + I, Theirs.Of + I,
                    NearClocks(Known + At + I).Of);
#pragma unroll 1
        for (Behind &= OfBlock >> At; Behind; Behind &= Behind - 1)
          raise(To.Known[At + __builtin_ctz(Behind)], Barrier);
      }
    }
    if (HasOwn < OwnClock)
      raise(Own, OwnClock);
    if (Seen & ~HasSeen)
      asm volatile("red.relaxed.gpu.or.b64 [%0], %1;" ::"l"(&To.Seen), "l"(Seen)
                   : "memory");
  }

  /// As giveTo, when all 32 lanes of a warp call together: each lane handles
  /// one clock.
  DEVICE void giveTogether(const Self &Me, SyncCell &To,
                           uint32_t OwnClock) const {
    static_assert(KnownEntries == 32);
    __nvvm_bar_warp_sync(~0u);
    const uint32_t Theirs = loadRelaxed(To.Known[Me.Lane]);
    const uint32_t OfRow = loadNear(Me.known()[Me.Lane]);
    uint32_t Ours = __nvvm_vote_any_sync(~0u, HasRow) ? OfRow : 0;
    const uint32_t AtLeast = knownEntry(Me.number()) == Me.Lane ? OwnClock
                             : OfBlock >> Me.Lane & 1           ? Barrier
                                                                : 0;
    Ours = Ours > AtLeast ? Ours : AtLeast;
    if (Ours > Theirs)
      raise(To.Known[Me.Lane], Ours);
    if (Me.Lane == 0)
      noteSeen(To.Seen, Seen);
  }
};

/// Notes that the block's next barrier has something to hand on. Called after
/// the new knowledge is written: the lane that finds the flag hands on what the
/// warp knows by then.
DEVICE void noteFresh(WarpState &W) {
  fenceBlock();
  setFlags(W.Place, HasFresh);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_KNOWLEDGE_H
