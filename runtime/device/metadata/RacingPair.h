// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pairs of sites that have raced.
#ifndef CRSAN_DEVICE_METADATA_RACINGPAIR_H
#define CRSAN_DEVICE_METADATA_RACINGPAIR_H

#include "common/RecordBuffer.h"
#include "metadata/HappensBefore.h"

namespace crsan::device {

/// Where the search for a pair's element begins. The search goes on in steps of
/// NumDistances.
DEVICE uint32_t firstPlace(uint32_t Key, Distance Far) {
  static_assert(NumRacingPairs % NumDistances == 0);
  return (mix(Key) & ~(NumDistances - 1)) | uint32_t(Far);
}

/// How far apart the two threads are, by the numbers of their warps. An access
/// of another grid counts as one of this grid.
DEVICE Distance distanceTo(const Self &Me, Accessor Earlier) {
  if (Me.placeOf(Earlier.warp()) >= Me.warpsInBlock() ||
      Me.isOfEarlierBlock(Earlier))
    return Distance::Grid;
  return Earlier.warp() == Me.number() ? Distance::Warp : Distance::Block;
}
/// The distance of two racing threads, by a judgement.
DEVICE Distance distanceOf(Order How) {
  return How == Order::SameWarp     ? Distance::Warp
         : How == Order::SameBlock  ? Distance::Block
         : How == Order::OtherBlock ? Distance::Grid
                                    : Distance::Device;
}

/// The element of a pair of sites, created if necessary; null if the table is
/// full.
DEVICE RacingPair *pairOf(uint32_t Later, uint32_t Earlier, Distance Far) {
  auto *Pairs = table<RacingPair>(PairsAt);
  const uint32_t Key = pairKey(Later, Earlier);
  uint32_t At = firstPlace(Key, Far);
#pragma unroll 1
  for (uint32_t Tries = 0; Tries < 16; ++Tries, At += NumDistances) {
    RacingPair &P = Pairs[At & (NumRacingPairs - 1)];
    // Thousands of lanes may look for one pair at a time.
    uint32_t Found = loadRelaxed(P.Key);
    if (Found == 0)
      asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], 0, %2;"
                   : "=r"(Found)
                   : "l"(&P.Key), "r"(Key)
                   : "memory");
    if (Found == 0 || Found == Key)
      return &P;
  }
  return nullptr;
}

/// The element of a pair if the host has been told of it, or a thread is about
/// to tell it; else null.
DEVICE RacingPair *toldPair(uint32_t Later, uint32_t Earlier, Distance Far) {
  auto *Pairs = table<RacingPair>(PairsAt);
  const uint32_t Key = pairKey(Later, Earlier);
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

/// Draws one of QuietInterval accesses; the lanes that are together draw as
/// one.
DEVICE bool drawsOne() {
  uint32_t Clock;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(Clock));
  return Clock * 0x9e3779b1u < ~0u / QuietInterval;
}

/// Where the key of a quiet pair is.
DEVICE uint32_t &quietPlace(uint32_t Key) {
  return table<uint32_t>(QuietPairsAt)[quietIndex(Key)];
}
/// Whether a pair of sites has raced so often that few of its further races are
/// looked at, ...
DEVICE bool isQuietNear(uint32_t Later, uint32_t Earlier) {
  const uint32_t Key = pairKey(Later, Earlier);
  return loadNear(quietPlace(Key)) == Key;
}
/// ... and the same, if the L1 cache may not know it yet: it is emptied then.
DEVICE bool isQuiet(uint32_t Later, uint32_t Earlier) {
  const uint32_t Key = pairKey(Later, Earlier);
  if (loadRelaxed(quietPlace(Key)) != Key)
    return false;
  if (!isQuietNear(Later, Earlier))
    fenceDevice();
  return true;
}
/// Makes a pair quiet that has no element, since the table is full.
DEVICE void makeUntoldQuiet(uint32_t Later, uint32_t Earlier) {
  const uint32_t Key = pairKey(Later, Earlier);
  storeRelaxed(quietPlace(Key), Key);
}
/// Makes a pair quiet that is told or claimed. Of a claimed one, giveBack() may
/// be called at the same time: either it finds the key and removes it, or this
/// thread finds the pair free, and removes the key.
DEVICE void makeQuiet(RacingPair &P) {
  const uint32_t Key = loadRelaxed(P.Key), Slot = loadRelaxed(P.Slot);
  storeRelaxed(quietPlace(Key), Key);
  if (Slot != 0 && Slot != RacingPair::BeingTold)
    return; // A pair that is told stays told.
  fenceSequential();
  if (loadRelaxed(P.Slot) == 0)
    storeRelaxed(quietPlace(Key), 0u);
}
/// Whether a race with `Earlier` at the site with index `Index` would tell
/// nothing new.
DEVICE bool isOldNews(uint32_t Index, Accessor Earlier) {
  return Earlier.isNobody() || isQuietNear(Index, Earlier.site());
}

/// Whether this thread is to tell the host of the first race of a pair: no
/// other thread has done so, or is about to.
DEVICE bool claim(RacingPair &P) {
  if (loadRelaxed(P.Slot) != 0)
    return false;
  uint32_t Was;
  asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], 0, %2;"
               : "=r"(Was)
               : "l"(&P.Slot), "r"(RacingPair::BeingTold)
               : "memory");
  return Was == 0;
}
/// This thread has claimed the pair, and does not tell of it: there was no
/// race, or order may be lacking. What others have counted meanwhile is
/// forgotten, and another thread may claim the pair, which is not quiet.
DEVICE void giveBack(RacingPair &P) {
  storeRelaxed(P.Hits, 0);
  fenceDevice();
  storeRelaxed(P.Slot, 0);
  fenceSequential();
  const uint32_t Key = loadRelaxed(P.Key);
  if (loadRelaxed(quietPlace(Key)) == Key)
    storeRelaxed(quietPlace(Key), 0u);
}

/// Counts one more race of a pair that is told or claimed, in each lane that
/// calls. Returns the count before. Thousands of warps may race at one pair at
/// a time, so lanes that are together add once, if all of them count the same
/// pair; else each adds for itself. While the pair is only claimed, the host
/// learns nothing of the count.
DEVICE uint64_t countRace(RacingPair &P) {
  const uint32_t Here = activeMask();
  uint32_t Alike;
  asm volatile("{ .reg .pred p; .reg .b32 m; match.all.sync.b64 m|p, %1, %2; "
               "selp.b32 %0, m, 0, p; }"
               : "=r"(Alike)
               : "l"(&P), "r"(Here)
               : "memory");
  if (Alike == 0)
    Alike = 1u << lane();
  const uint32_t Leader = __builtin_ctz(Alike),
                 Number = __builtin_popcount(Alike);
  uint64_t Seen = 0;
  if (lane() == Leader) {
    Seen = add(P.Hits, Number);
    auto *Buffer = reinterpret_cast<RecordBuffer *>(__crsan_config.Records);
    const uint32_t Slot = loadRelaxed(P.Slot) - 1;
    // The host learns the count whenever the count reaches a power of two.
    if ((Seen ^ (Seen + Number)) > Seen && Slot < Buffer->Capacity)
      *publishedHits(Buffer, Slot) = Seen + Number;
  }
  const uint32_t Below = Alike & ((1u << lane()) - 1);
  return shuffle(Alike, Seen, Leader) + __builtin_popcount(Below);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_RACINGPAIR_H
