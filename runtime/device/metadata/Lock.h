// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locks, by how they are used (iGUARD 6.3).
#ifndef CRSAN_DEVICE_METADATA_LOCK_H
#define CRSAN_DEVICE_METADATA_LOCK_H

#include "metadata/SyncCell.h"

namespace crsan::device {

/// Locks that a lane remembers; further ones are only counted.
constexpr uint32_t MaxLocks =
    sizeof(LaneStates::Locks) / sizeof(LaneStates::Locks[0]);

/// The hash of a lock's address; never 0.
DEVICE uint16_t lockOf(Address A) {
  const uint16_t Hash = uint16_t(hashOf(A >> 2));
  return Hash ? Hash : 1;
}

/// A compare-and-swap at `A` has succeeded and may take a lock; the lock counts
/// as held after the next fence.
DEVICE void takeLock(const LaneRef &T, Address A) {
  ++T.NumLocks;
  for (uint32_t I = 0; I < MaxLocks; ++I)
    if (T.lock(I) == 0) {
      T.lock(I) = lockOf(A);
      return;
    }
}

/// Releases the lock at `A` if this lane holds it: a strong write to `A` is
/// about to happen.
DEVICE void giveLock(const Self &Me, const LaneRef &T, Address A) {
  if (T.NumLocks == 0)
    return;
  const uint16_t Lock = lockOf(A);
  for (uint32_t I = 0; I < MaxLocks; ++I)
    if (T.lock(I) == Lock) {
      T.lock(I) = 0;
      T.ActiveLocks &= ~(1u << I);
      --T.NumLocks;
      if (!T.ActiveLocks)
        clearFlags(Me.warp().LockedLanes, 1u << Me.Lane);
      return;
    }
  // The lock is one of those that did not fit into the table.
  if (T.NumLocks > MaxLocks)
    --T.NumLocks;
}

/// A fence: the locks that this lane has taken now count as held.
DEVICE void activateLocks(const Self &Me, const LaneRef &T) {
  if (T.NumLocks == 0)
    return;
  uint32_t Active = T.ActiveLocks;
#pragma unroll
  for (uint32_t I = 0; I < MaxLocks; ++I)
    Active |= (T.lock(I) ? 1u : 0u) << I;
  T.ActiveLocks = Active;
  if (!(loadNear(Me.warp().LockedLanes) >> Me.Lane & 1))
    setFlags(Me.warp().LockedLanes, 1u << Me.Lane);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_LOCK_H
