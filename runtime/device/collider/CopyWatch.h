// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watchpoints on asynchronous copies.
#ifndef CRSAN_DEVICE_COLLIDER_COPYWATCH_H
#define CRSAN_DEVICE_COLLIDER_COPYWATCH_H

#include "collider/Race.h"
#include "collider/Watchpoint.h"

namespace crsan::device {

/// Whether access `I` is one of an asynchronous copy that is about to begin.
DEVICE bool isCopy(const Group &G, const Site *Sites, uint32_t I) {
  const Access A = Access::of(G, Sites, I);
  return (A.Flags & IsAsync) && A.Size != 0 && canRace(A.At);
}

/// Leaves a watchpoint on bytes of the copy's access `I`. Returns the number of
/// the CopyWatch, from 1, or 0.
DEVICE uint32_t watchCopy(const Group &G, Site *Sites, uint32_t I,
                          uint32_t Random) {
  const Origin From = Origin::here(/*Barriers=*/0);
  const Access A = Access::of(G, Sites, I);
  const Watched Mine = watchedIn(A, mix(Random), From);
  const uint64_t Word = watch(Mine, From);
  if (Word == 0)
    return 0;
  const uint32_t Number = Random % Watchpoints::NumCopies;
  CopyWatch &C = watchpoints().Copies[Number];
  if (!exchangeIf(C.Entry, 0, Address(Mine.Word))) {
    unwatch(Mine, Word);
    return 0;
  }
  C.Word = Word;
  C.Site = Address(&Sites[I]);
  C.Address = A.At;
  return Number + 1;
}

/// The watchpoint that a thread has in its variable `Held`.
DEVICE CopyWatch &copyWatch(uint32_t Held) {
  static_assert(Watchpoints::NumCopies < 1 << CommitsAt);
  return watchpoints().Copies[(Held & ((1 << CommitsAt) - 1)) - 1];
}

/// Takes away the watchpoint `Held`. If another thread was about to access the
/// watched bytes, and one of the two writes, the two race.
DEVICE void unwatchCopy(uint32_t Held) {
  CopyWatch &C = copyWatch(Held);
  const uint64_t Found = exchange(*reinterpret_cast<uint64_t *>(C.Entry), 0);
  // A thread that learns of the end of the copy after this does not find the
  // watchpoint.
  fenceDevice();
  if (Found != C.Word)
    __crsan_race(reinterpret_cast<Site *>(C.Site), C.Address,
                 reinterpret_cast<Site *>(Found)->Id, 0,
                 uint64_t(1u << lane()) << 32 | uint32_t(RaceKind::Conflict));
  storeRelaxed(C.Entry, 0);
}

/// Entry point. Asynchronous copies among the `N` accesses of a window that has
/// just been checked are about to begin. One of the lanes that are here may
/// leave a watchpoint on one of its copies. `Held` is the watchpoint that this
/// thread has left already, or 0. `IsBrief`: the thread takes the watchpoint
/// away, after a delay, as soon as the copy has begun. Returns the watchpoint
/// that the thread has now, for __crsan_unwatch_copy.
ENTRY uint32_t __crsan_watch_copy(struct Sampling *Sampling, Site *Sites,
                                  Group *G, uint32_t N, uint32_t Held,
                                  uint32_t IsBrief) {
  constexpr uint32_t Needed = Enabled | Watch;
  if ((__crsan_config.Flags & (Needed | Paused)) != Needed ||
      !mayMeet(Sampling->Interval))
    return Held;
  const Warp W = gather();
  // Every other brief watchpoint is left out, since the delay lets the copy end
  // before the thread itself goes on. One that stays for long makes room for
  // another.
  if (IsBrief ? W.Random & 1 : Held != 0 && (W.Random & 3))
    return Held;
  if (Held != 0)
    unwatchCopy(Held);
  uint32_t Chosen = below(mix(W.Random + 7), N);
#pragma unroll 1
  for (uint32_t Tries = 1; Tries < N && !isCopy(*G, Sites, Chosen); ++Tries)
    Chosen = Chosen + 1 == N ? 0 : Chosen + 1;
  const uint32_t Here = activeMask();
  const uint32_t Mask =
      __nvvm_vote_ballot_sync(Here, isCopy(*G, Sites, Chosen));
  const uint32_t From = below(mix(W.Random + 8), 32);
  const uint32_t Behind = Mask >> From << From;
  if (Mask == 0 || lane() != uint32_t(__builtin_ctz(Behind ? Behind : Mask)))
    return 0;
  return watchCopy(*G, Sites, Chosen, mix(W.Random + 9));
}

/// Entry point. This thread is about to wait for its copies (`OnlyReads`: for
/// what they read), or to let others know that they have ended: its watchpoint
/// `Held` is taken away, after a delay, if it is of such an access. Returns the
/// watchpoint that the thread has now.
ENTRY uint32_t __crsan_unwatch_copy(uint32_t Held, uint32_t OnlyReads) {
  const CopyWatch &C = copyWatch(Held);
  if (OnlyReads && reinterpret_cast<Site *>(C.Site)->Access != AccessKind::Load)
    return Held;
  pause(2 * below(random(), __crsan_config.DelayNs));
  unwatchCopy(Held);
  return 0;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_COPYWATCH_H
