//===- VectorClocks.h - What warps know of each other ----------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_VECTORCLOCKS_H
#define CRSAN_DEVICE_METADATA_VECTORCLOCKS_H

#include "metadata/SyncCells.h"

namespace crsan::device {

/// The largest clock of a warp that was released beyond a block.
DEVICE uint32_t knownToAnybody(uint32_t Warp) {
  uint32_t Clocks[NumAnyWide], Largest = 0;
#pragma unroll
  for (uint32_t I = 0; I < NumAnyWide; ++I)
    Clocks[I] = loadRelaxed(SyncCells::at(I).Known[knownEntry(Warp)]);
#pragma unroll
  for (uint32_t I = 0; I < NumAnyWide; ++I)
    Largest = Clocks[I] > Largest ? Clocks[I] : Largest;
  return Largest;
}

/// A row, in registers: loaded in one round trip.
template <uint32_t Number> struct Row {
  static constexpr uint32_t Entries = Number;
  uint32_t Of[Entries];
  DEVICE explicit Row(const uint32_t *From) {
#pragma unroll
    for (uint32_t I = 0; I < Entries; I += 4)
      asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(Of[I]), "=r"(Of[I + 1]), "=r"(Of[I + 2]),
                     "=r"(Of[I + 3])
                   : "l"(From + I)
                   : "memory");
  }
};
/// Of what is known; more at a time would not fit.
using HalfRow = Row<KnownEntries / 2>;
/// Four clocks that this warp knows. What this thread has to hand on is before
/// this in causality order, and so is in the cache if anything is.
struct NearClocks {
  uint32_t Of[4];
  DEVICE explicit NearClocks(const uint32_t *From) {
    asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(Of[0]), "=r"(Of[1]), "=r"(Of[2]), "=r"(Of[3])
                 : "l"(From)
                 : "memory");
  }
};

/// Of a warp that knows nothing.
__attribute__((device)) uint32_t NoClocks[KnownEntries];

/// Raises four clocks of a row, which were `Has` just now.
DEVICE void raiseTo(uint32_t *To, const uint32_t *Has, const uint32_t *Want) {
  // In one piece: lanes that part at each of them would have to be joined.
  asm volatile("{ .reg .pred p, q, r, s; setp.gt.u32 p, %5, %1; "
               "setp.gt.u32 q, %6, %2; setp.gt.u32 r, %7, %3; "
               "setp.gt.u32 s, %8, %4; "
               "@p red.relaxed.gpu.max.u32 [%0], %5; "
               "@q red.relaxed.gpu.max.u32 [%0+4], %6; "
               "@r red.relaxed.gpu.max.u32 [%0+8], %7; "
               "@s red.relaxed.gpu.max.u32 [%0+12], %8; }" ::"l"(To),
               "r"(Has[0]), "r"(Has[1]), "r"(Has[2]), "r"(Has[3]), "r"(Want[0]),
               "r"(Want[1]), "r"(Want[2]), "r"(Want[3])
               : "memory");
}

/// What this thread knows and hands on at a release, besides its own clock.
struct Knowledge {
  bool HasRow;      ///< Of what its warp knows.
  uint32_t Barrier; ///< The last one has handed on what the block's warps did,
  uint32_t OfBlock; ///< whose entries these are; 0: there was none.
  uint64_t Seen;

  DEVICE explicit Knowledge(const Self &Me) : OfBlock(0) {
    const WarpState &W = Me.warp();
    HasRow = loadNear(W.Flags) & HasKnown;
    Barrier = loadNear(W.Barrier);
    const uint32_t Start = loadNear(W.Start);
    Seen = loadNear(W.Seen);
    // What comes before the block is of no interest to anybody.
    if (Barrier <= Start)
      return;
    Seen |= seenByBlock(Me, /*IsNear=*/true);
#pragma unroll 1
    for (uint32_t I = 0; I < Me.warpsInBlock(); ++I)
      OfBlock |= 1u << knownEntry(Me.firstWarp() + I);
  }

  /// Adds it to a cell, and that its own warp got to `OwnClock`. What the cell
  /// says already, as it does most often, is not told again.
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

  /// As above, of all lanes of a warp at a time: each sees to one clock.
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

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_VECTORCLOCKS_H
