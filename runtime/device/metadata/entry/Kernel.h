// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel begins, a thread ends.
//
// Entry points at the head of a kernel and at the end of its threads.
#ifndef CRSAN_DEVICE_METADATA_ENTRY_KERNEL_H
#define CRSAN_DEVICE_METADATA_ENTRY_KERNEL_H

#include "metadata/Acquire.h"
#include "metadata/GridStart.h"
#include "metadata/entry/Context.h"
#include "metadata/entry/InLineWarp.h"

namespace crsan::device {

/// What a check in line needs to know of its warp: the first four fields of its
/// WarpState. All lanes of one call get the same.
using WindowState = uint32_t __attribute__((ext_vector_type(4)));

/// What beginWarp needs to know.
struct Beginning {
  uint64_t Grid, Block;
  uint32_t Flags, Place, Start, Barrier, Floor, Had, Before, Lanes;
  bool IsAlone, IsThorough, IsNewGrid;
};

/// Writes the state of a warp whose block begins. Called by one lane. Blocks
/// other than this one may read the state at any time, so Start is written
/// first.
DEVICE void beginWarp(WarpState &W, const Beginning &B) {
  if (!B.IsAlone) {
    // Mixed must be visible before any state of the other live block is
    // overwritten (isMixed).
    setFlags(W.Alive, Mixed);
    fenceDevice();
  }
  storeRelaxed(W.Start, B.Start);
  if (B.IsThorough)
    W.Thorough = ThoroughChecks;
  W.Barrier = B.Barrier;
  W.Floor = B.Floor;
  W.Place = B.Place | (B.IsAlone ? 0 : HasFenced | HasFresh);
  W.SharedCells = sharedCells(uint32_t(B.Block));
  W.SyncCells = syncCellsOf(B.Grid, B.Block);
  W.Heard = ~0u;
  storeRelaxed(W.ProxyFencesSeen, ~0u);
  W.LockedLanes = 0;
  W.Grid = B.Grid;
  W.Block = B.Block;
  // Beside another live block, clocks say nothing of whose they are.
  if (!B.IsAlone || B.IsNewGrid)
    storeRelaxed(W.GridFirst, uint64_t(hashOfGrid(B.Grid)) << 32 |
                                  (B.IsAlone ? B.Start : ~0u));
  W.Seen = 0;
  // The grids that the kernel starts run beside it.
  if (B.Flags & EnterLeaky)
    storeRelaxed(metadata().HasOverlaps, 1);
  const uint32_t Want = (B.Flags & EnterLeaky ? uint32_t(Leaky) : 0) |
                        (B.Flags & EnterOpaque ? uint32_t(Opaque) : 0);
  if (!B.IsAlone) {
    // The other live block may still overwrite the flags.
    setFlags(W.Flags, Want);
    if (Want & Opaque)
      setFlags(metadata().Foreign, ForeignUnknown);
  } else {
    if (B.Had != Want)
      storeRelaxed(W.Flags, Want);
    // Clear Mixed, so that the next block of this number is alone again, unless
    // yet another block has come meanwhile.
    if (B.Before & Mixed)
      asm volatile(
          "{ .reg .b32 d; atom.relaxed.gpu.cas.b32 d, [%0], %1, %2; }" ::"l"(
              &W.Alive),
          "r"(B.Before + B.Lanes + Begins), "r"(B.Lanes + Begins)
          : "memory");
  }
  // A fence here would cost each warp more than all of the above. tellRace
  // waits before it accuses an access of this block, so that the stores arrive.
  raiseClock(W, B.Start);
}

/// The state of the block that the lanes in `Here` belong to has been written,
/// perhaps by other lanes.
DEVICE void hasBegun(WarpState &W, uint32_t Here) {
  __nvvm_bar_warp_sync(Here);
  if (lane() == uint32_t(__builtin_ctz(Here)))
    asm volatile("red.relaxed.gpu.add.u32 [%0], %1;" ::"l"(&W.Alive),
                 "r"(0u - Begins)
                 : "memory");
}

/// A kernel begins. The lanes of a warp call together. Returns the state that
/// checks in line need. What the fields mean: docs/metadata-design.md,
/// "Clocks".
DEVICE WindowState enterKernel(const KernelHere &K) {
  if (!isShadowed())
    return {0, 0, 0, NeedsCare};
  const Self Me(placeHere());
  WarpState &W = Me.warp();
  const uint32_t Here = activeMask();
  const uint32_t Leader = __builtin_ctz(Here);
  const uint32_t Lanes = __builtin_popcount(Here);
  const uint64_t Grid = gridHere(), Block = linearBlock();
  // All that must come from memory is requested at once.
  uint32_t Before = 0;
  if (Me.Lane == Leader)
    Before = __nvvm_atom_add_gen_i(reinterpret_cast<int *>(&W.Alive),
                                   Lanes + Begins);
  const uint32_t Clock = loadRelaxed(W.Clock), Had = loadRelaxed(W.Flags);
  const bool IsNewGrid = loadRelaxed(W.Grid) != Grid;
  bool IsOurs = !IsNewGrid && loadRelaxed(W.Block) == Block;
  const auto [First, Floor, IsCommon, IsFirst] = startOf(Grid, K, Here);
  Before = __nvvm_shfl_sync_idx_i32(Here, Before, Leader, 31);
  const bool IsAlone = (Before & AliveMask) == 0;
  // Other lanes of this warp may have called before, and not have written the
  // state yet, or what they have written has not arrived yet.
#pragma unroll 1
  for (uint32_t Tries = 0; !IsAlone && !IsOurs && Tries < 256; ++Tries) {
    if (Tries >= 16 && (loadRelaxed(W.Alive) & BeginsMask) <= Begins)
      break; // Nobody else is about to write it.
    pause(100);
    IsOurs = loadRelaxed(W.Grid) == Grid && loadRelaxed(W.Block) == Block;
  }
  if (__nvvm_vote_any_sync(Here, IsOurs && !IsAlone)) {
    hasBegun(W, Here);
    return {loadRelaxed(W.Clock), loadRelaxed(W.Barrier), loadRelaxed(W.Floor),
            loadRelaxed(W.Place)};
  }
  // If the former blocks with these numbers took at most Step clocks each, all
  // warps of the block begin at one clock, and their first barrier need not
  // make the clocks equal.
  const uint32_t Step = K.Flags & EnterBarriers ? 16 : 4;
  const uint64_t LastWarp = Block * Me.warpsInBlock() + Me.warpsInBlock() - 1;
  const uint32_t Wanted = First + uint32_t(LastWarp >> WarpBits) * Step;
  uint32_t Start = Clock >= Wanted ? Clock + 1 : Wanted;
  const bool IsAsWanted = IsCommon && Start == Wanted && !(Before & Mixed);
  const uint32_t Barrier = IsAsWanted ? Start : 0;
  // If two live blocks had this number, the clock may be that of either.
  if (Before & Mixed) {
    const uint32_t Largest = largestEnded(Here);
    Start = Start > Largest ? Start : Largest + 1;
  }
  // In the first blocks of a kernel nothing is forgotten for a while.
  const bool IsEarly = LastWarp < ThoroughWarps;
  const bool IsThorough = IsFirst && IsEarly;
  // Checks in line take volatile accesses for strong.
  const bool HasWeak =
      (K.Flags & EnterVolatile) && (__crsan_config.Flags & WeakVolatile);
  const uint32_t Place =
      Me.Place.Bits | (IsEarly ? TellsLanes : 0) |
      ((blocksOfGrid() + 1) * Me.warpsInBlock() > NumWarps ? SharesNumber : 0) |
      (isUsedUp(Start) || IsThorough || HasWeak ? NeedsCare : 0);
  if (Me.Lane == Leader && Me.Place.warp() == Me.Place.firstWarp())
    noteBegin(Me.Place.firstWarp(), Grid, K.Tag);
  if (Me.Lane == Leader)
    beginWarp(W, {Grid, Block, K.Flags, Place, Start, Barrier, Floor, Had,
                  Before, Lanes, IsAlone, IsThorough, IsNewGrid});
  if (Had & HasKnown)
    for (uint32_t I = Me.Lane; I < KnownEntries; I += Lanes)
      storeRelaxed(Me.known()[I], 0);
  hasBegun(W, Here);
  return {Start, Barrier, Floor, Place};
}

/// This block is not followed, nor is any block of its grid that begins later.
/// `Flags` are the kernel's EnterFlags.
DEVICE void noteGridLeftOut(uint32_t Flags) {
  // A grid that is followed does so when it begins.
  if (StreamOrder *S = streamOrder())
    noteSignals(*S, Flags);
  storeRelaxed(nearTime().LeftOut, keyOfGrid(gridHere()));
  if (linearBlock() == 0)
    asm volatile(
        "red.relaxed.gpu.add.u32 [%0], 1;" ::"l"(&metadata().GridsLeftOut)
        : "memory");
}
/// Whether a block of this grid has noted on this multiprocessor that the grid
/// is left out. Launches of a node of a graph share their keys, so that nothing
/// is known of them. The first block always asks: it counts the grid.
DEVICE bool isKnownLeftOut() {
  return linearBlock() != 0 && !loadNear(metadata().GridsRepeat) &&
         loadNear(nearTime().LeftOut) == keyOfGrid(gridHere());
}
/// This block is not followed, whatever other ones of its grid are.
DEVICE void noteBlockLeftOut() {
  asm volatile("red.relaxed.gpu.add.u64 [%0], 1;" ::"l"(
                   &table<uint64_t>(BlocksLeftOutAt)[smid() % NumNearPlaces])
               : "memory");
}

/// Entry point. Whether this block, of the kernel `Tag`, is followed. `Flags`
/// are the kernel's EnterFlags. Called by one thread. Notes what is left out;
/// may stop the grid. With Sampled, blocks of a stopped grid are followed where
/// the multiprocessor's own time is not over; they tell nothing (mayLackOrder).
HOT_ENTRY uint32_t __crsan_md_draw(uint32_t Flags, uint32_t Tag) {
  if (isKnownLeftOut())
    return 0;
  const uint64_t Grid = gridHere();
  const bool IsSampled = __crsan_config.Flags & Sampled;
  const bool IsIsolated = Flags & EnterIsolated;
  if (IsSampled && !isDrawn(Grid, Tag)) {
    noteGridLeftOut(Flags);
    return 0;
  }
  const bool IsOver = isTimeOver(Grid, IsIsolated);
  if (IsIsolated) {
    if (!IsOver && (IsSampled || hasTime(Tag)))
      return 1;
    noteBlockLeftOut();
    return 0;
  }
  if (IsOver && stop(Grid))
    return 0;
  if (IsSampled || isGridFollowed(Grid, Tag))
    return 1;
  noteGridLeftOut(Flags);
  return 0;
}

/// What a kernel knows from its head on: the fields of a WindowState, the
/// address of the WarpState, and pagesHere().
struct Entered {
  uint32_t Clock, Barrier, Floor, Place;
  uint64_t State, Pages;
};

/// Entry point. A kernel begins: enterKernel(). `Flags` are the EnterFlags of
/// the kernel, `Tag` its kernelTag, and `Arguments` the hash of its arguments
/// (KernelHere).
HOT_ENTRY Entered __crsan_md_enter(uint32_t Flags, uint32_t Tag,
                                   uint32_t Arguments) {
  const WindowState W = enterKernel({Flags, Tag, /*Run=*/0, Arguments});
  const PlaceOf Mine{W[3]};
  return {W[0],
          W[1],
          W[2],
          W[3],
          Mine.isFollowed()
              ? reinterpret_cast<uint64_t>(&Self::stateOf(Mine.warp()))
              : reinterpret_cast<uint64_t>(NotFollowed),
          pagesHere()};
}

/// Entry point. A thread is about to leave its kernel, and so takes part in all
/// later barriers of its block. `Flags` are the EnterFlags and `Clock` the
/// clock of the lane's accesses that were checked in line. Lanes may call
/// together or apart.
HOT_ENTRY void __crsan_md_leave(uint32_t Flags, uint32_t Clock,
                                uint32_t Place) {
  if (!PlaceOf{Place}.isFollowed())
    return;
  const Self Me(PlaceOf{Place});
  WarpState &W = Me.warp();
  const uint32_t Here = activeMask();
  const uint32_t Leaving = __builtin_popcount(Here);
  if (Flags & EnterLeaky) {
    // The kernel may go on after this call.
    const LaneRef T = Me.thread();
    if (T.Flags & HasLeft)
      return;
    T.Flags |= HasLeft;
  }
  uint32_t Now = loadNear(W.Clock) + 1;
  uint32_t &Max = table<MaxClock>(MaxClocksAt)[smid() % NumMaxClocks].Clock;
  // Another block of this number may have set the clock back. Each lane raises
  // the largest clock for itself, before it stops being alive.
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
  // For the lanes of its warp that stay, a lane that leaves has come to their
  // next barrier.
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
    // The thread has arrived at the next barrier of the block and all later
    // ones. The other word is of the last barrier, from which threads may yet
    // depart with one clock, unless barriers may not have been counted.
    WarpState &First = Me.firstWarpState();
    const uint32_t Next = (Me.thread().Barriers + 1) & 1;
    raise(First.Arrive[Next], Now);
    if (loadRelaxed(First.News) & AlwaysNews)
      raise(First.Arrive[Next ^ 1], Now);
  }
  if (loadNear(Max) < Now)
    raise(Max, Now);
  noteEnd(Me.Place.firstWarp(), loadNear(W.Grid));
  asm volatile("red.relaxed.gpu.add.u32 [%0], %1;" ::"l"(&W.Alive),
               "r"(0u - Leaving)
               : "memory");
}

} // namespace crsan::device

/// At the head of a kernel that has a plain body; all threads of the block call
/// it. `Flags` are the kernel's EnterFlags, and `Tag` is its kernelTag.
/// `IsExempt`: the launch needs no check. Returns whether the block is
/// followed, or exempt.
INLINE_ENTRY bool __crsan_in_is_followed(uint32_t Flags, uint32_t Tag,
                                         bool IsExempt) {
  using namespace crsan::device;
  if (IsExempt || !isShadowed())
    return true;
  uint32_t IsLeftOut = 0;
  const bool IsFirst =
      (__nvvm_read_ptx_sreg_tid_x() | __nvvm_read_ptx_sreg_tid_y() |
       __nvvm_read_ptx_sreg_tid_z()) == 0;
  // If the L1 cache has an old value of From, a block of a stopped grid
  // executes checks, and what it finds is not told.
  if (IsFirst && ((__crsan_config.Flags & Sampled) ||
                  gridHere() >= loadNear(metadata().Limit.From)))
    IsLeftOut = !__crsan_md_draw(Flags, Tag);
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; "
               "barrier.cta.red.or.pred p, 0, p; selp.u32 %0, 1, 0, p; }"
               : "+r"(IsLeftOut)
               :
               : "memory");
  return !IsLeftOut;
}

#endif // CRSAN_DEVICE_METADATA_ENTRY_KERNEL_H
