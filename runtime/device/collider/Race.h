//===- Race.h - A race that the collider has seen --------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_COLLIDER_RACE_H
#define CRSAN_DEVICE_COLLIDER_RACE_H

#include "collider/Watchpoints.h"
#include "common/Records.h"

using namespace crsan::abi;
using namespace crsan::device;

/// A race, seen by this thread: counts it, and writes a record if it is the
/// first of its site. `LanesAndKind` has RecordFlags in bits 8-15 and the kind
/// in bits 0-7 of its lower half, and the lanes in its upper; 0 stands for a
/// location that changed under this lane. For conflicts `Before` is the other
/// site's id. The one cold function that everything funnels into.
ENTRY void __crsan_race(Site *S, Address A, uint64_t Before, uint64_t After,
                        uint64_t LanesAndKind) {
  const uint8_t Told = uint8_t(LanesAndKind);
  const bool InWarp = Told == uint8_t(RaceKind::IntraWarpLostUpdate) ||
                      Told == uint8_t(RaceKind::IntraWarpConflict);
  auto *Hits = reinterpret_cast<long long *>(&S->Hits[InWarp]);
  const uint64_t Seen = __nvvm_atom_add_gen_ll(Hits, 1);
  // Most races are seen again and again: only what the host must know.
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
      const bool IsConflict = Kind == uint8_t(RaceKind::IntraWarpConflict) ||
                              Kind == uint8_t(RaceKind::Conflict);
      R.Site = S->Id;
      R.Other = IsConflict ? Before : 0;
      R.Address = A;
      R.Before = IsConflict ? 0 : Before;
      R.After = After;
      R.Lanes = Told ? uint32_t(LanesAndKind >> 32) : 1u << lane();
      R.Flags = uint8_t(LanesAndKind >> 8) |
                (S->Size == 0 || S->Size > 8 ? ValuesAreHashes : 0) |
                (__crsan_config.Flags & ShuffleBlocks ? Shuffled : 0);
      R.Size = S->Size < 255 ? S->Size : 255;
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
    // Hits + 1 is a power of two: tell the host, in case the device dies.
    Slot = *reinterpret_cast<volatile uint32_t *>(&S->Slot[InWarp]) - 1;
  if (Slot < Capacity)
    *publishedHits(Buffer, Slot) = Seen + 1;
  if (__crsan_config.Flags & TrapOnRace)
    asm volatile("brkpt;");
}

#endif // CRSAN_DEVICE_COLLIDER_RACE_H
