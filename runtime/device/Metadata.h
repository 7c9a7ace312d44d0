//===- Metadata.h - Metadata mode's entry points ----------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_METADATA_H
#define CRSAN_DEVICE_METADATA_H

#include "Accesses.h"
#include "GridClocks.h"
#include "Locks.h"

/// Entry points of metadata mode: every access comes here.
#define HOT_ENTRY extern "C" __attribute__((device, noinline, used, convergent))

namespace crsan::device {

/// The object that a barrier of the whole block is.
constexpr uint64_t BlockBarrier = ~uint64_t(0);

/// What this thread writes strongly from now on releases what was before.
/// Returns the clock from now on.
DEVICE uint32_t noteFence(const Self &Me, const LaneRef &T, bool IsWide) {
  const uint32_t Now = tick(Me);
  T.FenceBlock = Now;
  if (IsWide)
    T.FenceDevice = Now;
  if (!((Me.Place.Bits | loadNear(Me.warp().Place)) & HasFenced))
    setFlags(Me.warp().Place, HasFenced);
  return Now;
}

/// A fence, behind strong reads that its thread may acquire from.
HELPER void acquireAndFence(PlaceOf Place, bool IsWide) {
  const Self Me(Place);
  const LaneRef T = Me.thread();
  // One step for both: what is acquired is so before the fence's clock.
  const bool HasLearned = acquirePending(Me, T, IsWide);
  const uint32_t Now = noteFence(Me, T, IsWide);
  if (HasLearned)
    T.Acquire = Now;
  activateLocks(Me, T);
}

/// What whoever arrived at an object, or released it, has told is known from
/// now on.
HELPER void collect(PlaceOf Place, SyncCells From, bool MayLock) {
  const Self Me(Place);
  const LaneRef T = Me.thread();
  const uint32_t Block = From.ofBlock(Me);
  bool HasLearned = false;
#pragma unroll 1
  for (uint32_t I = From.Wide ? 0 : 1; I < 2; ++I)
    HasLearned |= acquire(Me, T, I == 0 ? From.Wide : Block);
  if (HasLearned)
    T.Acquire = step(Me);
  if (MayLock)
    activateLocks(Me, T);
}

} // namespace crsan::device

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

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
  const bool IsThorough = IsFirst && LastWarp < ThoroughWarps;
  const uint32_t Place =
      Me.Place.Bits | (isUsedUp(Start) || IsThorough ? NeedsCare : 0);
  if (Me.Lane == Leader) {
    storeRelaxed(W.Start, Start);
    if (IsThorough)
      W.Thorough = ThoroughChecks;
    W.Barrier = Barrier;
    W.Floor = Floor;
    W.Place = Place;
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
      setFlags(W.Alive, Mixed);
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
  if (loadRelaxed(W.Alive) & Mixed) {
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
    raise(Me.firstWarpState().Arrive[0], Now);
    raise(Me.firstWarpState().Arrive[1], Now);
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

/// A strong access is about to write: it releases what its order says, or what
/// a fence before it has made ready (ScoRD VI).
HOT_ENTRY void __crsan_md_release(crsan::abi::AccessSite *S, uint64_t A,
                                  uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed() || !canRace(A))
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  giveLock(Me, T, A);
  const bool Wide = isWide(S->Scope);
  const bool IsRelease =
      S->Order == SyncOrder::Release || S->Order == SyncOrder::AcquireRelease;
  if (IsRelease)
    noteFence(Me, T, Wide);
  if (T.FenceBlock)
    publish(Me, T, SyncCells(A, Wide && T.FenceDevice && !isOfBlock(A)),
            IsRelease, T.FenceDevice, T.FenceBlock);
}

/// A strong access has happened. One that reads acquires, at once or at the
/// next fence. Swap: 1 and 2 for a compare-and-swap that failed or succeeded.
/// Returns whether the same again, but for a swap that succeeds, would change
/// nothing before this thread next synchronises.
HOT_ENTRY uint32_t __crsan_md_strong_done(crsan::abi::AccessSite *S, uint64_t A,
                                          uint32_t Swap, uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed() || !(S->Flags & ReadsMemory) || !canRace(A))
    return 0;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  noteSeenNear(Me.warp().Seen, uint64_t(1) << seenBit(A));
  if (Swap == 2)
    takeLock(T, A);
  const SyncCells From(A, isWide(S->Scope) && !isOfBlock(A));
  bool IsKnown = spaceOf(A) == Space::Shared;
  if (!IsKnown) {
    // What the host or another device has written, nobody has published.
    const PageRef Page(A);
    IsKnown = Page.isTracked() && !Page.isHost();
  }
  // What is called comes last: it leaves no register as it is.
  const bool Acquires =
      S->Order == SyncOrder::Acquire || S->Order == SyncOrder::AcquireRelease;
  const bool IsWritten = Swap != 1 && (S->Flags & IsSwap);
  if (IsKnown && !Acquires)
    awaitFence(T, From);
  if (IsWritten)
    rememberSwap(Me.Place, *S, A);
  if (!IsKnown)
    acquireEverything(PlaceOf{Place});
  else if (Acquires)
    collect(PlaceOf{Place}, From, /*MayLock=*/true);
  return IsKnown && !Acquires;
}

/// A fence has happened.
HOT_ENTRY void __crsan_md_fence(uint32_t Scope, uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  const bool Wide = isWide(SyncScope(Scope));
  if (isPending(T, Wide))
    return acquireAndFence(PlaceOf{Place}, Wide);
  noteFence(Me, T, Wide);
  activateLocks(Me, T);
}

namespace crsan::device {

/// Of lanes that do not all come together to a barrier of their warp.
HELPER void meetSome(PlaceOf Place, uint32_t Mask) {
  const Self Me(Place);
  const LaneRef T = Me.thread();
  WarpState &W = Me.warp();
  const uint32_t Now = loadNear(W.Clock) + 1;
  T.WarpArrive = Now;
  T.give(Now);
  raiseClock(W, Now);
  if (Mask == ~0u) {
    __nvvm_bar_warp_sync(Mask);
    T.WarpDepart = step(Me);
    return;
  }
  // Whom this lane may know of since all have met: some lanes, or, by an
  // acquire, anybody. Whoever is not at this barrier, the others are told of.
  const uint32_t Barrier = loadNear(W.Barrier), All = loadNear(W.Met);
  uint32_t Whole = T.WarpDepart;
  Whole = Barrier > Whole ? Barrier : Whole;
  Whole = All > Whole ? All : Whole;
  uint32_t Met = (T.PartDepart > Whole ? T.Met : 0) | Mask;
  if (T.Acquire > Whole)
    Met = ~0u;
  if (Met != Mask)
#pragma unroll 1
    for (uint32_t Others = Mask; Others; Others &= Others - 1)
      setFlags(Self::stateOf(Me.number(), __builtin_ctz(Others)).Told, Met);
  __nvvm_bar_warp_sync(Mask);
  if (loadRelaxed(T.Told))
    Met |= takeFlags(T.Told);
  T.Met = Met;
  T.PartDepart = step(Me);
}

} // namespace crsan::device

/// A barrier of lanes of this warp is about to happen. It happens here as well:
/// what the others accessed is before this lane's departure only once they have
/// all arrived.
HOT_ENTRY void __crsan_md_warp_barrier(uint32_t Mask, uint32_t Place) {
  using namespace crsan::device;
  const PlaceOf Mine{Place};
  if (!Mine.isFollowed())
    return;
  if (Mask == ~0u) {
    // The whole warp, as a rule; and from here on, together.
    __nvvm_bar_warp_sync(Mask);
    WarpState &W = Self::stateOf(Mine.warp());
    if (setMet(W, loadNear(W.Clock) + 1))
      return;
  }
  meetSome(Mine, Mask);
}

/// What the warps of a block hand on at its barriers, of what they know.
ENTRY void __crsan_md_give(uint32_t Now, uint32_t Place) {
  using namespace crsan::device;
  const Self Me(PlaceOf{Place});
  const SyncCells To(BlockBarrier, /*IsWide=*/false);
  Knowledge(Me).giveTo(Me, SyncCells::at(To.ofBlock(Me)), Now);
  setFlags(Me.firstWarpState().News, HasNews);
}
ENTRY void __crsan_md_take(uint32_t Place) {
  using namespace crsan::device;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  const SyncCells From(BlockBarrier, /*IsWide=*/false);
  // Of lanes of its warp this tells nothing that the barrier does not, so it is
  // no step of their clock.
  if (acquire(Me, T, From.ofBlock(Me), /*IsOwn=*/true))
    T.Acquire = T.WarpDepart;
}

/// A barrier of all threads of the block is about to happen.
HOT_ENTRY void __crsan_md_block_arrive(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  WarpState &W = Me.warp();
  const uint32_t Now = loadNear(W.Clock) + 1;
  if (!setClock(W, Now))
    raiseClock(W, Now);
  T.WarpArrive = Now;
  T.give(Now);
  if (isFirstHere())
    raise(Me.firstWarpState().Arrive[(T.Barriers + 1) & 1], Now);
  if (loadNear(Me.warp().Place) & HasFresh) {
    clearFlags(Me.warp().Place, HasFresh);
    __crsan_md_give(Now, Place);
  }
}

/// As above, of a barrier that other threads may come to by a count.
HOT_ENTRY void __crsan_md_block_arrive_uneven(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  setFlags(Self(PlaceOf{Place}).firstWarpState().News, Uneven);
  __crsan_md_block_arrive(Place);
}

/// It has happened.
HOT_ENTRY void __crsan_md_block_depart(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  WarpState &W = Me.warp();
  const LaneRef T = Me.thread();
  const uint32_t Barriers = ++T.Barriers;
  // All warps go on from the same clock.
  uint32_t Now = loadRelaxed(Me.firstWarpState().Arrive[Barriers & 1]);
  const uint32_t News = loadRelaxed(Me.firstWarpState().News);
  if (News & Uneven) {
    const uint32_t Other =
        loadRelaxed(Me.firstWarpState().Arrive[(Barriers + 1) & 1]);
    Now = Other > Now ? Other : Now;
  }
  // Each lane for itself, as in tick.
  if (!setBarrier(W, Now)) {
    raiseClock(W, Now);
    raise(W.Barrier, Now);
  }
  T.WarpDepart = Now;
  if (News & HasNews)
    __crsan_md_take(Place);
}

/// All threads of the block have just met at a barrier, and not all of their
/// warps have done nothing but that since the last one: they meet once more,
/// to agree on a clock and to hand on what they know.
HOT_ENTRY void __crsan_md_block_agree(uint32_t Place) {
  if (!crsan::device::PlaceOf{Place}.isFollowed())
    return;
  __crsan_md_block_arrive(Place);
  asm volatile("barrier.sync 0;" ::: "memory");
  __crsan_md_block_depart(Place);
}

/// This thread is about to arrive at an object: a named barrier, an mbarrier, a
/// barrier of the cluster.
HOT_ENTRY void __crsan_md_publish(uint64_t Object, uint32_t Scope,
                                  uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const uint32_t Now = tick(Me);
  publish(Me, Me.thread(), SyncCells(Object, isWide(SyncScope(Scope))),
          /*IsReleased=*/false, Now, Now);
}

/// This thread has waited for those who arrive at an object.
HOT_ENTRY void __crsan_md_collect(uint64_t Object, uint32_t Scope,
                                  uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  collect(PlaceOf{Place}, SyncCells(Object, isWide(SyncScope(Scope))),
          /*MayLock=*/false);
}

/// This thread is about to copy `Size` bytes to `To`, in shared memory, and
/// will go on meanwhile.
HOT_ENTRY void __crsan_md_copy(crsan::abi::AccessSite *S, uint64_t To,
                               uint64_t Size, uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed() || Size == 0)
    return;
  beginCopy(Self(PlaceOf{Place}), To);
  __crsan_md_check(S, To, Size, 0, CheckCounts | CheckInFlight, Place);
}
/// It makes a group of the copies that it has issued since it made the last.
HOT_ENTRY void __crsan_md_commit_copies(uint32_t Place) {
  using namespace crsan::device;
  if (PlaceOf{Place}.isFollowed())
    commitCopies(Self(PlaceOf{Place}));
}
/// It waits for all groups but the last few, ...
HOT_ENTRY void __crsan_md_await_copies(uint32_t Groups, uint32_t Place) {
  using namespace crsan::device;
  if (PlaceOf{Place}.isFollowed())
    awaitCopies(Self(PlaceOf{Place}), Groups);
}
/// ... or for all copies; or whoever comes to know of what it gives away next
/// does.
HOT_ENTRY void __crsan_md_await_all_copies(uint32_t Place) {
  using namespace crsan::device;
  if (PlaceOf{Place}.isFollowed())
    awaitAllCopies(Self(PlaceOf{Place}));
}

/// A statement is about to acquire, and may itself hand on what it has
/// acquired.
HOT_ENTRY void __crsan_md_learn(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  awaitAllCopies(Self(PlaceOf{Place}));
  acquireEverything(PlaceOf{Place});
}

/// Something is about to happen, or has happened, that may order this thread
/// after any other, or others after this one.
HOT_ENTRY void __crsan_md_unknown(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  // It may wait for copies, or be a barrier of the block, which others know as
  // one.
  awaitAllCopies(Me);
  setFlags(Me.firstWarpState().News, HasNews);
  // The kernel is of another unit, which did not know.
  if (!(loadNear(Me.warp().Flags) & Opaque) &&
      !(loadRelaxed(metadata().Foreign) & ForeignUnknown))
    setFlags(metadata().Foreign, ForeignUnknown);
  acquireEverything(Me.Place);
  fenceDevice();
}

/// This thread is about to call a function of another unit, ...
HOT_ENTRY void __crsan_md_calling(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const LaneRef T = Self(PlaceOf{Place}).thread();
  T.Flags |= IsCalling;
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().Foreign), 1);
}
/// ... which says so if it was compiled for metadata mode, ...
HOT_ENTRY void __crsan_md_called(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const LaneRef T = Self(PlaceOf{Place}).thread();
  if (!(T.Flags & IsCalling))
    return;
  T.Flags &= ~IsCalling;
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().Foreign), -1);
}
/// ... or else may have done anything. From then on every acquire may be one of
/// something that such a function released.
HOT_ENTRY void __crsan_md_returned(uint32_t Place) {
  using namespace crsan::device;
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  const LaneRef T = Me.thread();
  if (!(T.Flags & IsCalling))
    return;
  T.Flags &= ~IsCalling;
  setFlags(metadata().Foreign, ForeignUnknown);
  __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&metadata().Foreign), -1);
  __nvvm_atom_add_gen_ll(
      reinterpret_cast<long long *>(&metadata().ForeignCalls), 1);
  awaitAllCopies(Me);
  acquireEverything(Me.Place);
}

#endif // CRSAN_DEVICE_METADATA_H
