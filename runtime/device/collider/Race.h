// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts a race that the collider has seen, and writes a record of the first
// one at each site for the host.
#ifndef CRSAN_DEVICE_COLLIDER_RACE_H
#define CRSAN_DEVICE_COLLIDER_RACE_H

#include "common/RecordBuffer.h"

namespace crsan::device {

/// Entry point of all reports of the collider. Counts a race that this thread
/// has seen at site `S`, address `A`, and writes a record if the race is the
/// first of its site. The low half of `LanesAndKind` holds the RaceKind in bits
/// 0-7, RecordFlags in bits 8-15, and in bits 16-23 the size of the access in
/// bytes where the site does not know it; the high half holds the mask of the
/// lanes involved. Kind 0 means that the location changed between
/// the two reads of the check, and the kind follows from the site. `Before` and
/// `After` are the two values; for conflicts `Before` is the id of the other
/// site instead. Each lane that sees a race calls for itself.
ENTRY void __crsan_race(Site *S, Address A, uint64_t Before, uint64_t After,
                        uint64_t LanesAndKind) {
  if (__crsan_config.Flags & Paused)
    return;
  const uint8_t Told = uint8_t(LanesAndKind);
  const bool InWarp = Told == uint8_t(RaceKind::IntraWarpLostUpdate) ||
                      Told == uint8_t(RaceKind::IntraWarpConflict);
  auto *Hits = reinterpret_cast<long long *>(&S->Hits[InWarp]);
  const uint64_t Seen = __nvvm_atom_add_gen_ll(Hits, 1);
  // Most races are seen many times. The host needs the count only when the
  // count reaches a power of two.
  if ((Seen & (Seen + 1)) != 0)
    return;
  auto *Buffer = reinterpret_cast<RecordBuffer *>(__crsan_config.Records);
  const uint32_t Capacity = Buffer->Capacity;
  uint32_t Slot;
  if (Seen == 0) {
    Slot = __nvvm_atom_add_gen_i(
        reinterpret_cast<int *>(&counters().NextRecord), 1);
    if (Slot < Capacity) {
      volatile Record &R = reinterpret_cast<Record *>(Buffer + 1)[Slot];
      uint8_t Kind = Told;
      if (Told == 0)
        Kind = uint8_t(S->Access == AccessKind::Load ? RaceKind::ClobberedRead
                                                     : RaceKind::LostUpdate);
      const uint32_t ToldSize = uint8_t(LanesAndKind >> 16);
      const uint32_t Size = ToldSize ? ToldSize : S->Size;
      const bool IsConflict = Kind == uint8_t(RaceKind::IntraWarpConflict) ||
                              Kind == uint8_t(RaceKind::Conflict);
      R.Site = S->Id;
      R.Other = IsConflict ? Before : 0;
      R.Address = A;
      R.Before = IsConflict ? 0 : Before;
      R.After = After;
      R.Lanes = Told ? uint32_t(LanesAndKind >> 32) : 1u << lane();
      R.Flags = uint8_t(LanesAndKind >> 8) |
                (Size == 0 || Size > 8 ? ValuesAreHashes : 0) |
                (isPermutedHere() ? Shuffled : 0);
      R.Size = Size < 255 ? Size : 255;
      *reinterpret_cast<volatile uint8_t *>(&R.MemorySpace) =
          uint8_t(spaceOf(A));
      writePlace(R, Buffer, Slot);
      __nvvm_membar_sys();
      *reinterpret_cast<volatile uint8_t *>(&R.Kind) = Kind;
    } else {
      *reinterpret_cast<volatile uint64_t *>(&Buffer->Dropped) =
          1 + __nvvm_atom_add_gen_ll(
                  reinterpret_cast<long long *>(&counters().Dropped), 1);
      Slot = ~0u - 1;
    }
    *reinterpret_cast<volatile uint32_t *>(&S->Slot[InWarp]) = Slot + 1;
  } else
    // Hits + 1 is a power of two: publish the count, so that the host has it
    // even if the device fails.
    Slot = *reinterpret_cast<volatile uint32_t *>(&S->Slot[InWarp]) - 1;
  if (Slot < Capacity)
    *publishedHits(Buffer, Slot) = Seen + 1;
  if (__crsan_config.Flags & TrapOnRace)
    asm volatile("brkpt;");
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_RACE_H
