// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Telling the host of a race.
#ifndef CRSAN_DEVICE_METADATA_RACERECORD_H
#define CRSAN_DEVICE_METADATA_RACERECORD_H

#include "metadata/GridSample.h"
#include "metadata/RaceReasons.h"
#include "metadata/RacingPair.h"

namespace crsan::device {

/// The thread that made the access `Earlier`, as abi::earlierThread() has it.
/// `W` is the state of its warp's number, which `Block` has now. If `Earlier`
/// is forgotten, it was made by another block with the same numbers.
DEVICE uint64_t threadOf(Accessor Earlier, const WarpState &W, uint64_t Block) {
  const uint32_t First = PlaceOf{loadRelaxed(W.Place)}.firstWarp();
  const uint32_t Warp = (Earlier.warp() - First) & (NumWarps - 1);
  if (isForgotten(Earlier)) {
    const uint32_t Next = blocksWithNumbers();
    const bool AreTwo = blocksOfGrid() <= 2 * Next;
    Block = !AreTwo ? UnknownBlock : Block < Next ? Block + Next : Block - Next;
  }
  return earlierThread(Block < UnknownBlock ? Block : UnknownBlock,
                       Warp * 32 + Earlier.lane());
}

/// Writes the two sides of a race into the record `R`: the access of this
/// thread to `A` at site `S`, and the access `Earlier` at site `Other` by warp
/// `W` of the block with index `Block`. `Why`: RaceReasons.
DEVICE void describeRace(volatile Record &R, AccessSite &S,
                         const AccessSite *Other, Address A, Accessor Earlier,
                         const WarpState &W, uint64_t Block, uint64_t Why) {
  R.Site = S.Id;
  R.Other = Other->Id;
  R.Address = A;
  R.Before = threadOf(Earlier, W, Block);
  R.After = Why | blockShape(__nvvm_read_ptx_sreg_ntid_x(),
                             __nvvm_read_ptx_sreg_ntid_y(),
                             __nvvm_read_ptx_sreg_ntid_z());
  R.Lanes = 1u << lane();
  R.Flags = TwoSided | (isPermutedHere() ? Shuffled : 0);
  const uint32_t Size = S.Roles & IsBarrier ? 0 : S.Size ? S.Size : 255;
  R.Size = Size < 255 ? Size : 255;
  *reinterpret_cast<volatile uint8_t *>(&R.MemorySpace) = uint8_t(spaceOf(A));
}

/// A race found no free RacingPair.
DEVICE void countDroppedPair() {
  __nvvm_atom_add_gen_ll(
      reinterpret_cast<long long *>(&metadata().PairsDropped), 1);
}

/// Tells the host of the first race of a pair, which this thread has claimed.
/// `Describe` fills in the record, but for what writePlace() and the kind say.
template <typename Function>
DEVICE void publish(RacingPair &P, RaceKind Kind, Function Describe) {
  auto *Buffer = reinterpret_cast<RecordBuffer *>(__crsan_config.Records);
  const uint32_t Slot =
      __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&counters().NextRecord), 1);
  if (Slot >= Buffer->Capacity) {
    *reinterpret_cast<volatile uint64_t *>(&Buffer->Dropped) =
        1 + __nvvm_atom_add_gen_ll(
                reinterpret_cast<long long *>(&counters().Dropped), 1);
    storeRelaxed(P.Slot, RacingPair::NoRoom);
    return;
  }
  volatile Record &R = reinterpret_cast<Record *>(Buffer + 1)[Slot];
  Describe(R);
  writePlace(R, Buffer, Slot);
  *publishedHits(Buffer, Slot) = 1;
  storeRelaxed(P.Slot, Slot + 1);
  __nvvm_membar_sys();
  *reinterpret_cast<volatile uint8_t *>(&R.Kind) = uint8_t(Kind);
  if (__crsan_config.Flags & TrapOnRace)
    asm volatile("brkpt;");
}

/// Judges the access to `A` at site `S`, by this thread and now, against
/// `OfEarlier` again, and tells the host if the two race. The second judgement
/// is needed since a later block may have taken over the state of the earlier
/// thread. `OfProxies`: the question is that of judgeProxies. If another
/// thread has told of the pair, or is about to, the race is only counted. Tells
/// nothing where mayLackOrder() holds.
HELPER void tellRace(PlaceOf Place, AccessSite &S, Address A,
                     uint64_t OfEarlier, bool OfProxies) {
  const Self Me(Place);
  const Accessor Earlier(OfEarlier);
  const AccessSite *Other = siteAt(Earlier.site());
  if ((__crsan_config.Flags & Paused) || !Other)
    return;
  const WarpState &W = Self::stateOf(Earlier.warp());
  Order How = Order::Ordered;
  uint64_t Why = 0, Block = 0;
  RacingPair *P = nullptr;
  // The first look judges, the second shows that the state was still the
  // earlier thread's, and the third judges after 20,000 cycles: by then the
  // state that the earlier warp wrote before its first access has arrived.
#pragma unroll 1
  for (uint32_t Look = 0; Look < 3; ++Look) {
    fenceDevice();
    const Order Now =
        OfProxies ? judgeProxies(Me, Earlier) : judge(Place, OfEarlier);
    if (Now == Order::Ordered)
      break;
    if (Look == 0) {
      How = Now;
      Block = loadRelaxed(W.Block);
      P = pairOf(S.Index, Earlier.site(), distanceOf(How));
      if (!P) {
        countDroppedPair();
        // No more can be told of it.
        return makeUntoldQuiet(S.Index, Earlier.site());
      }
      if (mayLackOrder())
        return;
      if (!claim(*P)) {
        countRace(*P);
        return;
      }
      Why =
          OfProxies ? reasonsOfProxies(How) : reasonsOf(Place, OfEarlier, How);
      continue;
    }
    if (Now != How || loadRelaxed(W.Block) != Block)
      break;
    if (Look == 1) {
      pause(20000);
      continue;
    }
    if (mayLackOrder())
      break;
    countRace(*P);
    publish(*P, kindOf(How, Why, S, *Other), [&](volatile Record &R) {
      describeRace(R, S, Other, A, Earlier, W, Block, Why);
    });
    return;
  }
  if (P)
    giveBack(*P);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_RACERECORD_H
