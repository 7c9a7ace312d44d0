//===- Kernels.h - Kernels begin and end -----------------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Metadata mode's entry points at the head and the end of kernels and other
// functions: a warp's state, what checks in line need to know, and what they
// have counted.
//
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_KERNELS_H
#define CRSAN_DEVICE_METADATA_KERNELS_H

#include "metadata/Accesses.h"
#include "metadata/GridClocks.h"

/// What a check in line needs to know of its warp: the first fields of its
/// WarpState, of which the lanes of one call have the same.
using WindowState = uint32_t __attribute__((ext_vector_type(4)));

/// See __crsan_md_owners.
using OwnerTable = uint64_t __attribute__((ext_vector_type(2)));
/// See __crsan_md_pages_from.
using PageRange = uint64_t __attribute__((ext_vector_type(2)));

/// A kernel begins. Lanes of a warp come here together. `Flags`: EnterFlags;
/// `Tag`: kernelTag.
HOT_ENTRY WindowState __crsan_md_enter(uint32_t Flags, uint32_t Tag) {
  using namespace crsan::device;
  if (!isShadowed())
    return {0, 0, 0, NeedsCare};
  const Self Me(placeHere());
  WarpState &W = Me.warp();
  const uint32_t Here = activeMask();
  const uint32_t Leader = __builtin_ctz(Here);
  const uint32_t Lanes = __builtin_popcount(Here);
  const uint64_t Grid = gridHere(), Block = linearBlock();
  // All that has to come from memory comes at once.
  uint32_t Before = 0;
  if (Me.Lane == Leader)
    Before = __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&W.Alive), Lanes);
  const uint32_t Clock = loadRelaxed(W.Clock), Had = loadRelaxed(W.Flags);
  const bool IsOurs =
      loadRelaxed(W.Grid) == Grid && loadRelaxed(W.Block) == Block;
  const auto [First, Floor, IsCommon, IsFirst] =
      startOf(Grid, Flags, Tag, Here);
  Before = __nvvm_shfl_sync_idx_i32(Here, Before, Leader, 31);
  const bool IsAlone = (Before & AliveMask) == 0;
  // Others of this warp may have come before.
  if (__nvvm_vote_any_sync(Here, IsOurs && !IsAlone)) {
    __nvvm_bar_warp_sync(Here);
    return {loadRelaxed(W.Clock), W.Barrier, W.Floor, W.Place};
  }
  // If all blocks of a number take few clocks, so that the warps of a block
  // begin alike, their first barrier need not make them so.
  constexpr uint32_t Step = 4;
  const uint64_t LastWarp = Block * Me.warpsInBlock() + Me.warpsInBlock() - 1;
  const uint32_t Wanted = First + uint32_t(LastWarp >> WarpBits) * Step;
  uint32_t Start = Clock >= Wanted ? Clock + 1 : Wanted;
  const bool IsAsWanted = IsCommon && Start == Wanted && !(Before & Mixed);
  const uint32_t Barrier = IsAsWanted ? Start : 0;
  // Of blocks that had one number at a time, the clock is one's or the other's.
  if (Before & Mixed) {
    const uint32_t Largest = largestEnded(Here);
    Start = Start > Largest ? Start : Largest + 1;
  }
  // Of the first blocks of a kernel nothing is forgotten for a while.
  const bool IsEarly = LastWarp < ThoroughWarps;
  const bool IsThorough = IsFirst && IsEarly;
  // In line, volatile accesses are taken for strong.
  const bool HasWeak =
      (Flags & EnterVolatile) && (__crsan_config.Flags & WeakVolatile);
  const uint32_t Place =
      Me.Place.Bits | (IsEarly ? TellsLanes : 0) |
      (isUsedUp(Start) || IsThorough || HasWeak ? NeedsCare : 0);
  if (Me.Lane == Leader) {
    if (!IsAlone) {
      // Before anything of the other block's is overwritten (isMixed).
      setFlags(W.Alive, Mixed);
      fenceDevice();
    }
    storeRelaxed(W.Start, Start);
    if (IsThorough)
      W.Thorough = ThoroughChecks;
    W.Barrier = Barrier;
    W.Floor = Floor;
    W.Place = Place | (IsAlone ? 0 : HasFenced | HasFresh);
    W.SharedCells = sharedCells(uint32_t(Block));
    W.SyncCells = syncCellsOf(Grid, Block);
    W.Heard = ~0u;
    W.LockedLanes = 0;
    W.Grid = Grid;
    W.Block = Block;
    W.Seen = 0;
    const uint32_t Want = (Flags & EnterLeaky ? uint32_t(Leaky) : 0) |
                          (Flags & EnterOpaque ? uint32_t(Opaque) : 0);
    if (!IsAlone) {
      // Whoever is there may yet overwrite what is said of this block.
      setFlags(W.Flags, Want);
      if (Want & Opaque)
        setFlags(metadata().Foreign, ForeignUnknown);
    } else {
      if (Had != Want)
        storeRelaxed(W.Flags, Want);
      // The next one after those that had one number is alone again, unless
      // another has come meanwhile.
      if (Before & Mixed)
        asm volatile(
            "{ .reg .b32 d; atom.relaxed.gpu.cas.b32 d, [%0], %1, %2; }" ::"l"(
                &W.Alive),
            "r"(Before + Lanes), "r"(Lanes)
            : "memory");
    }
    // No fence: it would cost every warp more than all else here. Whoever is
    // about to accuse an access of this block waits for the above.
    raiseClock(W, Start);
  }
  if (Had & HasKnown)
    for (uint32_t I = Me.Lane; I < KnownEntries; I += Lanes)
      storeRelaxed(Me.known()[I], 0);
  __nvvm_bar_warp_sync(Here);
  return {Start, Barrier, Floor, Place};
}

/// A thread is about to leave its kernel: from now on it takes part in all
/// barriers of its block. `Clock`: of its accesses that were checked in line.
HOT_ENTRY void __crsan_md_leave(uint32_t Flags, uint32_t Clock,
                                uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  WarpState &W = Me.warp();
  const uint32_t Here = activeMask();
  const uint32_t Leaving = __builtin_popcount(Here);
  if (Flags & EnterLeaky) {
    // May come back.
    const LaneRef T = Me.thread();
    if (T.Flags & HasLeft)
      return;
    T.Flags |= HasLeft;
  }
  uint32_t Now = loadNear(W.Clock) + 1;
  uint32_t Sm;
  asm("mov.u32 %0, %%smid;" : "=r"(Sm));
  uint32_t &Max = table<MaxClock>(MaxClocksAt)[Sm % NumMaxClocks].Clock;
  // Another block may have set the clock back: each lane for itself, before it
  // is no longer alive.
  if (isMixed(W)) {
    const LaneRef T = Me.thread();
    const uint32_t Clocks[] = {Clock, uint32_t(T.given() >> 32), T.Acquire,
                               T.WarpDepart, T.PartDepart};
#pragma unroll
    for (uint32_t Other : Clocks)
      Now = Now > Other ? Now : Other + 1;
    raise(Max, Now);
    fenceDevice();
  }
  // To those of its warp that stay, each has come to their next barrier.
  if (Leaving != 32) {
    const LaneRef T = Me.thread();
    T.Flags |= HasLeft;
    T.WarpArrive = Now;
    T.give(Now);
    raiseClock(W, Now);
    fenceDevice();
  }
  if (Me.Lane != uint32_t(__builtin_ctz(Here)))
    return;
  if (Flags & EnterBarriers) {
    raiseClock(W, Now);
    // It has come to the next barrier, and so to all later ones. The other word
    // is of the last one, from which some may be yet to depart, all with one
    // clock; but where barriers may not have been counted, it may be the next.
    WarpState &First = Me.firstWarpState();
    const uint32_t Next = (Me.thread().Barriers + 1) & 1;
    raise(First.Arrive[Next], Now);
    if (loadRelaxed(First.News) & AlwaysNews)
      raise(First.Arrive[Next ^ 1], Now);
  }
  if (loadNear(Max) < Now)
    raise(Max, Now);
  asm volatile("red.relaxed.gpu.add.u32 [%0], %1;" ::"l"(&W.Alive),
               "r"(0u - Leaving)
               : "memory");
}

/// The state of warps that are not followed: NeedsCare.
__attribute__((device)) alignas(16) uint32_t
    NotFollowed[sizeof(crsan::abi::WarpState) / 4] = {0, 0, 0,
                                                      crsan::abi::NeedsCare};

/// What the check in line needs to know of this thread, wherever it asks: its
/// warp's state, which WarpState::Place says, ...
HOT_ENTRY uint64_t __crsan_md_state(uint32_t Place) {
  using namespace crsan::device;
  const PlaceOf Mine{Place};
  return Mine.isFollowed()
             ? reinterpret_cast<uint64_t>(&Self::stateOf(Mine.warp()))
             : reinterpret_cast<uint64_t>(NotFollowed);
}
HOT_ENTRY uint64_t __crsan_md_self() {
  using namespace crsan::device;
  return isShadowed()
             ? reinterpret_cast<uint64_t>(&Self::stateOf(placeHere().warp()))
             : reinterpret_cast<uint64_t>(NotFollowed);
}
/// ... and the page table, or something of which the first entry is empty.
HOT_ENTRY uint64_t __crsan_md_pages() {
  using namespace crsan::device;
  return isShadowed() ? __crsan_config.Metadata + PagesAt
                      : reinterpret_cast<uint64_t>(NotFollowed);
}

/// The pages around that of `A` whose exact shadow lies together as they do:
/// number of the first one, how many, and what leads from four times an address
/// to its cell. Number 0: its page is not tracked, or not exactly.
HOT_ENTRY PageRange __crsan_md_pages_from(uint64_t A) {
  using namespace crsan::device;
  if (!isShadowed())
    return {0, 0};
  constexpr uint32_t Most = 8;
  const uint32_t At = pageIndex(A) % Most;
  const uint64_t *From = table<uint64_t>(PagesAt) + pageIndex(A) - At;
  uint64_t Entries[Most];
#pragma unroll
  for (uint32_t I = 0; I < Most; ++I)
    Entries[I] = loadRelaxed(From[I]);
  const uint64_t Entry = loadRelaxed(From[At]);
  if (!isPageOf(Entry, A) || Entry & PageCached)
    return {0, 0};
  uint32_t Alike = 0;
#pragma unroll
  for (uint32_t I = 0; I < Most; ++I)
    Alike |=
        uint32_t(Entries[I] - Entry == (I - uint64_t(At)) * ExactPageShadow)
        << I;
  const uint32_t Above = __builtin_ctz(~(Alike >> At));
  const uint32_t Below = At ? __builtin_clz(~(Alike << (32 - At))) : 0;
  const uint64_t Page = A >> PageShift;
  return {uint64_t(Above + Below) << 32 | uint32_t(Page - Below),
          (Entry & ((uint64_t(1) << PageTagAt) - 4096)) -
              (Page << PageShift) * (sizeof(Cell) / 4)};
}

/// The first index of a function's sites, which have not had theirs yet when it
/// began; negative: none.
ENTRY uint32_t __crsan_md_sites(crsan::abi::AccessSite *First) {
  using namespace crsan::device;
  return isShadowed() ? giveIndices(*First) : NoIndexLeft;
}

/// `Number` accesses of this lane have been checked in line.
HOT_ENTRY void __crsan_md_count(uint64_t State, uint32_t Number) {
  using namespace crsan::device;
  if (isShadowed())
    countChecked(*reinterpret_cast<WarpState *>(State), Number);
}

/// `Number` accesses of this lane were not checked, since they cannot race.
HOT_ENTRY void __crsan_md_count_proven(uint32_t Number) {
  using namespace crsan::device;
  if (!isShadowed())
    return;
  // Whichever state: all of them are added up.
  uint32_t Sm, Warp;
  asm("mov.u32 %0, %%smid;" : "=r"(Sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(Warp));
  countChecked(Self::stateOf((Sm << 6 | Warp) & (NumWarps - 1)), Number);
}

/// Where a kernel finds the owner of an address's page: the page table, and
/// which bits of a page's number count; the first entry of something empty, if
/// another grid may run beside this one, or nothing is followed.
HOT_ENTRY OwnerTable __crsan_md_owners() {
  using namespace crsan::device;
  if (!isShadowed() || loadNear(metadata().HasOverlaps))
    return {reinterpret_cast<uint64_t>(NotFollowed), 0};
  return {__crsan_config.Metadata + PagesAt, uint64_t(NumPages - 1) << 3};
}

#endif // CRSAN_DEVICE_METADATA_KERNELS_H
