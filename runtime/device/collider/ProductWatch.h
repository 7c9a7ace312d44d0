// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watchpoints on what matrix products of warp groups read.
//
// wgmma.mma_async reads its operands in shared memory at some time between its
// issue and its warp group's wait (wgmma.wait_group). Four warps issue one
// product together, and once one of them has waited, the whole product is done
// (metadata/MatrixProduct.h), so any of their threads may say that an operand
// may be overwritten. All warps choose the same bytes without having heard of
// each other. The last of them that comes to the product sets the watchpoint,
// and so has seen all that is ordered before the product. Each warp takes it
// away behind its wait, and by then it has been set. The four may come to an
// instruction at different times, but all come to the same ones.
#ifndef CRSAN_DEVICE_COLLIDER_PRODUCTWATCH_H
#define CRSAN_DEVICE_COLLIDER_PRODUCTWATCH_H

#include "collider/LastingWatch.h"
#include "crsan/abi/MatrixOperand.h"

namespace crsan::device {

/// The watchpoint of a product on 8 bytes of this block's shared memory.
DEVICE Watched watchedOperand(uint32_t Offset, const Origin &From) {
  return watchedAt(ownShared(Offset), 8, /*IsWrite=*/false, From);
}

/// Whether the word is that of an entry that warps of a warp group have come
/// to, but not all.
DEVICE bool isGathering(uint64_t Word) {
  return (Word & 3) == 2 && (Word & AllComers) != 0;
}

/// This thread's warp, the one of number `Place` in its warp group, comes to
/// the product `Turn` at site `S`. All that its lanes have done is ordered
/// before this call. Returns whether it is the last one: it has set the
/// watchpoint.
DEVICE bool comeToProduct(struct Sampling *Sampling, const Site &S,
                          const Watched &Mine, uint64_t Turn, uint32_t Place,
                          const Origin &From) {
  // The first to come fills in the entry, which takes a few accesses.
  constexpr uint32_t MostTries = 64;
  const uint64_t Here = uint64_t(1) << (ComersAt + Place);
#pragma unroll 1
  for (uint32_t Tries = 0; Tries < MostTries; ++Tries) {
    const uint64_t Seen = loadRelaxed(*Mine.Word);
    if (Seen == 0) {
      // The first to come decides for all.
      if (Tries != 0)
        return false;
      if (!claim(Mine))
        continue;
      const Decision Taken = decide(gather(), Sampling, 1);
      endTurn(Taken); // Nobody waits.
      const bool Watches = Taken.checks() && mayMeet(Taken.Interval);
      storeReleaseDevice(*Mine.Word, Watches ? fillIn(Mine, S.Id, Turn, From) |
                                                   (Mine.Key & SharedPlace) |
                                                   Here | 2
                                             : 0);
      return false;
    }
    if (Seen == WatchpointClaimed)
      continue;
    if (!isGathering(Seen) || ((Seen ^ Mine.Key) & SharedPlace))
      return false;
    fenceDevice();
    const auto &Entry = Mine.shared();
    if (loadRelaxed(Entry.Grid) != Mine.grid() ||
        loadRelaxed(Entry.Cluster) != From.Cluster ||
        loadRelaxed(Entry.Product) != S.Id || loadRelaxed(Entry.Turn) != Turn)
      return false;
    fenceDevice();
    const uint64_t Come = Seen | Here;
    const bool IsLast = (Come & AllComers) == AllComers;
    if (exchangeIf(*Mine.Word, Seen,
                   IsLast ? (Seen & ~uint64_t(0x3ff)) | (Mine.Key & 0x3ff)
                          : Come))
      return IsLast;
  }
  return false;
}

/// Whether the entry is one of a product on the bytes of `W`. Then `Seen` is
/// its word.
DEVICE bool isOfProduct(const Watched &W, uint64_t &Seen) {
  Seen = loadRelaxed(*W.Word);
  if (((Seen ^ W.Key) & SharedPlace) ||
      !(isGathering(Seen) || ((Seen ^ W.Key) & 0x3ff) == 0))
    return false;
  fenceDevice();
  return loadRelaxed(W.shared().Product) != 0;
}

/// Takes away the watchpoint `Held`, after a delay if `IsDelayed`. The lanes
/// that call together leave together, and come after that. A product of another
/// block that is watched in the same entry may lose its watchpoint.
DEVICE void unwatchProduct(uint32_t Held, bool IsDelayed) {
  const Warp W = gather();
  const uint32_t Place = (Held & ((1 << CommitsAt) - 1)) - 1;
  const Watched Mine = watchedOperand(8 * Place, Origin::here(/*Barriers=*/0));
  const uint32_t First = __builtin_ctz(W.Mask);
  uint64_t Seen;
  const uint32_t IsThere =
      broadcast(W.Mask, lane() == First && isOfProduct(Mine, Seen), First);
  if (IsThere && IsDelayed)
    pause(2 * below(mix(W.Random + 3), __crsan_config.DelayNs));
  if (lane() == First) {
    // A warp that comes to the product changes the word.
    while (isOfProduct(Mine, Seen) && !exchangeIf(*Mine.Word, Seen, 0))
      ;
    fenceDevice();
  }
  __nvvm_bar_warp_sync(W.Mask);
}

/// What the four warps of a warp group choose to watch of one product.
struct Choice {
  uint32_t Random; ///< The same in all of them.
  uint32_t IsSecond;
  MatrixOperand Operand;

  DEVICE Choice(uint64_t First, uint64_t Second, uint32_t FirstShape,
                uint32_t SecondShape, uint32_t Turn)
      : Random(mix(
            Turn * 0x9e3779b9u + __crsan_config.Seed +
            mix(uint32_t(linearBlock()) + (linearThread() / (4 * 32) << 24)))),
        IsSecond(SecondShape != 0 && (Random & 1)), Operand{IsSecond ? Second
                                                                     : First,
                                                            IsSecond
                                                                ? SecondShape
                                                                : FirstShape} {}
  /// The offset of a piece in shared memory.
  DEVICE uint32_t piece(uint32_t Random) const {
    return Operand.piece(below(Random, Operand.numPieces()));
  }
};

/// A lane comes to the product for its warp. Returns the place of what is to be
/// watched, as in `Held`, and in the upper half whether the watchpoint has been
/// set now; 0: nothing is watched.
DEVICE uint64_t comeForWarp(struct Sampling *Sampling, const Site *Sites,
                            const Choice &C, uint32_t Turn) {
  constexpr uint32_t Needed = Enabled | Watch;
  if ((__crsan_config.Flags & (Needed | Paused)) != Needed ||
      !C.Operand.isKnown())
    return 0;
  const uint32_t Offset = C.piece(mix(C.Random + 1)) + (C.Random & 8);
  const Origin From = Origin::here(/*Barriers=*/0);
  const Watched Mine = watchedOperand(Offset, From);
  if (Offset + 8 > OperandSpace || !Mine.Word)
    return 0;
  const uint32_t Warp = linearThread() / 32;
  fenceDevice();
  const uint64_t IsSet =
      comeToProduct(Sampling, Sites[C.IsSecond], Mine,
                    uint64_t(Warp / 4) << 32 | Turn, Warp % 4, From);
  fenceDevice();
  return IsSet << 32 | (Offset / 8 + 1);
}

/// Entry point. The warp group is about to issue a product that reads operands
/// with these descriptors and shapes (MatrixOperand); the second shape is 0 if
/// there is one only. All warps of the warp group call with the same `Turn`,
/// which is another one for each product, and all lanes, as the product
/// demands. `Sampling` is the product's, and `Sites` are the operands'. `Held`
/// is the watchpoint that this warp has left already, or 0. Returns what
/// __crsan_unwatch_product gets, behind the wait, or 0.
ENTRY uint32_t __crsan_watch_product(struct Sampling *Sampling, Site *Sites,
                                     uint64_t First, uint64_t Second,
                                     uint32_t FirstShape, uint32_t SecondShape,
                                     uint32_t Turn, uint32_t Held) {
  if (Held != 0)
    unwatchProduct(Held, /*IsDelayed=*/false);
  const Choice C(First, Second, FirstShape, SecondShape, Turn);
  __nvvm_bar_warp_sync(~0u);
  const uint64_t Come =
      shuffle(~0u, lane() == 0 ? comeForWarp(Sampling, Sites, C, Turn) : 0, 0);
  // The last warp has come, and with it all that is ordered before the product:
  // a thread that watches what the product reads is still at its access.
  if (Come >> 32) {
    const uint32_t Random = mix(C.Random + 2 + lane());
    const uint32_t Offset = C.piece(Random);
    if (Offset + MatrixOperand::PieceBytes <= OperandSpace)
      tellWatchers(Sites[C.IsSecond],
                   Access{Sites[C.IsSecond].Id, ownShared(Offset),
                          MatrixOperand::PieceBytes, /*IsWrite=*/false,
                          Space::Shared, /*Meets=*/0, Sites[C.IsSecond].Flags},
                   Random, Origin::here(/*Barriers=*/0));
  }
  __nvvm_bar_warp_sync(~0u);
  return uint32_t(Come);
}

/// Entry point. This thread has waited for the product with the watchpoint
/// `Held`, and nothing comes in between: takes the watchpoint away.
ENTRY void __crsan_unwatch_product(uint32_t Held) {
  unwatchProduct(Held, /*IsDelayed=*/true);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COLLIDER_PRODUCTWATCH_H
