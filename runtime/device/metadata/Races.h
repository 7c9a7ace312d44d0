//===- Races.h - Telling a race --------------------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_RACES_H
#define CRSAN_DEVICE_METADATA_RACES_H

#include "common/Records.h"
#include "metadata/Reasons.h"

namespace crsan::device {

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// Numbers the sites of a function, of which `First` is the first and claimed
/// by this thread. Returns the first one's number, or NoIndexLeft.
DEVICE uint32_t numberSites(AccessSite &First) {
  const uint32_t Count = First.Count;
  const uint32_t Align = Count > 1 ? 2u << (31 - __builtin_clz(Count - 1)) : 1;
  uint32_t Found, Last = loadRelaxed(metadata().NextSite), Index;
  do {
    Index = (Last + Align) & ~(Align - 1); // 0 is nobody's.
    if (Index + Count > MaxSites) {
      __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().SitesRefused),
                            Count);
      storeRelaxed(First.Index, NoIndexLeft);
      return NoIndexLeft;
    }
    Found = Last;
    asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(Last)
                 : "l"(&metadata().NextSite), "r"(Found), "r"(Index + Count - 1)
                 : "memory");
  } while (Last != Found);
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().NumSites), Count);
#pragma unroll 1
  for (uint32_t I = 0; I < Count; ++I)
    storeRelaxed(table<uint64_t>(SitesAt)[Index + I],
                 reinterpret_cast<uint64_t>(&First + I));
  fenceDevice();
#pragma unroll 1
  for (uint32_t I = 0; I < Count; ++I)
    storeRelaxed((&First + I)->Index, Index + I);
  return Index;
}

/// Gives the sites of a function, of which `First` is the first, their numbers.
/// Returns the first one's, or NoIndexLeft.
DEVICE uint32_t giveIndices(AccessSite &First) {
  const uint32_t Here = activeMask();
  uint32_t Found;
  asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], %2, %3;"
               : "=r"(Found)
               : "l"(&First.Index), "r"(NoIndexYet), "r"(IndexClaimed)
               : "memory");
  if (Found == NoIndexYet)
    Found = numberSites(First);
  // The lane that numbers the sites must not be kept from it by lanes of its
  // own warp that wait below: a pause lets no other lane go first.
  __nvvm_bar_warp_sync(Here);
  while (Found == IndexClaimed) {
    pause(100);
    Found = loadRelaxed(First.Index);
  }
  return Found;
}

/// The number by which cells name a site; it gets one when the first of its
/// function is used. MaxSites: there is none left.
DEVICE uint32_t indexOf(AccessSite &S) {
  const uint32_t Index = loadNear(S.Index);
  if (int32_t(Index) >= 0)
    return Index;
  const uint32_t First = giveIndices(*(&S - S.Number));
  return First == NoIndexLeft ? MaxSites : First + S.Number;
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

/// Where the search for a pair's entry begins; it goes on in steps of
/// NumDistances.
DEVICE uint32_t firstPlace(uint32_t Key, Distance Far) {
  static_assert(NumRacingPairs % NumDistances == 0);
  return (mix(Key) & ~(NumDistances - 1)) | uint32_t(Far);
}

/// How far the later thread is from the earlier one, as their warps' numbers
/// tell: one of another grid is taken for one of this.
DEVICE Distance distanceTo(const Self &Me, Accessor Earlier) {
  if (Earlier.warp() == Me.number())
    return Distance::Warp;
  return Me.placeOf(Earlier.warp()) < Me.warpsInBlock() ? Distance::Block
                                                        : Distance::Grid;
}
DEVICE Distance distanceOf(Order How) {
  return How == Order::SameWarp     ? Distance::Warp
         : How == Order::SameBlock  ? Distance::Block
         : How == Order::OtherBlock ? Distance::Grid
                                    : Distance::Device;
}

/// The pair's entry, made if need be; null if the table is full.
DEVICE RacingPair *pairOf(uint32_t Later, uint32_t Earlier, Distance Far) {
  auto *Pairs = table<RacingPair>(PairsAt);
  const uint32_t Key = Later << 16 | Earlier;
  uint32_t At = firstPlace(Key, Far);
#pragma unroll 1
  for (uint32_t Tries = 0; Tries < 16; ++Tries, At += NumDistances) {
    RacingPair &P = Pairs[At & (NumRacingPairs - 1)];
    uint32_t Found;
    asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], 0, %2;"
                 : "=r"(Found)
                 : "l"(&P.Key), "r"(Key)
                 : "memory");
    if (Found == 0 || Found == Key)
      return &P;
  }
  return nullptr;
}

/// The pair's entry if the host has been told of it, or null.
DEVICE RacingPair *toldPair(uint32_t Later, uint32_t Earlier, Distance Far) {
  auto *Pairs = table<RacingPair>(PairsAt);
  const uint32_t Key = Later << 16 | Earlier;
  uint32_t At = firstPlace(Key, Far);
#pragma unroll 1
  for (uint32_t Tries = 0; Tries < 16; ++Tries, At += NumDistances) {
    RacingPair &P = Pairs[At & (NumRacingPairs - 1)];
    const uint32_t Found = loadRelaxed(P.Key);
    if (Found == Key)
      return loadRelaxed(P.Slot) != 0 ? &P : nullptr;
    if (Found == 0)
      return nullptr;
  }
  return nullptr;
}

/// Races of a pair that are counted one by one. From then on every 32nd is, by
/// its place, for 32: all who race would meet at the count.
constexpr uint64_t Enough = 1 << 10;

/// How many races one at `A` stands for, of a pair that the host has been told
/// of.
DEVICE uint32_t weightOf(const RacingPair &P, Address A) {
  if (loadRelaxed(P.Hits) <= Enough)
    return 1;
  return mix(uint32_t(A >> 2) ^ lane()) % 32 == 0 ? 32 : 0;
}

/// More races of a pair that the host has been told of. Returns how many there
/// had been.
DEVICE uint64_t countRace(RacingPair &P, uint32_t Weight) {
  const uint64_t Seen =
      __nvvm_atom_add_gen_ll(reinterpret_cast<long long *>(&P.Hits), Weight);
  auto *Buffer = reinterpret_cast<RecordBuffer *>(__crsan_config.Records);
  const uint32_t Slot = loadRelaxed(P.Slot) - 1;
  // Whenever a power of two is passed.
  if ((Seen ^ (Seen + Weight)) > Seen && Slot < Buffer->Capacity)
    *publishedHits(Buffer, Slot) = Seen + Weight;
  return Seen;
}

/// The linear index of a thread in the block that it belongs to.
DEVICE uint32_t placeInBlock(Accessor A, uint64_t Grid, uint64_t Block) {
  const uint32_t Warp = (A.warp() - firstWarp(Grid, Block)) & (NumWarps - 1);
  return Warp * 32 + A.lane();
}

/// The access at `A` by this thread, now, and the one that a cell remembers may
/// be a race: judged again, since the state of the earlier thread may have been
/// taken over by a later block meanwhile, and told to the host if so.
DEVICE void tellRace(const Self &Me, AccessSite &S, Address A,
                     Accessor Earlier) {
  const AccessSite *Other = siteAt(Earlier.site());
  const WarpState &W = Self::stateOf(Earlier.warp());
  Order How = Order::Ordered;
  uint64_t Why = 0, Block = 0;
  RacingPair *P = nullptr;
  // How things stand; whether that was still the thread's own state; and, of
  // the first race of its kind, whether it is so a while later: what the
  // earlier thread's warp said of itself before its first access is here by
  // then.
#pragma unroll 1
  for (uint32_t Look = 0; Look < 3; ++Look) {
    fenceDevice();
    const Order Now = judge(Me, Earlier);
    if (Now == Order::Ordered || !Other)
      return;
    if (Look == 0) {
      How = Now;
      Why = reasonsOf(Me, Earlier, How);
      Block = loadRelaxed(W.Block);
      continue;
    }
    if (Now != How || loadRelaxed(W.Block) != Block)
      return;
    if (Look == 2)
      break;
    P = pairOf(S.Index, Earlier.site(), distanceOf(How));
    if (!P) {
      __nvvm_atom_add_gen_ll(
          reinterpret_cast<long long *>(&metadata().PairsDropped), 1);
      return;
    }
    if (loadRelaxed(P->Slot) != 0)
      break;
    pause(20000);
  }
  if (countRace(*P, 1) != 0)
    return;
  auto *Buffer = reinterpret_cast<RecordBuffer *>(__crsan_config.Records);
  const uint32_t Slot =
      __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&counters().NextRecord), 1);
  if (Slot >= Buffer->Capacity) {
    *reinterpret_cast<volatile uint64_t *>(&Buffer->Dropped) =
        1 + __nvvm_atom_add_gen_ll(
                reinterpret_cast<long long *>(&counters().Dropped), 1);
    return;
  }
  volatile Record &R = reinterpret_cast<Record *>(Buffer + 1)[Slot];
  R.Site = S.Id;
  R.Other = Other->Id;
  R.Address = A;
  R.Before = earlierThread(Block < UnknownBlock ? Block : UnknownBlock,
                           placeInBlock(Earlier, W.Grid, Block));
  R.After = Why | blockShape(__nvvm_read_ptx_sreg_ntid_x(),
                             __nvvm_read_ptx_sreg_ntid_y(),
                             __nvvm_read_ptx_sreg_ntid_z());
  R.Lanes = 1u << lane();
  R.Flags = TwoSided | (__crsan_config.Flags & ShuffleBlocks ? Shuffled : 0);
  R.Size = S.Size && S.Size < 255 ? S.Size : 255;
  *reinterpret_cast<volatile uint8_t *>(&R.MemorySpace) = uint8_t(spaceOf(A));
  writePlace(R, Buffer, Slot);
  *publishedHits(Buffer, Slot) = 1;
  storeRelaxed(P->Slot, Slot + 1);
  __nvvm_membar_sys();
  *reinterpret_cast<volatile uint8_t *>(&R.Kind) =
      uint8_t(kindOf(How, Why, S, *Other));
  if (__crsan_config.Flags & TrapOnRace)
    asm volatile("brkpt;");
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_RACES_H
