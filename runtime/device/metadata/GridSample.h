// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which grids are followed, where not all are.
//
// What is not followed executes the plain body of its kernel
// (lib/Transforms/PlainBody.h). One thread decides for its block: at a barrier,
// a plain body may not meet one with checks. All blocks of a grid are followed
// alike, unless they synchronise with nothing outside of them (EnterIsolated):
// a block that is not followed might order two that are.
//
// A grid that takes too long is stopped (FollowLimit::GridTime): the blocks
// that it has yet to begin execute the plain body, and the warps that run check
// no more once noteTime() has told them. No thread of the grid tells of races
// any more, since what orders two accesses may have gone unnoticed
// (mayLackOrder).
#ifndef CRSAN_DEVICE_METADATA_GRIDSAMPLE_H
#define CRSAN_DEVICE_METADATA_GRIDSAMPLE_H

#include "metadata/LaunchOrder.h"

namespace crsan::device {

/// The first grid of the kernel `Tag` (kernelTag), of which `Grid` is one.
/// Kernels whose tags share an entry share the answer, which never changes.
DEVICE uint64_t firstOfKernel(uint64_t Grid, uint32_t Tag) {
  uint64_t &First = table<uint64_t>(FirstGridsAt)[Tag % NumFirstGrids];
  uint64_t Was = loadRelaxed(First);
  if (Was == 0)
    Was = compareAndSwap(First, 0, Grid + 1);
  return Was ? Was - 1 : Grid;
}
/// The key of a grid in a GridStart: never 0, and larger for later grids
/// (modulo 2^32).
DEVICE uint32_t keyOfGrid(uint64_t Grid) { return uint32_t(Grid) * 2 + 1; }

/// This multiprocessor's copy of what is known of `Grid`.
DEVICE NearGridStart &nearStart(uint64_t Grid) {
  return table<NearGridStart>(
      NearGridStartsAt)[smid() % NumNearPlaces * NumNearGrids +
                        Grid % NumNearGrids];
}

//===----------------------------------------------------------------------===//
// By chance (Sampled)
//===----------------------------------------------------------------------===//

/// Whether `Grid`, of the kernel `Tag`, is drawn: the first grid of a kernel
/// with a probability of 1 in FollowOneIn, and another one with a probability
/// that falls with the number of grids that the context has begun since. The
/// answer depends on nothing that changes while the grid runs.
DEVICE bool isDrawn(uint64_t Grid, uint32_t Tag) {
  const Metadata &M = metadata();
  const uint64_t First = firstOfKernel(Grid, Tag);
  const uint64_t Since = Grid > First ? Grid - First : 0;
  const uint64_t OneIn = M.FollowOneIn * (1 + Since);
  uint32_t Draw = (uint32_t(Grid) * 0x9e3779b1u) ^ (Tag * 0x85ebca6bu) ^ M.Salt;
  Draw = (Draw ^ Draw >> 16) * 0x7feb352du;
  Draw = (Draw ^ Draw >> 15) * 0x846ca68bu;
  Draw ^= Draw >> 16;
  return Draw * OneIn >> 32 == 0 && OneIn >> 32 == 0;
}

//===----------------------------------------------------------------------===//
// By the time that they take (FollowLimit)
//===----------------------------------------------------------------------===//

/// The time of the device's global timer, in nanoseconds. Where thousands of
/// threads ask for it, each waits long.
DEVICE uint64_t timeNow() {
  uint64_t Time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(Time));
  return Time;
}
/// About how many cycles a time in microseconds takes. A cycle takes about 9/16
/// ns, as in noteEnd().
DEVICE uint64_t cyclesOf(uint64_t Time) { return Time * 1000 * 16 / 9; }

/// The KernelTime of grids of the kernel `Tag` of about the size of this one:
/// what a kernel does in a larger grid may be new.
DEVICE uint32_t kernelTimeHere(uint32_t Tag) {
  const uint32_t Size = (64 - __builtin_clzll(blocksOfGrid())) / 2;
  return mix(Tag + Size) % NumKernelTimes;
}
DEVICE KernelTime &kernelTime(uint32_t I) {
  return table<KernelTime>(KernelTimesAt)[I];
}
DEVICE BlockTime &blockTime(uint32_t FirstWarp) {
  return table<BlockTime>(BlockTimesAt)[FirstWarp];
}
/// A hash of this block and its grid, `Grid`.
DEVICE uint32_t blockHere(uint64_t Grid) {
  return hashOfGrid(Grid) + uint32_t(linearBlock());
}
DEVICE NearTime &nearTime() {
  return table<NearTime>(NearTimesAt)[smid() % NumNearPlaces];
}

/// Whether a grid may be followed no longer than FollowLimit::GridTime. All
/// launches of a node of a graph look like one grid: once a graph may have been
/// launched, no grid is limited.
DEVICE bool isGridLimited() {
  return metadata().Limit.GridTime && !loadRelaxed(metadata().GridsRepeat);
}
/// The cycle of this multiprocessor in which `Grid` has taken that time; of a
/// grid that has not begun here, ~0.
DEVICE uint64_t endOfTime(uint64_t Grid) {
  const NearGridStart &Near = nearStart(Grid);
  if (uint32_t(loadRelaxed(Near.Copy.KeyAndClock) >> 32) != keyOfGrid(Grid))
    return ~uint64_t(0);
  fenceBlock();
  return loadRelaxed(Near.Began) +
         cyclesOf(loadNear(metadata().Limit.GridTime));
}

/// A block of `Grid`, of the kernel `Tag`, begins that is followed. Called by
/// one thread.
DEVICE void noteBegin(uint32_t FirstWarp, uint64_t Grid, uint32_t Tag) {
  FollowLimit &L = metadata().Limit;
  BlockTime &T = blockTime(FirstWarp);
  if (L.GridTime)
    storeRelaxed(T.Until, endOfTime(Grid));
  if (!L.KernelTime)
    return;
  const uint32_t Kernel = kernelTimeHere(Tag);
  storeRelaxed(T.Began, cycleNow());
  storeRelaxed(T.Kernel, Kernel);
  fenceBlock();
  storeRelaxed(T.Block, blockHere(Grid));
  if (loadNear(kernelTime(Kernel).First) == 0)
    compareAndSwap(kernelTime(Kernel).First, 0, Grid + 1);
  if (loadNear(L.FirstBegan) == 0)
    compareAndSwap(L.FirstBegan, 0, timeNow());
}

/// From `Grid` on, grids have to ask whether they are followed.
DEVICE void askFrom(uint64_t Grid) {
  FollowLimit &L = metadata().Limit;
  if (loadNear(L.From) > Grid)
    storeRelaxed(L.From, Grid);
}

/// A warp of such a block, of `Grid`, ends. Some of the blocks add up the time,
/// on each multiprocessor about once in a microsecond.
DEVICE void noteEnd(uint32_t FirstWarp, uint64_t Grid) {
  FollowLimit &L = metadata().Limit;
  if (!(L.KernelTime | L.GridTime) || linearBlock() % 16)
    return;
  const uint64_t Cycle = cycleNow();
  NearTime &Near = nearTime();
  if (Cycle - loadNear(Near.Noted) < 1500)
    return;
  storeRelaxed(Near.Noted, Cycle);
  const BlockTime &T = blockTime(FirstWarp);
  // If Until is another block's, the grid only asks in vain, or later.
  if (isGridLimited() && Cycle >= loadRelaxed(T.Until))
    askFrom(Grid);
  // The block's first warp may begin after another warp has ended. A clock of
  // another multiprocessor would say nothing here.
  if (!L.KernelTime || loadRelaxed(T.Block) != blockHere(Grid))
    return;
  fenceBlock();
  KernelTime &K = kernelTime(loadRelaxed(T.Kernel));
  // The first grid checks more than others, and maps memory.
  if (loadRelaxed(K.First) == Grid + 1)
    return;
  // A cycle takes about 9/16 ns.
  const uint64_t Now = timeNow(),
                 Began = Now - (Cycle - loadRelaxed(T.Began)) * 9 / 16;
  uint64_t From;
  asm volatile("atom.relaxed.gpu.max.u64 %0, [%1], %2;"
               : "=l"(From)
               : "l"(&K.Until), "l"(Now)
               : "memory");
  From = From > Began ? From : Began;
  if (Now <= From)
    return;
  const uint64_t Spent = add(K.Spent, Now - From) + (Now - From);
  add(L.Spent, Now - From);
  // Later grids have to ask. This one may have begun to be followed.
  if (Spent >= uint64_t(L.KernelTime) * 500)
    askFrom(Grid + 1);
}

/// Whether more may be followed of grids like this one, of the kernel `Tag`.
DEVICE bool hasTime(uint32_t Tag) {
  const FollowLimit &L = metadata().Limit;
  const uint32_t Factor = loadNear(metadata().HasOverlaps) ? OverlapFactor : 1;
  if (loadNear(kernelTime(kernelTimeHere(Tag)).Spent) <
      uint64_t(L.KernelTime) * 1000 * Factor)
    return true;
  NearTime &Near = nearTime();
  const uint64_t Cycle = cycleNow();
  if (Cycle - loadNear(Near.Asked) < 20000)
    return loadNear(Near.HasTime);
  const uint64_t Since = timeNow() - loadRelaxed(L.FirstBegan);
  const uint32_t Has = loadRelaxed(L.Spent) * 100 < Since * L.Percent;
  storeRelaxed(Near.HasTime, Has);
  storeRelaxed(Near.Asked, Cycle);
  return Has;
}

/// Whether warps of `Grid` have begun that are followed, as far as its
/// GridStart says.
DEVICE bool hasBegun(uint64_t Grid) {
  const GridStart &G =
      table<GridStart>(GridStartsAt)[Grid & (NumGridStarts - 1)];
  return uint32_t(loadRelaxed(G.KeyAndClock) >> 32) == keyOfGrid(Grid) &&
         !loadRelaxed(metadata().GridsRepeat);
}

/// Whether `Grid`, of the kernel `Tag`, is followed. Called by any number of
/// its threads. The first one decides and writes the answer down for the
/// others. One word is enough, since only one grid runs at a time: once two may
/// (HasOverlaps), the word never changes again.
DEVICE bool isGridFollowed(uint64_t Grid, uint32_t Tag) {
  FollowLimit &L = metadata().Limit;
  const uint32_t Key = keyOfGrid(Grid);
  uint64_t Latest = loadRelaxed(L.Latest);
#pragma unroll 1
  while (uint32_t(Latest >> 32) != Key) {
    if (Latest & IsLast)
      return true;
    uint64_t Next = Latest | IsLast;
    if (!loadRelaxed(metadata().HasOverlaps)) {
      const bool Is = hasBegun(Grid) || hasTime(Tag);
      Next = uint64_t(Key) << 32 | (Is ? 0 : IsLeftOut);
    } else if (Latest & IsLeftOut) {
      // That grid may run beside this one.
      setFlags(metadata().Foreign, ForeignUnknown);
      fenceDevice();
    }
    const uint64_t Was = compareAndSwap(L.Latest, Latest, Next);
    Latest = Was == Latest ? Next : Was;
  }
  return !(Latest & IsLeftOut);
}

/// Whether `Grid` has taken all of its time, by this multiprocessor's clock.
/// `IsIsolated`: its kernel is (EnterIsolated); then the time is OverlapFactor
/// times as long once grids may overlap. Other grids are not stopped then
/// (stop).
DEVICE bool isTimeOver(uint64_t Grid, bool IsIsolated) {
  if (!isGridLimited())
    return false;
  const uint64_t Until = endOfTime(Grid);
  const bool HasOverlaps = loadNear(metadata().HasOverlaps);
  const uint64_t More =
      IsIsolated && HasOverlaps
          ? cyclesOf(loadNear(metadata().Limit.GridTime)) * (OverlapFactor - 1)
          : 0;
  return Until != ~uint64_t(0) && cycleNow() >= Until + More;
}

/// `Grid` has taken all of its time: stops it, unless other grids may begin
/// before it ends. Returns whether it is stopped.
DEVICE bool stop(uint64_t Grid) {
  FollowLimit &L = metadata().Limit;
  const uint32_t Key = keyOfGrid(Grid);
  uint64_t Latest = loadRelaxed(L.Latest);
#pragma unroll 1
  while (uint32_t(Latest >> 32) != Key || !(Latest & IsLeftOut)) {
    const bool IsLater = int32_t(uint32_t(Latest >> 32) - Key) > 0;
    if ((Latest && IsLater) || (Latest & IsLast) ||
        loadRelaxed(metadata().HasOverlaps))
      return false;
    // What it releases from now on may reach a grid of another stream later.
    if (!loadRelaxed(metadata().HasLearned))
      storeRelaxed(metadata().HasLearned, 1);
    fenceDevice();
    const uint64_t Next = uint64_t(Key) << 32 | IsLeftOut;
    const uint64_t Was = compareAndSwap(L.Latest, Latest, Next);
    if (Was == Latest) {
      asm volatile("red.relaxed.gpu.add.u32 [%0], 1;" ::"l"(&L.GridsStopped)
                   : "memory");
      askFrom(Grid);
      return true;
    }
    Latest = Was;
  }
  return true;
}

/// Called by any lanes of a warp at synchronisation. The grid is stopped once
/// it has taken all of its time; then this warp checks no more accesses.
DEVICE void noteTime(const Self &Me) {
  if (!metadata().Limit.GridTime || loadNear(metadata().HasOverlaps) ||
      cycleNow() < loadNear(blockTime(Me.firstWarp()).Until) || !isFirstHere())
    return;
  WarpState &W = Me.warp();
  const uint64_t Grid = loadNear(W.Grid);
  if (!(loadNear(W.Place) & Stopped) &&
      isTimeOver(Grid, /*IsIsolated=*/false) && stop(Grid))
    setFlags(W.Place, NeedsCare | Stopped);
}

/// Whether this grid was stopped, or a grid that may run beside it was stopped
/// or left out, so that what orders two accesses may have gone unnoticed. Then
/// a race of the two must not be told. To be asked after they have been judged:
/// what the judgement has seen was released before. Counts in RacesUntold,
/// unless it is this grid that was stopped.
DEVICE bool mayLackOrder() {
  const uint64_t Latest = loadRelaxed(metadata().Limit.Latest);
  if (!(Latest & IsLeftOut))
    return false;
  if (uint32_t(Latest >> 32) == keyOfGrid(gridHere()))
    return true;
  if (!loadRelaxed(metadata().HasOverlaps))
    return false;
  if (isFirstHere())
    asm volatile(
        "red.relaxed.gpu.add.u64 [%0], 1;" ::"l"(&metadata().RacesUntold)
        : "memory");
  return true;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_GRIDSAMPLE_H
