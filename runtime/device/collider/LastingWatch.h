// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watchpoints that stay when their threads go on.
//
// Where nothing in a kernel orders two of its blocks, two conflicting accesses
// of two blocks of a grid race, whenever they come (RacesAnyTime;
// docs/soundness.md). Where only barriers of all threads of the block order
// warps, so do those of two warps between the same two barriers
// (RacesInInterval). So a thread that comes to a check looks for watchpoints of
// others on what it is about to access, leaves its own, and goes on. They stay
// until others take their place; threads of other grids do not see them.
#ifndef CRSAN_DEVICE_COLLIDER_LASTINGWATCH_H
#define CRSAN_DEVICE_COLLIDER_LASTINGWATCH_H

#include "collider/Watchpoint.h"

namespace crsan::device {

/// LastingWatchpoint::Sum, for a watchpoint of this grid.
DEVICE uint64_t sumOf(uint64_t Key, uint64_t Block, uint64_t Moment,
                      uint64_t Site) {
  const uint64_t Words[] = {Key, Block, Moment, Site};
  uint64_t Sum = gridHere();
#pragma unroll
  for (uint64_t Word : Words) {
    Sum = (Sum ^ Word) * 0x9e3779b97f4a7c15ull;
    Sum ^= Sum >> 32;
  }
  return Sum;
}

/// The key of a lasting watchpoint for the access `Of` to the bytes of `W`; 0:
/// it has none.
DEVICE uint64_t lastingKey(const Access &Of, const Watched &W) {
  if (!(Of.Flags & RacesAnyTime) || !(__crsan_config.Flags & Lasting) ||
      !W.Word)
    return 0;
  if (!W.IsShared)
    return W.Key;
  return (Of.Flags & RacesInInterval) && W.Rank == __crsan_cluster_rank()
             ? W.Key | LastingInShared
             : 0;
}

/// The entry for the bytes of a key. Neighbouring lanes mostly access 4 bytes
/// each.
DEVICE uint32_t lastingEntry(uint64_t Key, const Origin &From) {
  constexpr uint64_t FirstHalf = 0x3c;
  constexpr uint32_t Half = Watchpoints::NumLasting / 2;
  const uint32_t Place = uint32_t(Key >> 10) << 1 | !(Key & FirstHalf);
  if (Key & LastingInShared)
    return Half + (Place + From.BlockHash) % Half;
  return Place % Half;
}

/// Reports that the access at site `S` to `A`, which is about to happen, races
/// with the one that has left the watchpoint with the key `Key` in entry `I`,
/// if that is so.
HELPER void meetEarlier(Site &S, Address A, uint64_t Key, uint32_t I,
                        uint32_t Barriers) {
  const Origin From = Origin::here(Barriers);
  const LastingWatchpoint &Entry = watchpoints().Lasting[I];
  uint64_t Block, Moment, Other, Sum;
  loadRelaxed(Entry.Block, Block, Moment);
  loadRelaxed(Entry.Site, Other, Sum);
  const bool IsOther = Block != From.Block;
  // Of two warps that have come through as many barriers, the moments differ in
  // the warps alone.
  const uint64_t Apart = Moment ^ From.Moment;
  const bool Races = IsOther ? !(Key & LastingInShared)
                             : (S.Flags & RacesInInterval) && Apart >> 32 &&
                                   uint32_t(Apart) == 0;
  if (Races && Sum == sumOf(Key, Block, Moment, Other))
    __crsan_race(&S, A, Other, 0,
                 uint64_t(1u << lane()) << 32 |
                     (IsOther ? OtherBlock : SameInterval) << 8 |
                     uint32_t(RaceKind::Conflict));
}

/// Leaves the watchpoint with the key `Key`, in entry `I`, for the access at
/// the site with that id.
DEVICE void leaveWatchpoint(uint64_t SiteId, uint64_t Key, uint32_t I,
                            const Origin &From) {
  LastingWatchpoint &Entry = watchpoints().Lasting[I];
  storeRelaxed(watchpoints().LastingKeys[I], Key);
  storeRelaxed(Entry.Block, From.Block, From.Moment);
  storeRelaxed(Entry.Site, SiteId, sumOf(Key, From.Block, From.Moment, SiteId));
}

/// Tells the threads that watch bytes of the access `Of` at site `S`, which is
/// about to happen, and leaves lasting watchpoints: of a long one, on some of
/// its bytes, since each read of the table takes as long as a short wait.
/// Returns the first of the bytes that this thread may watch itself.
DEVICE Address tellWatchers(Site &S, const Access &Of, uint32_t Random,
                            const Origin &From) {
  constexpr uint32_t Most = 4 * 8;
  const Address End = Of.At + Of.Size;
  Address A = Of.At, Last = End;
  if (Of.Size > Most) {
    A += 8 * below(mix(Random + 10), uint32_t(Of.Size - Most) / 8 + 1);
    Last = A + Most;
  }
  uint32_t Left = uint32_t(((Last - 1) >> 3) - (A >> 3));
  if (Left)
    Left = below(mix(Random + 13), Left + 1);
  Address Chosen;
#pragma unroll 1
  for (; A < Last; A = (A | 7) + 1) {
    const Watched W = watchedAt(A, End - A, Of.IsWrite, From);
    const uint64_t Key = lastingKey(Of, W);
    const uint32_t I = lastingEntry(Key, From);
    // Both reads of the tables are under way together.
    const uint64_t Earlier =
        Key ? loadRelaxed(watchpoints().LastingKeys[I]) : 0;
    tellWatcher(S, W, A, From);
    if (conflict(Key, Earlier))
      meetEarlier(S, A, Earlier, I, uint32_t(From.Moment));
    if (Key)
      leaveWatchpoint(Of.SiteId, Key, I, From);
    if (Left-- == 0)
      Chosen = A;
  }
  return Chosen;
}

/// Looks once more for a lasting watchpoint on the first bytes of the access
/// `Of` at site `S`, which is about to happen. Of two threads that came to
/// their checks at one time, neither found the other's then; the later one's is
/// there now.
DEVICE void lookAgain(Site &S, const Access &Of, const Origin &From) {
  const uint64_t Key =
      lastingKey(Of, watchedAt(Of.At, Of.Size, Of.IsWrite, From));
  if (!Key)
    return;
  // Mostly the watchpoint is this warp's own. The reads are under way together.
  const uint32_t I = lastingEntry(Key, From);
  const uint64_t Latest = loadRelaxed(watchpoints().LastingKeys[I]);
  uint64_t Block, Moment;
  loadRelaxed(watchpoints().Lasting[I].Block, Block, Moment);
  const bool IsOwn = Block == From.Block && !((Moment ^ From.Moment) >> 32);
  if (conflict(Key, Latest) && !IsOwn)
    meetEarlier(S, Of.At, Latest, I, uint32_t(From.Moment));
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_LASTINGWATCH_H
